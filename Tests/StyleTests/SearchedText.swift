import Glibc

/// Text that is searched as bytes, by the C library: regular expressions and characters take minutes in a debug build.
struct SearchedText: Sendable {
    let bytes: [UInt8]
    /// The bytes and a zero byte, as the C library wants them.
    private let terminated: [CChar]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        terminated = unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: CChar.self)) } + [0]
    }

    var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Where `mark`, which is not empty, occurs.
    func places(of mark: String) -> [Int] {
        let size = mark.utf8.count
        return unsafe terminated.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return [] }
            var places: [Int] = []
            var offset = 0
            while offset < bytes.count {
                if let hit = unsafe strstr(start + offset, mark) {
                    unsafe places.append(UnsafePointer(hit) - start)
                    offset = unsafe UnsafePointer(hit) - start + size
                } else {
                    // A zero byte may be in the text, too.
                    offset += unsafe strlen(start + offset) + 1
                }
            }
            return places
        }
    }

    func contains(_ mark: String) -> Bool { !places(of: mark).isEmpty }

    /// Where `mark` occurs and is not a part of a longer word.
    func places(ofWord mark: String) -> [Int] {
        places(of: mark).filter { !isInWord($0 - 1) && !isInWord($0 + mark.utf8.count) }
    }

    /// True if there is a letter, digit or underscore of a word at `place`.
    func isInWord(_ place: Int) -> Bool {
        guard bytes.indices.contains(place) else { return false }
        switch bytes[place] {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            return true
        default: return false
        }
    }

    /// True if `text` is at `place`; false for a place outside.
    func has(_ text: String, at place: Int) -> Bool {
        place >= 0 && place + text.utf8.count <= bytes.count
            && bytes[place..<place + text.utf8.count].elementsEqual(text.utf8)
    }

    /// True if `text` ends at `place`.
    func has(_ text: String, before place: Int) -> Bool { has(text, at: place - text.utf8.count) }

    // MARK: Lines

    /// Where each line begins.
    var lineStarts: [Int] { [0] + places(of: "\n").map { $0 + 1 } }

    /// The number of the line with each place, from 1; each line once, in order.
    func lines(of places: [Int]) -> [Int] {
        if places.isEmpty { return [] }
        let starts = lineStarts
        var numbers: [Int] = []
        for place in places.sorted() {
            let number = Self.line(of: place, starts) + 1
            if numbers.last != number { numbers.append(number) }
        }
        return numbers
    }

    /// The index of the line with a place.
    static func line(of place: Int, _ starts: [Int]) -> Int {
        var (low, high) = (0, starts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if starts[middle] <= place { low = middle } else { high = middle }
        }
        return low
    }

    /// A line by its index, without its end; nil behind the last one.
    func line(_ index: Int, _ starts: [Int]) -> String? {
        guard starts.indices.contains(index) else { return nil }
        let end = index + 1 < starts.count ? starts[index + 1] - 1 : bytes.count
        return String(decoding: bytes[starts[index]..<end], as: UTF8.self)
    }

    /// Where the line with a place ends.
    func endOfLine(_ place: Int) -> Int { bytes[place...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count }
}
