import Foundation

/// One file of the repository, as text and as code.
struct SourceFile: Sendable {
    /// The path below the root of the repository.
    let path: String
    /// The complete text.
    let text: String
    /// The text without comments and without the contents of string literals; every line break is kept.
    let code: String

    init(path: String, text: String) {
        self.path = path
        self.text = text
        code = codeAlone(in: text)
    }

    /// The name of the target in `Sources` that the file belongs to, or nil.
    var target: String? {
        let folders = path.split(separator: "/")
        return folders.count > 3 && folders[0] == "Sources" ? String(folders[2]) : nil
    }

    /// The lines of the code with their numbers, from 1.
    var numberedLines: [(number: Int, code: Substring)] {
        code.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { ($0 + 1, $1) }
    }

    /// The modules that the file imports.
    var imports: Set<String> {
        let statement =
            /^\s*(?:@\w+(?:\(\w+\))?\s+)*(?:\w+\s+)?import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)/
        return Set(numberedLines.compactMap { try? statement.firstMatch(in: $0.code).map { String($0.1) } })
    }

    /// Where `expression` matches a line of the code, as `path:line`.
    func places(of expression: Regex<Substring>) -> [String] {
        numberedLines.filter { $0.code.contains(expression) }.map { "\(path):\($0.number)" }
    }
}

/// Removes comments and the contents of string literals, but keeps interpolated code.
///
/// Regex literals are treated as code, so a quotation mark in one would confuse this; the sources have none.
private func codeAlone(in text: String) -> String {
    enum Region {
        case code(openParentheses: Int)
        case string(end: [UInt8], escape: [UInt8])
        case comment
    }
    let bytes = Array(text.utf8)
    var kept: [UInt8] = []
    var regions = [Region.code(openParentheses: 0)]
    var index = 0

    func next(is wanted: some Collection<UInt8>) -> Bool { bytes[index...].starts(with: wanted) }

    while index < bytes.count, let region = regions.last {
        let byte = bytes[index]
        if byte == UInt8(ascii: "\n") { kept.append(byte) }
        switch region {
        case .code(let open):
            if next(is: "//".utf8) {
                index = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
                continue
            } else if next(is: "/*".utf8) {
                regions.append(.comment)
                index += 2
                continue
            } else if let string = stringStart(in: bytes[index...]) {
                regions.append(.string(end: string.end, escape: string.escape))
                kept.append(UInt8(ascii: "\""))
                index += string.end.count
                continue
            }
            let isClosing = byte == UInt8(ascii: ")")
            if isClosing && open == 0 && regions.count > 1 {
                regions.removeLast()
            } else {
                let change = byte == UInt8(ascii: "(") ? 1 : isClosing ? -1 : 0
                regions[regions.count - 1] = .code(openParentheses: open + change)
                if byte != UInt8(ascii: "\n") { kept.append(byte) }
            }
            index += 1
        case .string(let end, let escape):
            if next(is: end) {
                regions.removeLast()
                index += end.count
            } else if next(is: escape + [UInt8(ascii: "(")]) {
                regions.append(.code(openParentheses: 0))
                kept.append(UInt8(ascii: " "))
                index += escape.count + 1
            } else if next(is: escape), index + escape.count < bytes.count,
                bytes[index + escape.count] != UInt8(ascii: "\n")
            {
                index += escape.count + 1
            } else {
                index += 1
            }
        case .comment:
            if next(is: "/*".utf8) {
                regions.append(.comment)
                index += 2
            } else if next(is: "*/".utf8) {
                regions.removeLast()
                index += 2
            } else {
                index += 1
            }
        }
    }
    return String(decoding: kept, as: UTF8.self)
}

/// The closing delimiter and the escape prefix of the string literal that starts here; nil if none starts here.
private func stringStart(in bytes: ArraySlice<UInt8>) -> (end: [UInt8], escape: [UInt8])? {
    let hashes = Array(bytes.prefix { $0 == UInt8(ascii: "#") })
    let quotes = bytes.dropFirst(hashes.count).prefix(3)
    guard quotes.first == UInt8(ascii: "\"") else { return nil }
    let isMultiline = quotes.elementsEqual("\"\"\"".utf8)
    return (Array(isMultiline ? quotes : quotes.prefix(1)) + hashes, [UInt8(ascii: "\\")] + hashes)
}
