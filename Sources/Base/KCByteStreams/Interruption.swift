internal import Glibc
internal import Synchronization

/// Whether a signal has asked the process to stop; file reads and writes check it once per piece.
package enum Interruption {
    private static let signalNumber = Atomic<Int32>(0)
    private static let withheldCount = Atomic<Int>(0)
    private static let sparesSignal = Atomic<Bool>(false)
    private static let sparedSignal = Atomic<Int32>(0)

    /// The signals that ask the process to stop.
    package static let signals = [SIGINT, SIGTERM, SIGHUP]

    /// True once one of the signals has arrived, except in the work of `withheld`.
    package static var isRequested: Bool {
        signalNumber.load(ordering: .relaxed) != 0 && withheldCount.load(ordering: .relaxed) == 0
    }

    /// Does short work to its end although a signal has asked the process to stop: recording how a run ended.
    ///
    /// Meanwhile, no thread of the process stops.
    package static func withheld<Result>(_ work: () throws -> Result) rethrows -> Result {
        withheldCount.add(1, ordering: .relaxed)
        defer { withheldCount.subtract(1, ordering: .relaxed) }
        return try work()
    }

    /// Does work that says how a run ended, although a signal has ended the run; another signal ends this work.
    ///
    /// - Parameter spares: true if the first signal that comes during the work does not end it either, and counts only
    ///   if `admit` is called.
    package static func afterwards<Result, Failure>(
        sparingFirst spares: Bool = false, _ work: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let earlier = signal
        request(0)
        sparedSignal.store(0, ordering: .relaxed)
        sparesSignal.store(spares, ordering: .relaxed)
        defer {
            sparesSignal.store(false, ordering: .relaxed)
            if !isRequested { request(earlier) }
        }
        return try work()
    }

    /// Lets a signal that was spared count, since the work failed: it may have ended a child of this process.
    ///
    /// - Returns: true if there was one, or one that was not spared.
    package static func admit() -> Bool {
        let spared = sparedSignal.exchange(0, ordering: .relaxed)
        if spared != 0 { request(spared) }
        return isRequested
    }

    /// Lets some time pass, at most a second.
    ///
    /// - Throws: `StreamFailure` (`interrupted`) if a signal asks the process to stop.
    package static func pause(milliseconds: Int) throws(StreamFailure) {
        var time = timespec(tv_sec: 0, tv_nsec: min(milliseconds, 999) * 1_000_000)
        unsafe nanosleep(&time, nil)
        if isRequested { throw StreamFailure(.reading, .interrupted) }
    }

    /// The signal that arrived, or 0.
    package static var signal: Int32 { signalNumber.load(ordering: .relaxed) }

    /// False if the signal came from another process, or since the terminal is gone.
    package static var isFromKeyboard: Bool { ![SIGTERM, SIGHUP].contains(signal) }

    /// Catches the signals from now on; blocking system calls return early (no `SA_RESTART`).
    ///
    /// SIGHUP stays ignored if the parent process had it ignored, as nohup(1) does.
    package static func catchSignals() {
        // A static is initialized under a lock on first use, which must not happen inside the handler.
        _ = isRequested
        for number in signals {
            if number == SIGHUP, isIgnored(number) { continue }
            var action = sigaction()
            unsafe action.__sigaction_handler.sa_handler = { Interruption.request($0) }
            _ = unsafe sigaction(number, &action, nil)
        }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        _ = unsafe sigaction(number, nil, &action)
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Records that `signal` arrived; async-signal-safe.
    ///
    /// Zero clears an earlier signal (for tests).
    package static func request(_ signal: Int32) {
        if signal != 0, sparesSignal.exchange(false, ordering: .relaxed) {
            sparedSignal.store(signal, ordering: .relaxed)
            return
        }
        signalNumber.store(signal, ordering: .relaxed)
    }
}
