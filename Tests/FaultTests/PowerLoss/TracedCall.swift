/// A system call that strace recorded with `-f -y -xx`, which prints every byte of strings and paths in hexadecimal.
struct TracedCall {
    let name: String
    let arguments: [ArraySlice<UInt8>]
    /// The result; negative if the call failed.
    let result: Int
    /// The result as printed, with the path of a new descriptor.
    let resultWord: ArraySlice<UInt8>
    /// True if strace returned the result in place of the kernel.
    let isInjected: Bool

    /// A line that is not what strace was asked to print.
    struct Unreadable: Error, CustomStringConvertible {
        let line: String
        var description: String { "cannot read this line of strace: \(line.prefix(300))" }
    }

    /// The calls of a trace, in the order in which they ended.
    static func all(in trace: [UInt8]) throws(Unreadable) -> [TracedCall] {
        var begun: [ArraySlice<UInt8>: ArraySlice<UInt8>] = [:]
        var calls: [TracedCall] = []
        for line in trace.split(separator: UInt8(ascii: "\n")) {
            let thread = line.prefix { $0 != UInt8(ascii: " ") }
            var text = line[thread.endIndex...].drop { $0 == UInt8(ascii: " ") }
            if text.starts(with: Array("+++".utf8)) || text.starts(with: Array("---".utf8)) { continue }
            if let end = text.firstRange(of: Array(" <unfinished ...>".utf8)) {
                begun[thread] = text[..<end.lowerBound]
                continue
            }
            if text.starts(with: Array("<... ".utf8)) {
                guard let start = begun.removeValue(forKey: thread),
                    let rest = text.firstRange(of: Array(" resumed>".utf8))
                else { throw Unreadable(line: String(decoding: line, as: UTF8.self)) }
                text = (start + text[rest.upperBound...])[...]
            }
            // A call that never returned, such as that of a thread that was ended, did nothing that was acknowledged.
            if text.suffix(3).elementsEqual("= ?".utf8) { continue }
            calls.append(try TracedCall(text))
        }
        return calls
    }

    private init(_ text: ArraySlice<UInt8>) throws(Unreadable) {
        let unreadable = Unreadable(line: String(decoding: text, as: UTF8.self))
        guard let open = text.firstIndex(of: UInt8(ascii: "(")) else { throw unreadable }
        name = String(decoding: text[..<open], as: UTF8.self)
        var arguments: [ArraySlice<UInt8>] = []
        var depth = 0
        var start = text.index(after: open)
        var place = start
        var isQuoted = false
        while place < text.endIndex {
            switch text[place] {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case _ where isQuoted: break
            case UInt8(ascii: "("), UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ")") where depth == 0:
                arguments.append(text[start..<place])
                depth = -1
            case UInt8(ascii: ")"), UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ",") where depth == 0:
                arguments.append(text[start..<place])
                start = place + 1
            default: break
            }
            if depth < 0 { break }
            place += 1
        }
        let rest = text[place...].drop { $0 != UInt8(ascii: "=") }.dropFirst(2)
        let digits = rest.prefix { $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard depth < 0, let result = Int(String(decoding: digits, as: UTF8.self)) else { throw unreadable }
        self.arguments = arguments.map { $0.drop { $0 == UInt8(ascii: " ") } }
        self.result = result
        resultWord = rest
        isInjected = rest.firstRange(of: Array("(INJECTED)".utf8)) != nil
    }

    /// The bytes of a string.
    func bytes(_ index: Int) throws(Unreadable) -> [UInt8] {
        let word = arguments[index]
        guard word.first == UInt8(ascii: "\""), word.last == UInt8(ascii: "\""),
            let bytes = Self.decoded(word.dropFirst().dropLast())
        else { throw unreadable() }
        return bytes
    }

    /// A string as text.
    func text(_ index: Int) throws(Unreadable) -> String { String(decoding: try bytes(index), as: UTF8.self) }

    /// A number, decimal or octal.
    func number(_ index: Int) throws(Unreadable) -> Int {
        let word = String(decoding: arguments[index], as: UTF8.self)
        guard let number = word.hasPrefix("0") ? Int(word, radix: 8) : Int(word) else { throw unreadable() }
        return number
    }

    /// True if the flags of an argument have one of these names.
    func has(_ index: Int, _ flags: String...) -> Bool {
        let words = arguments[index].split(separator: UInt8(ascii: "|")).map { String(decoding: $0, as: UTF8.self) }
        return flags.contains(where: words.contains)
    }

    /// The number of a descriptor, and its path with a mark if it has no name any more.
    static func descriptor(_ word: ArraySlice<UInt8>) -> (number: Int?, path: String, isNameless: Bool)? {
        guard let open = word.firstIndex(of: UInt8(ascii: "<")), let close = word.firstIndex(of: UInt8(ascii: ">")),
            let path = decoded(word[(open + 1)..<close])
        else { return nil }
        let number = Int(String(decoding: word[..<open], as: UTF8.self))
        let isNameless = word[close...].firstRange(of: Array("(deleted)".utf8)) != nil
        return (number, String(decoding: path, as: UTF8.self), isNameless)
    }

    /// The error for a call that cannot be understood.
    func unreadable() -> Unreadable {
        Unreadable(
            line:
                "\(name)(\(arguments.map { String(decoding: $0.prefix(200), as: UTF8.self) }.joined(separator: ", ")))")
    }

    private static func decoded(_ hexadecimal: ArraySlice<UInt8>) -> [UInt8]? {
        guard hexadecimal.count.isMultiple(of: 4) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(hexadecimal.count / 4)
        var place = hexadecimal.startIndex
        while place < hexadecimal.endIndex {
            guard hexadecimal[place] == UInt8(ascii: "\\"), hexadecimal[place + 1] == UInt8(ascii: "x"),
                let high = digit(hexadecimal[place + 2]), let low = digit(hexadecimal[place + 3])
            else { return nil }
            bytes.append(high << 4 | low)
            place += 4
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
