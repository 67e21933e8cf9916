import Glibc

/// A file of the repository, as text and as code.
struct SourceFile: Sendable {
    /// The path below the root of the repository.
    let path: String
    /// The complete text.
    let text: String
    /// The complete text, for searching.
    let whole: SearchedText
    /// The text without comments and without the contents of string literals; every line break is kept.
    let code: SearchedText
    /// The name of the target in `Sources` that the file belongs to, or nil.
    let target: String?
    /// The name of the folder in `Sources`, for a file in it.
    let floor: String?
    /// The modules that the file imports.
    let imports: Set<String>

    init(path: String, text: String) {
        self.init(path: path, bytes: Array(text.utf8), text: text)
    }

    init(path: String, bytes: [UInt8], text: String) {
        self.path = path
        self.text = text
        whole = SearchedText(bytes)
        let isCode = [".swift", ".h", ".c", ".modulemap"].contains { path.hasSuffix($0) }
        code = isCode ? SearchedText(codeAlone(in: bytes)) : whole
        let folders = path.split(separator: "/")
        let isSource = folders.first == "Sources"
        floor = isSource && folders.count > 2 ? String(folders[1]) : nil
        target = isSource && folders.count > 3 ? String(folders[2]) : nil
        imports = Self.imports(in: code)
    }

    /// The modules that are imported in lines like `@testable internal import struct Module.Name`.
    private static func imports(in code: SearchedText) -> Set<String> {
        let places = code.places(ofWord: "import")
        if places.isEmpty { return [] }
        let starts = code.lineStarts
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
        return Set(
            places.compactMap { place in
                let words = code.line(SearchedText.line(of: place, starts), starts)?.split(separator: " ") ?? []
                guard let keyword = words.firstIndex(of: "import") else { return nil }
                let isStatement = words[..<keyword].allSatisfy { word in
                    word.first == "@" || word.allSatisfy { $0.isLetter }
                }
                let name = words.dropFirst(keyword + 1).first { !kinds.contains($0) }
                return isStatement ? name.map { String($0.prefix { $0.isLetter || $0.isNumber || $0 == "_" }) } : nil
            })
    }

    /// The lines with these places in the code, as `path:line`.
    func lines(of places: [Int]) -> [String] { code.lines(of: places).map { "\(path):\($0)" } }
}

/// Removes comments and the contents of string literals, but keeps interpolated code.
///
/// Regex literals are treated as code, so a quotation mark in one would confuse this; the sources have none.
private func codeAlone(in text: [UInt8]) -> [UInt8] {
    // The C library searches up to a zero byte.
    let text = text + [0]
    return unsafe [UInt8](unsafeUninitializedCapacity: text.count) { kept, count in
        unsafe text.withUnsafeBufferPointer { bytes in
            guard let source = bytes.baseAddress, let target = kept.baseAddress else { return }
            var scanner = unsafe CodeScanner(source, end: bytes.count - 1, into: target)
            while unsafe scanner.advance() {}
            count = unsafe scanner.length
        }
    }
}

/// Copies code piece by piece.
@unsafe private struct CodeScanner {
    private enum Region {
        case code(openParentheses: Int)
        /// How many quotation marks and then number signs end it; number signs follow the backslash of an escape, too.
        case string(quotes: Int, signs: Int)
        case comment
    }

    private let bytes: UnsafePointer<UInt8>
    /// The place of the zero byte behind the text.
    private let end: Int
    private let kept: UnsafeMutablePointer<UInt8>
    private(set) var length = 0
    private var index = 0
    private var regions = [Region.code(openParentheses: 0)]

    init(_ bytes: UnsafePointer<UInt8>, end: Int, into kept: UnsafeMutablePointer<UInt8>) {
        unsafe self.bytes = bytes
        unsafe self.end = end
        unsafe self.kept = kept
    }

