internal import KCByteStreams

/// Commands for sftp's batch mode, in which each name stands for itself.
struct SftpBatch {
    /// The lines.
    private(set) var bytes: [UInt8] = []

    // In bytes. sftp reads 2,047 of a line, and takes the rest for another command.
    private static let lineLimit = 2_000

    enum Operand {
        case remote(RemoteLocation)
        /// The absolute path of a file here.
        case local(String)
    }

    /// Begins with one command; `append` says when that cannot be.
    init(_ command: StaticString, _ operands: [Operand]) throws(RemoteFailure) { try append(command, operands) }

    /// Adds a command.
    ///
    /// - Throws: `RemoteFailure.unquotable` for a name that sftp would not take literally, or that is too long.
    mutating func append(_ command: StaticString, _ operands: [Operand]) throws(RemoteFailure) {
        var line = Array(command.description.utf8)
        var last: RemoteLocation?
        for operand in operands {
            let path: String
            switch operand {
            case .remote(let location):
                last = location
                // A path that begins with a dash would be an option.
                path = location.path.exact.hasPrefix("/") ? location.path : "./\(location.path)"
            case .local(let local): path = local
            }
            guard let word = Self.word(path) else { throw .unquotable(last?.text ?? path) }
            line += [UInt8(ascii: " ")] + word
        }
        guard line.count < Self.lineLimit else { throw .unquotable(last?.text ?? "") }
        bytes += line + [UInt8(ascii: "\n")]
    }

    /// A path in quotes; nil for one that sftp does not take literally, however it is quoted.
    ///
    /// Most of its commands take a path for a pattern after they have read the quotes, and undo one backslash of some.
    static func word(_ path: String) -> [UInt8]? {
        guard !path.exact.hasControlCharacter, !path.utf8.contains(where: { #"*?[\""#.utf8.contains($0) }) else {
            return nil
        }
        let quote = UInt8(ascii: "\"")
        return [quote] + Array(path.utf8) + [quote]
    }
}

/// A line of what `ls -lna` prints.
enum SftpLine: Equatable {
    case file(RemoteEntry)
    /// A command that is repeated, a folder, a link or something else.
    case other

    private static let months: [ExactText] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Parses a line; nil if it is none.
    ///
    /// As in `-rw-r--r--    ? 1000     1000         4711 Nov 24 15:25 login.kcb`; users and groups may be names, with
    /// spaces in them.
    init?(_ line: [UInt8]) {
        if line.starts(with: "sftp> ".utf8) {
            self = .other
            return
        }
        let space = UInt8(ascii: " ")
        guard line.count > 10, let kind = line.first, "-dlbcps".utf8.contains(kind),
            line[1..<10].allSatisfy({ "-rwxsStT".utf8.contains($0) })
        else { return nil }
        let words = line.split(separator: space)
        let texts = words.map { ExactText(String(decoding: $0, as: UTF8.self)) }
        guard let month = texts.indices.dropFirst(2).first(where: { Self.isDate(texts, at: $0) }),
            let size = UInt64(texts[month - 1].string)
        else { return nil }
        // A single space precedes the name, which may begin with another.
        let start = words[month + 2].endIndex + 1
        guard start < line.endIndex else { return nil }
        guard kind == UInt8(ascii: "-") else {
            self = .other
            return
        }
        self = .file(RemoteEntry(name: String(decoding: Self.unescaped(line[start...]), as: UTF8.self), size: size))
    }

    /// True for a month with a number before it, and a day, and a time or a year after it.
    private static func isDate(_ words: [ExactText], at index: Int) -> Bool {
        guard words.indices.contains(index + 2), months.contains(words[index]) else { return false }
        func isNumber(_ text: ExactText, or others: String = "") -> Bool {
            text.string.utf8.allSatisfy { 0x30...0x39 ~= $0 || others.utf8.contains($0) }
        }
        return isNumber(words[index - 1]) && isNumber(words[index + 1]) && words[index + 1].string.utf8.count <= 2
            && isNumber(words[index + 2], or: ":") && 4...5 ~= words[index + 2].string.utf8.count
    }

    /// A name as it is on the server: sftp prints a byte that is no printable character as `\ooo`, in octal digits.
    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes
        while let first = rest.popFirst() {
            let digits = rest.prefix(3)
            let isEscape = first == UInt8(ascii: "\\") && digits.count == 3 && digits.allSatisfy { 0x30...0x37 ~= $0 }
            guard isEscape, let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 8) else {
                result.append(first)
                continue
            }
            result.append(byte)
            rest = rest.dropFirst(3)
        }
        return result
    }
}
