internal import Console
/// Tells a waiting person how far the work is: one line on standard error, from the first second on, erased at the end.
final class Progress {
    private let session: Session
    private let what: String
    private let start: Duration
    private var nextLook: Duration
    private var isShown = false
    private var count = 0

    // Nobody needs to be told about work that is over in a second, or more than ten times a second.
    private static let patience = Duration.seconds(1)
    private static let interval = Duration.milliseconds(100)
    // The clock is looked at once in so many steps, since steps can be shorter than a look.
    private static let stride = 256

    /// Begins work that is called `what`, such as "importing items".
    init(_ what: String, in session: Session) {
        self.session = session
        self.what = what
        start = session.world.stopwatch()
        nextLook = start + Self.patience
    }

    deinit {
        finish()
    }

    /// Erases the line, so that something else can be said; the last use of the object may be too early or too late.
    func finish() {
        // Back to the first column, and everything after it erased.
        if isShown { session.message("\r\u{1b}[2K") }
        isShown = false
    }

    /// One more is done.
    func step() {
        count += 1
        if count % Self.stride == 0 { show() }
    }

    private func show() {
        guard session.world.terminal.showsMessages, !session.style.isQuiet else { return }
        let time = session.world.stopwatch()
        guard time >= nextLook else { return }
        nextLook = time + Self.interval
        isShown = true
        session.message("\r\u{1b}[2K\(what): \(count)")
    }
}
