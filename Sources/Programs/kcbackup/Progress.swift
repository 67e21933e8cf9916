internal import BackupArchive
internal import Console
internal import ItemSources

/// Shows a waiting user how far the work is: one line on the terminal of standard error, after the first second, and
/// erased before anything else is written.
final class Progress {
    private let session: Session
    private let what: String
    private let total: UInt64?
    private let done: (() -> UInt64)?
    private let before: UInt64
    /// When the first step was done; what was asked before takes as long as people take.
    private var start: Duration?
    private var nextLook = Duration.zero
    private var steps: UInt64 = 0
    private var isShown = false

    // Work under a second needs no progress, and ten updates per second are enough.
    private static let patience = Duration.seconds(1)
    private static let interval = Duration.milliseconds(100)

    /// Starts progress for work described by `what`, such as "importing items".
    ///
    /// - Parameters:
    ///   - total: how much there is to do, in steps or in the unit of `done`; nil if nobody knows.
    ///   - done: how much was done, by a count that may have begun before; nil to count steps.
    init(_ what: String, of total: UInt64?, in session: Session, done: (() -> UInt64)? = nil) {
        self.session = session
        self.what = what
        self.total = total
        self.done = done
        before = done?() ?? 0
        session.progress = self
    }

    deinit {
        finish()
    }

    /// Erases the line; explicit, since the end of the object's life may be too early or too late.
    func finish() {
        // Back to the first column, erasing everything after it.
        if isShown { session.draw("\r\u{1b}[2K") }
        isShown = false
    }

    /// Notes that something was done.
    func step() {
        steps += 1
        guard session.showsProgress else { return }
        let time = session.world.stopwatch()
        guard let start else {
            start = time
            nextLook = time + Self.patience
            return
        }
        guard time >= nextLook else { return }
        nextLook = time + Self.interval
        isShown = true
        // A line that fills the terminal would be broken, and only its last part erased.
        let columns = max(1, (session.world.terminal.width ?? 80) - 1)
        session.draw("\r\u{1b}[2K\(words(after: time - start).prefix(columns))")
    }

    private func words(after elapsed: Duration) -> String {
        let done = self.done.map { $0() - before } ?? steps
        guard let total, total > 0 else { return "\(what): \(steps)" }
        // More is done than was expected where something is read once more to find out what is wrong with it.
        guard done < total else { return "\(what): 100%" }
        let part = "\(what): \(done * 100 / total)%"
        guard done > 0 else { return part }
        let left = elapsed * (Double(total - done) / Double(done))
        return "\(part), \(duration(seconds: Int(left.components.seconds) + 1)) left"
    }
}

extension Progress {
    /// Starts progress for one step an item, of as many as `count` finds if anybody watches.
    convenience init(_ what: String, in session: Session, itemsOf count: () throws -> Int) rethrows {
        self.init(what, of: session.showsProgress ? UInt64(try count()) : nil, in: session)
    }

    /// Starts progress for work that reads the streams of an archive.
    ///
    /// - Parameters:
    ///   - readings: how often it reads both streams.
    ///   - metadataReadings: how often it reads the metadata beside that.
    convenience init(
        _ what: String, in session: Session, reading archive: OpenedArchive, _ readings: UInt64,
        metadata metadataReadings: UInt64 = 0
    ) {
        self.init(
            what, of: archive.size * readings + archive.metadataSize * metadataReadings, in: session,
            done: { archive.bytesRead })
    }

    /// Starts progress for work that reads a file of items; how much comes through a pipe nobody knows.
    convenience init(_ what: String, in session: Session, reading lines: ItemLines) {
        self.init(what, of: lines.size, in: session, done: lines.size == nil ? nil : { lines.bytesRead })
    }
}
