internal import KCByteStreams
internal import KCKeychainModel
internal import KCLocalKeychains

/// The name of a kept state that is an archive: the time when it was kept, a number if that is not enough, and what
/// was done next.
struct ArchivedStateName: Hashable, Comparable {
    /// The time when it was kept, in whole seconds.
    let date: Timestamp
    /// From 1.
    private let number: Int
    /// The change that was made next; nil if it is unknown.
    let before: KeptStates.Change?

    private static let ending = ".kcb"

    private init(date: Timestamp, number: Int, before: KeptStates.Change?) {
        self.date = date
        self.number = number
        self.before = before
    }

    /// Parses the name of a file; nil if it is not that of a state.
    init?(file: String) {
        guard let stem = file.exact.removingSuffix(Self.ending) else { return nil }
        var parts = stem.exact.split(separator: "-", omittingEmptySubsequences: false)
        let before = parts.last.flatMap { KeptStates.Change(rawValue: String($0)) }
        if before != nil { parts.removeLast() }
        guard parts.count <= 2, let date = parts.first.flatMap({ Timestamp(compact: $0) }),
            let number = parts.count == 2 ? Int(parts[1]) : 1, number > 0
        else { return nil }
        self.init(date: date, number: number, before: before)
        guard self.file.exact == file.exact else { return nil }
    }

    /// Names a state that is kept now; it comes after the newest one even if the clock was set back.
    init(at now: Timestamp, after newest: ArchivedStateName?, before change: KeptStates.Change?) {
        let date = Timestamp(microseconds: now.seconds * 1_000_000) ?? now
        let first = ArchivedStateName(date: date, number: 1, before: change)
        self = newest.map { $0 < first ? first : first.following($0) } ?? first
    }

    /// The next name after `other`.
    private func following(_ other: ArchivedStateName) -> ArchivedStateName {
        ArchivedStateName(date: other.date, number: other.number + 1, before: before)
    }

    /// The name that many numbers later.
    func next(_ count: Int) -> ArchivedStateName {
        ArchivedStateName(date: date, number: number + count, before: before)
    }

    /// The name that users see.
    var text: String { date.compactSeconds + (number == 1 ? "" : "-\(number)") }

    /// The name of the file.
    var file: String { text + (before.map { "-" + $0.rawValue } ?? "") + Self.ending }

    static func < (left: ArchivedStateName, right: ArchivedStateName) -> Bool {
        (left.date, left.number) < (right.date, right.number)
    }
}