    /// - Returns: false at the end.
    mutating func advance() -> Bool {
        guard unsafe index < end, let region = unsafe regions.last else { return false }
        switch region {
        case .code(let open): unsafe code(open)
        case .string(let quotes, let signs): unsafe string(quotes, signs)
        case .comment: unsafe comment()
        }
        return true
    }

    private mutating func code(_ open: Int) {
        unsafe copy(upTo: "/\"#()")
        switch unsafe bytes[index] {
        case UInt8(ascii: "/") where unsafe bytes[index + 1] == UInt8(ascii: "/"): unsafe skip(upTo: "\n")
        case UInt8(ascii: "/") where unsafe bytes[index + 1] == UInt8(ascii: "*"):
            unsafe regions.append(.comment)
            unsafe index += 2
        case UInt8(ascii: "\""), UInt8(ascii: "#"):
            let signs = unsafe strspn(pointer(index), "#")
            let quotes = unsafe strspn(pointer(index + signs), "\"") > 2 ? 3 : 1
            guard unsafe bytes[index + signs] == UInt8(ascii: "\"") else { return unsafe keep(signs) }
            unsafe regions.append(.string(quotes: quotes, signs: signs))
            unsafe put(UInt8(ascii: "\""))
            unsafe index += signs + quotes
        case UInt8(ascii: ")") where unsafe open == 0 && regions.count > 1:
            unsafe regions.removeLast()
            unsafe index += 1
        case let byte:
            if byte == UInt8(ascii: "(") { unsafe regions[regions.count - 1] = .code(openParentheses: open + 1) }
            if byte == UInt8(ascii: ")") { unsafe regions[regions.count - 1] = .code(openParentheses: open - 1) }
            if unsafe index < end { unsafe keep(1) }
        }
    }

    private mutating func string(_ quotes: Int, _ signs: Int) {
        unsafe skip(upTo: "\"\\\n")
        switch unsafe bytes[index] {
        case UInt8(ascii: "\""):
            let isEnd =
                unsafe strspn(pointer(index), "\"") >= quotes
                && strspn(pointer(index + quotes), "#") >= signs
            if isEnd { unsafe regions.removeLast() }
            unsafe index += isEnd ? quotes + signs : 1
        case UInt8(ascii: "\\") where unsafe strspn(pointer(index + 1), "#") >= signs:
            let next = unsafe bytes[index + 1 + signs]
            if next == UInt8(ascii: "(") {
                unsafe regions.append(.code(openParentheses: 0))
                unsafe put(UInt8(ascii: " "))
            }
            // The end of a line is kept, and so is the end of the text.
            unsafe index += 1 + signs + (next == UInt8(ascii: "\n") || next == 0 ? 0 : 1)
        case UInt8(ascii: "\n"): unsafe keep(1)
        default: unsafe index += 1
        }
    }

    private mutating func comment() {
        unsafe skip(upTo: "/*\n")
        let (byte, next) = unsafe (bytes[index], index < end ? bytes[index + 1] : 0)
        if byte == UInt8(ascii: "/"), next == UInt8(ascii: "*") {
            unsafe regions.append(.comment)
            unsafe index += 2
        } else if byte == UInt8(ascii: "*"), next == UInt8(ascii: "/") {
            unsafe regions.removeLast()
            unsafe index += 2
        } else if byte == UInt8(ascii: "\n") {
            unsafe keep(1)
        } else {
            unsafe index += 1
        }
    }

    private func pointer(_ place: Int) -> UnsafePointer<CChar> {
        unsafe UnsafeRawPointer(bytes + place).assumingMemoryBound(to: CChar.self)
    }

    private mutating func skip(upTo characters: String) { unsafe index += strcspn(pointer(index), characters) }

    private mutating func copy(upTo characters: String) { unsafe keep(strcspn(pointer(index), characters)) }

    private mutating func keep(_ count: Int) {
        if count == 0 { return }
        unsafe memcpy(kept + length, bytes + index, count)
        unsafe length += count
        unsafe index += count
    }

    private mutating func put(_ byte: UInt8) {
        unsafe kept[length] = byte
        unsafe length += 1
    }
}
