internal import KCItemSources
internal import KCKeychainModel
internal import KCReportText

/// What a verb changes, item by item: for a dry run its result, otherwise messages.
struct ChangeList {
    /// The lines of a dry run; empty otherwise.
    private(set) var lines: [String] = []
    private let isDryRun: Bool
    private let session: Session

    /// Creates an empty list.
    init(isDryRun: Bool, in session: Session) {
        // With `--json`, the object names the items.
        self.isDryRun = isDryRun && !session.style.isJSON
        self.session = session
    }

    /// Adds items of one kind: of a dry run all of them, within reason, and otherwise as `Session.list` does.
    ///
    /// - Parameters: as `Session.list`.
    mutating func add(_ items: [Item], of total: Int? = nil, _ line: (Int, String) -> String) {
        guard isDryRun else { return session.list(items, of: total, line) }
        lines += session.lines(items, of: total ?? items.count, limit: Self.limit, line)
    }

    /// Adds items of one kind, as the other method does.
    ///
    /// - Parameters: as `Session.lines`.
    mutating func add(
        _ items: ListedItems, of total: Int? = nil, where isIncluded: (Int) -> Bool = { _ in true },
        _ line: (Int, String) -> String
    ) throws {
        if !isDryRun, session.style.isQuiet { return }
        let limit = isDryRun ? Self.limit : Session.messageLimit
        let named = try session.lines(items, of: total ?? items.count, limit: limit, where: isIncluded, line)
        if isDryRun { lines += named } else { for line in named { session.message(line) } }
    }

    /// Adds the items that stay behind; a reason that several of them share is said once, above their names.
    ///
    /// - Parameter isPlanned: true if they would stay behind.
    mutating func add(staying items: [(item: Item, reason: Verdict.Reason)], isPlanned: Bool = false) {
        for reason in Verdict.Reason.allCases {
            let group = items.filter { $0.reason == reason }.map(\.item)
            guard group.count > 1 else {
                add(group) { _, words in
                    "\(isPlanned ? "would stay" : "stays") behind: \(words): \(reason.words)"
                }
                continue
            }
            add(line: "\(group.count) items \(isPlanned ? "would stay" : "stay") behind: \(reason.words)")
            add(group) { _, words in "  \(words)" }
        }
    }

    private mutating func add(line: String) {
        if isDryRun { lines.append(line + "\n") } else if !session.style.isQuiet { session.message(line + "\n") }
    }

    /// Adds a line on an item that will not be written: a warning, unless it belongs to the result of a dry run.
    mutating func add(problem: String) {
        if isDryRun { lines.append(problem + "\n") } else { session.warn(problem) }
    }

    /// The number of items of one kind that a dry run names without `--verbose`; each takes about 1 KiB of memory.
    static let limit = 20_000

    /// The number of items of one kind that are needed to name as many as a run will.
    static func limit(isDryRun: Bool, in session: Session) -> Int {
        if session.style.isJSON || session.style.isVerbose { return .max }
        // One more takes the place of the line that counts the others.
        return (isDryRun ? limit : Session.messageLimit) + 1
    }
}
