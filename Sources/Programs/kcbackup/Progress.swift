internal import Console

/// Shows progress to a waiting user: one line on standard error, after the first second, erased at the end.
final class Progress {
    private let session: Session
    private let what: String
    private let start: Duration
    private var nextLook: Duration
    private var isShown = false
    private var count = 0

    // Work under a second needs no progress, and ten updates per second are enough.
    private static let patience = Duration.seconds(1)
    private static let interval = Duration.milliseconds(100)
    // The clock is checked only every so many steps, since a step can be shorter than the check.
    private static let stride = 256

    /// Starts progress for work described by `what`, such as "importing items".
    init(_ what: String, in session: Session) {
        self.session = session
        self.what = what
        start = session.world.stopwatch()
        nextLook = start + Self.patience
    }

    deinit {
        finish()
    }

    /// Erases the line; explicit, since the end of the object's life may be too early or too late.
    func finish() {
        // Back to the first column, erasing everything after it.
        if isShown { session.message("\r\u{1b}[2K") }
        isShown = false
    }

    /// Counts one step.
    func step() {
        count += 1
        if count % Self.stride == 0 { redraw() }
    }

    private func redraw() {
        guard session.world.terminal.showsMessages, !session.style.isQuiet else { return }
        let time = session.world.stopwatch()
        guard time >= nextLook else { return }
        nextLook = time + Self.interval
        isShown = true
        session.message("\r\u{1b}[2K\(what): \(count)")
    }
}
