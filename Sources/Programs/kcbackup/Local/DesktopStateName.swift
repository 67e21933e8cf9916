internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText

/// The name of a kept state: the time when it was kept, a number if that is not enough, and what was done next.
struct DesktopStateName: Hashable, Comparable {
    private let time: String
    /// From 1.
    private let number: Int
    /// What was done next; nil if that is unknown.
    let before: KeptStates.Change?

    private static let ending = ".kcb"

    private init(time: String, number: Int, before: KeptStates.Change?) {
        self.time = time
        self.number = number
        self.before = before
    }

    /// Parses the name of a file; nil if it is not that of a state.
    init?(file: String) {
        guard let stem = file.exact.removingSuffix(Self.ending) else { return nil }
        var parts = stem.exact.split(separator: "-", omittingEmptySubsequences: false)
        let before = parts.last.flatMap { KeptStates.Change(rawValue: String($0)) }
        if before != nil { parts.removeLast() }
        guard let time = parts.first, time.utf8.count == 16, time.exact.hasSuffix("Z"), parts.count <= 2 else {
            return nil
        }
        guard let number = parts.count == 2 ? Int(parts[1]) : 1, number > 0 else { return nil }
        self.init(time: String(time), number: number, before: before)
    }

    /// Names a state that is kept now; it comes after the newest one even if the clock was set back.
    init(at now: Timestamp, after newest: DesktopStateName?, before change: KeptStates.Change) {
        let time = String(now.description.filter { $0.isNumber || $0 == "T" }.prefix(15)) + "Z"
        let first = DesktopStateName(time: time, number: 1, before: change)
        self = newest.map { $0 < first ? first : first.following($0) } ?? first
    }

    /// The next name after `other`.
    private func following(_ other: DesktopStateName) -> DesktopStateName {
        DesktopStateName(time: other.time, number: other.number + 1, before: before)
    }

    /// The name that many numbers later.
    func next(_ count: Int) -> DesktopStateName {
        DesktopStateName(time: time, number: number + count, before: before)
    }

    /// The time when it was kept, for people.
    func moment(_ calendar: LocalCalendar) -> String { made.map(calendar.moment) ?? time }

    /// The time when it was kept; nil if the name has none.
    var made: Timestamp? {
        var text = time
        for (offset, mark) in [(4, "-"), (7, "-"), (13, ":"), (16, ":")] {
            guard text.utf8.count > offset, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
            text.insert(contentsOf: mark, at: text.index(text.startIndex, offsetBy: offset))
        }
        return Timestamp(text.dropLast() + ".000000Z")
    }

    /// The name that users see.
    var text: String { time + (number == 1 ? "" : "-\(number)") }

    /// The name of the file.
    var file: String { text + (before.map { "-" + $0.rawValue } ?? "") + Self.ending }

    static func < (left: DesktopStateName, right: DesktopStateName) -> Bool {
        (left.time, left.number) < (right.time, right.number)
    }
}
