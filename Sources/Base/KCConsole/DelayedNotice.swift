internal import KCByteStreams
internal import Synchronization

/// A line that tells a waiting user what takes so long, and is erased when that is over.
package final class DelayedNotice: Sendable {
    /// Does something after a delay, unless the function that it returns is called before.
    package typealias Timer =
        @Sendable (Duration, _ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void

    // Return to the first column and erase the line.
    private static let eraser = "\r\u{1b}[2K"

    private struct State {
        /// Counts the notices, so that a late timer does not show one that is over.
        var number = 0
        var isShown = false
        var cancel: (@Sendable () -> Void)?
    }

    private let output: any TextOutput
    private let timer: Timer
    private let state = Mutex(State())

    /// Creates an instance that writes to `output`, which is a terminal.
    package init(on output: any TextOutput, timer: @escaping Timer) {
        self.output = output
        self.timer = timer
    }

    /// Shows `text` after `delay`, unless `end` is called before.
    package func begin(_ text: String, after delay: Duration) {
        end()
        let number = state.withLock { $0.number }
        let cancel = timer(delay) { [self] in
            state.withLock { state in
                guard state.number == number else { return }
                state.isShown = true
                write(text)
            }
        }
        state.withLock { $0.cancel = cancel }
    }

    /// Erases the line, or sees that it does not appear.
    package func end() {
        let cancel = state.withLock { state in
            if state.isShown { write(Self.eraser) }
            defer { state = State(number: state.number + 1) }
            return state.cancel
        }
        cancel?()
    }

    /// A failure cannot be reported, and the notice is not part of any result.
    private func write(_ text: String) {
        try? output.write(text.utf8.span)
    }
}
