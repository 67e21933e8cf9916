internal import KCAsking
package import KCBackupArchive
internal import KCConsole
internal import KCItemSources
internal import KCReportText

/// Shows progress to a waiting user: one line on standard error's terminal.
///
/// The line appears after one second, and is erased before anything else is written.
package final class Progress: TaskProgress {
    private let session: Session
    private let what: String
    private let total: UInt64?
    private let done: (() -> UInt64)?
    private let before: UInt64
    /// Asked once, because it costs a system call.
    private let isWanted: Bool
    /// When the first step was done; time spent on questions before that does not count.
    private var start: Duration?
    private var nextLook = Duration.zero
    private var steps: UInt64 = 0
    private var isShown = false

    // Work that takes less than a second needs no progress, and ten updates per second are enough.
    private static let patience = Duration.seconds(1)
    private static let interval = Duration.milliseconds(100)

    /// Starts progress for work described by `what`, such as "importing items".
    ///
    /// - Parameters:
    ///   - total: the amount of work, in steps or in the unit of `done`; nil if unknown.
    ///   - done: returns the amount of work done so far, which need not start at zero; nil to count steps.
    package init(_ what: String, of total: UInt64?, in session: Session, done: (() -> UInt64)? = nil) {
        self.session = session
        self.what = what
        self.total = total
        self.done = done
        before = done?() ?? 0
        isWanted = session.showsProgress
        session.progress = self
    }

    deinit {
        finish()
    }

    /// Erases the line; called explicitly, since the object may be released too early or too late.
    package func finish() {
        // Return to the first column and erase the line.
        if isShown { session.draw("\r\u{1b}[2K") }
        isShown = false
    }

    /// Counts a step.
    package func step() {
        steps += 1
        guard isWanted else { return }
        let time = session.world.stopwatch()
        guard let start else {
            start = time
            nextLook = time + Self.patience
            return
        }
        guard time >= nextLook else { return }
        nextLook = time + Self.interval
        isShown = true
        // A line as wide as the terminal would wrap, and only its last part would be erased.
        let columns = max(1, (session.world.terminal.width ?? 80) - 1)
        session.draw("\r\u{1b}[2K\(words(after: time - start).prefix(columns))")
    }

    private func words(after elapsed: Duration) -> String {
        let done = self.done.map { $0() - before } ?? steps
        guard let total, total > 0 else { return "\(what): \(steps)" }
        // The total is exceeded if something is read again to find out what is wrong with it.
        guard done < total else { return "\(what): 100%" }
        let part = "\(what): \(done * 100 / total)%"
        guard done > 0 else { return part }
        let left = elapsed * (Double(total - done) / Double(done))
        return "\(part), \(duration(seconds: Int(left.components.seconds) + 1)) left"
    }
}

extension Progress {
    /// Starts progress for work with one step per item; `count` is called only if progress is shown.
    package convenience init(_ what: String, in session: Session, itemsOf count: () throws -> Int) rethrows {
        self.init(what, of: session.showsProgress ? UInt64(try count()) : nil, in: session)
    }

    /// Starts progress for work that reads the streams of an archive.
    ///
    /// - Parameters:
    ///   - readings: how many times both streams are read.
    ///   - metadataReadings: how many additional times the metadata is read.
    package convenience init(
        _ what: String, in session: Session, reading archive: OpenedArchive, _ readings: UInt64,
        metadata metadataReadings: UInt64 = 0
    ) {
        self.init(
            what, of: archive.size * readings + archive.metadataSize * metadataReadings, in: session,
            done: { archive.bytesRead })
    }
}
