internal import KCByteStreams
internal import KCKeychainModel

/// The name of a kept state: the time when it was kept, and a number if that is not enough.
struct DesktopStateName: Comparable {
    private let time: String
    /// From 1.
    private let number: Int

    private static let ending = ".kcb"

    private init(time: String, number: Int) {
        self.time = time
        self.number = number
    }

    /// Parses the name of a file; nil if it is not that of a state.
    init?(file: String) {
        guard let stem = file.exact.removingSuffix(Self.ending) else { return nil }
        let parts = stem.exact.split(separator: "-", omittingEmptySubsequences: false)
        guard let time = parts.first, time.utf8.count == 16, time.exact.hasSuffix("Z"), parts.count <= 2 else {
            return nil
        }
        guard let number = parts.count == 2 ? Int(parts[1]) : 1, number > 0 else { return nil }
        self.init(time: String(time), number: number)
    }

    /// Names a state that is kept now; it comes after the newest one even if the clock was set back.
    init(at now: Timestamp, after newest: DesktopStateName?) {
        let time = String(now.description.filter { $0.isNumber || $0 == "T" }.prefix(15)) + "Z"
        let first = DesktopStateName(time: time, number: 1)
        self = newest.map { $0 < first ? first : $0.next(1) } ?? first
    }

    /// The name that many numbers later.
    func next(_ count: Int) -> DesktopStateName { DesktopStateName(time: time, number: number + count) }

    /// The name that users see.
    var text: String { time + (number == 1 ? "" : "-\(number)") }

    /// The name of the file.
    var file: String { text + Self.ending }

    static func < (left: DesktopStateName, right: DesktopStateName) -> Bool {
        (left.time, left.number) < (right.time, right.number)
    }
}
