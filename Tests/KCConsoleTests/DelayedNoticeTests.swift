import Foundation
import KCTestSupport
import Synchronization
import Testing

@testable import KCConsole

@Suite("Notices that appear later")
struct DelayedNoticeTests {
    private static let erasing = "\r\u{1b}[2K"

    /// A timer that does its work when the test says so, even if it was canceled.
    private final class ManualTimer: Sendable {
        private let works = Mutex<[@Sendable () -> Void]>([])
        private let delays = Mutex<[Duration]>([])
        private let cancels = Mutex(0)

        var asked: [Duration] { delays.withLock { $0 } }
        var cancelled: Int { cancels.withLock { $0 } }

        func start(_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            delays.withLock { $0.append(delay) }
            works.withLock { $0.append(work) }
            return { self.cancels.withLock { $0 += 1 } }
        }

        func fire() {
            for work in works.withLock({ $0 }) { work() }
        }
    }

    private let output = CollectedOutput()
    private let timer = ManualTimer()
    private var notice: DelayedNotice { DelayedNotice(on: output, timer: timer.start) }

    @Test("A notice appears when its time comes, and is erased at its end")
    func appears() {
        let notice = notice
        notice.begin("checking…", after: .milliseconds(300))
        #expect(timer.asked == [.milliseconds(300)])
        #expect(output.text == "")
        timer.fire()
        #expect(output.text == "checking…")
        notice.end()
        notice.end()
        #expect(output.text == "checking…" + Self.erasing)
        #expect(timer.cancelled == 1)
    }

    @Test("A notice that is over does not appear, even if its timer is late")
    func late() {
        let notice = notice
        notice.begin("first", after: .zero)
        notice.end()
        timer.fire()
        #expect(output.text == "")
        notice.begin("second", after: .zero)
        timer.fire()
        #expect(output.text == "second")
    }

    @Test("The timer of a process does its work on a thread, unless it is canceled")
    func thread() {
        let done = DispatchSemaphore(value: 0)
        let cancel = Later.start(.zero) { done.signal() }
        done.wait()
        cancel()
        let ended = DispatchSemaphore(value: 0)
        let worked = Tally<Bool>()
        Self.cancelled(ended) { worked.count(true) }
        ended.wait()
        #expect(worked.result.isEmpty)
    }

    /// Starts work and cancels it; `ended` is signaled when the thread has let go of it.
    private static func cancelled(_ ended: DispatchSemaphore, _ work: @escaping @Sendable () -> Void) {
        let end = End(ended)
        Later.start(.seconds(1_000_000)) { withExtendedLifetime(end, work) }()
    }

    /// Signals when it is released.
    private final class End: Sendable {
        private let ended: DispatchSemaphore

        init(_ ended: DispatchSemaphore) { self.ended = ended }

        deinit { ended.signal() }
    }
}
