/// Finds functions that do not fit on a screen.
///
/// A table is exempt: an exhaustive switch with a few lines before it, which explains each case of an error.
enum FunctionLength {
    /// The maximum number of lines of a function.
    static let longest = 60
    /// The maximum number of lines of a table beside its switch.
    static let aroundTable = 15

    static func violations(in file: SourceFile) -> [String] {
        let places = ["func", "init", "deinit", "subscript"].flatMap { file.code.places(ofWord: $0) }
        if places.isEmpty { return [] }
        let lines = file.code.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let starts = file.code.lineStarts
        return places.sorted().compactMap { place in
            let first = SearchedText.line(of: place, starts)
            let isDeclaration = file.code.bytes[starts[first]..<place].allSatisfy { byte in
                byte == UInt8(ascii: " ") || byte == UInt8(ascii: "@") || byte == UInt8(ascii: "_") || isLetter(byte)
            }
            guard isDeclaration, let last = end(ofFunctionAt: first, in: lines) else { return nil }
            let length = last - first + 1
            if length <= longest || isTable(lines[first...last]) { return nil }
            return "\(file.path):\(first + 1): \(length) lines"
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func indentation(_ line: ArraySlice<UInt8>) -> Int { line.prefix { $0 == UInt8(ascii: " ") }.count }

    /// The index of the last line of a function; nil if its body is on one line, or if it has none.
    private static func end(ofFunctionAt first: Int, in lines: [ArraySlice<UInt8>]) -> Int? {
        let outer = indentation(lines[first])
        // The signature may take several lines.
        guard let body = lines[first...].firstIndex(where: { $0.last == UInt8(ascii: "{") || $0.isEmpty }),
            !lines[body].isEmpty, indentation(lines[body]) == outer
        else { return nil }
        if lines[first...body].dropFirst().contains(where: { line in
            indentation(line) == outer && isLetter(line.dropFirst(outer).first ?? 0)
        }) {
            return nil
        }
        return lines[(body + 1)...].firstIndex { line in
            indentation(line) == outer && line.dropFirst(outer).first == UInt8(ascii: "}")
        }
    }

    private static func isTable(_ lines: ArraySlice<ArraySlice<UInt8>>) -> Bool {
        let inner = String(repeating: " ", count: indentation(lines[lines.startIndex]) + 4)
        let whole = lines.map { String(decoding: $0, as: UTF8.self) }
        guard let start = whole.firstIndex(where: { $0.hasPrefix(inner + "switch ") }),
            let end = whole[start...].firstIndex(of: inner + "}")
        else { return false }
        return start + whole.count - end <= aroundTable
            && !whole[start..<end].contains { $0.hasPrefix(inner + "default") }
    }
}
