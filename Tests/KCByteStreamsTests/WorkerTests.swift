import KCByteStreams
import Testing

@Suite("A worker beside its owner")
struct WorkerTests {
    private final class Number {
        var value: Int
        init(_ value: Int) { self.value = value }
    }

    @Test("Each job is done once, in order, whether there is a thread or not", arguments: [true, false])
    func jobs(inBackground: Bool) {
        let worker = Worker<Number>(inBackground: inBackground) { number in number.value *= 2 }
        let numbers = (0..<100).map { Number($0) }
        for number in numbers {
            worker.start(number)
            worker.wait()
            // Nothing is left to wait for.
            worker.wait()
        }
        #expect(numbers.map(\.value) == (0..<100).map { $0 * 2 })
    }

    @Test("A worker that is released has done what was started")
    func released() {
        let number = Number(1)
        do {
            let worker = Worker<Number> { number in
                for _ in 0..<1_000 { number.value += 1 }
            }
            worker.start(number)
        }
        #expect(number.value == 1_001)
    }

    @Test("A worker that never had a job ends")
    func idle() {
        _ = Worker<Number> { _ in }
    }
}
