import Foundation

/// Times in microseconds.
struct Figures {
    private let sorted: [Double]

    init(_ times: [Double]) { sorted = times.sorted() }

    var count: Int { sorted.count }
    var mean: Double { sorted.reduce(0, +) / Double(max(1, sorted.count)) }
    var median: Double { sorted.isEmpty ? 0 : sorted[sorted.count / 2] }
    /// What 99 of 100 stay below.
    var percentile99: Double { sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * 99 / 100)] }
    var longest: Double { sorted.last ?? 0 }

    var words: String {
        "p50 \(milliseconds(median)), p99 \(milliseconds(percentile99)), max \(milliseconds(longest))"
    }
}

/// Runs a body for each number, and takes the time of each.
func timed(_ numbers: some Sequence<Int>, _ body: (Int) -> Void) -> [Double] {
    let clock = ContinuousClock()
    return numbers.map { number in
        let start = clock.now
        body(number)
        return (clock.now - start) / .microseconds(1)
    }
}

func milliseconds(_ microseconds: Double) -> String { String(format: "%.2f ms", microseconds / 1_000) }
