/// Iterates over the lines of a file that are not empty.
struct Lines {
    private var position = 0
    private var number = 0
    private let count: Int

    init(_ count: Int) {
        self.count = count
    }

    mutating func next(in bytes: borrowing Span<UInt8>) -> (range: Range<Int>, number: Int)? {
        while position < count {
            let start = position
            let end = (start..<count).first { bytes[$0] == UInt8(ascii: "\n") } ?? count
            position = end + 1
            number += 1
            let last = end > start && bytes[end - 1] == UInt8(ascii: "\r") ? end - 1 : end
            if start < last { return (start..<last, number) }
        }
        return nil
    }
}
