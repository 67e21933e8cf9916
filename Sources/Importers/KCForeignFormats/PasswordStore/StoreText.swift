internal import KCByteStreams
internal import KCItemSources

/// The meaning of the lines of a decrypted file: the first is the password, and those below are the user's own text, in which
/// `name: value` may say more.
///
/// Source: gopasspw/gopass, `docs/secrets.md`, whose older forms begin with `GOPASS-SECRET-1.0`, like the header of a mail,
/// or have YAML behind a line `---`.
struct StoreText {
    /// Where a one-time password is.
    enum Code {
        /// An address, or a seed behind `totp:`.
        case written(Range<Int>)
        /// An address without its scheme, as gopass writes it behind `otpauth:`.
        case withoutScheme(Range<Int>)
        /// A seed behind `hotp:`.
        case counter(Range<Int>, UInt64)
    }

    /// The content of a file that gopass keeps in base64.
    struct Binary {
        /// The name that the file had; nil if it is not stated.
        let name: String?
        /// The lines of base64.
        let lines: [Range<Int>]
    }

    private enum Form {
        case plain, mail
        /// The index of the line before the YAML.
        case yaml(Int)
    }

    private static let mailMark = "GOPASS-SECRET-1.0"

    private(set) var password: Range<Int>?
    private(set) var user: String?
    private(set) var address: String?
    private(set) var codes: [Code] = []
    /// True for a name of a one-time password whose value is none, and stays in the note.
    private(set) var hasOddCode = false
    private(set) var binary: Binary?
    /// The lines of the note, with their ends.
    private(set) var note: [Range<Int>] = []
    private let form: Form
    private let lines: [Range<Int>]
    /// The index of the empty line that ends a header.
    private let headerEnd: Int?
    private var counter: UInt64 = 0

    init(_ content: borrowing SecretBytes) {
        lines = Self.lines(of: content)
        form = Self.form(of: lines, content)
        headerEnd = if case .mail = form { lines.firstIndex(where: \.isEmpty) } else { nil }
        password = password(content)
        if let line = password, Self.begins(line, "otpauth://", content) {
            codes.append(.written(line))
            password = nil
        }
        counter = firstText(of: "counter", content).flatMap { UInt64($0) } ?? 0
        binary = binary(content)
        let encoded = Set(binary?.lines.map(\.lowerBound) ?? [])
        for (index, line) in lines.enumerated() where !isTaken(index) && !encoded.contains(line.lowerBound) {
            if take(line, at: index, content) { continue }
            // Line ends are kept in a note.
            note.append(line.lowerBound..<(index + 1 < lines.count ? lines[index + 1].lowerBound : content.count))
        }
    }

    /// True for a line that is the password, or a mark of the form.
    private func isTaken(_ index: Int) -> Bool {
        if index == 0 || index == headerEnd { return true }
        guard let password else { return false }
        return lines[index].lowerBound <= password.lowerBound && password.upperBound <= lines[index].upperBound
    }

    /// Takes what a line says; false if it belongs to the note.
    private mutating func take(_ line: Range<Int>, at index: Int, _ content: borrowing SecretBytes) -> Bool {
        if Self.begins(line, "otpauth://", content) {
            codes.append(.written(line))
            return true
        }
        if takeCode(line, content) { return true }
        if let value = text(of: ["user", "username", "login"], line, content), user == nil {
            user = value
        } else if let value = text(of: ["url", "website"], line, content), address == nil {
            address = value
        } else {
            return binary != nil && isAboutBinary(line, content)
        }
        return true
    }

    private mutating func takeCode(_ line: Range<Int>, _ content: borrowing SecretBytes) -> Bool {
        let code: Code
        if let value = value(of: ["totp"], line, content), !value.isEmpty {
            code = .written(value)
        } else if let value = value(of: ["otpauth"], line, content), !value.isEmpty {
            code = Self.begins(value, "//", content) ? .withoutScheme(value) : .written(value)
        } else if let value = value(of: ["hotp"], line, content), !value.isEmpty {
            code = .counter(value, counter)
        } else {
            return false
        }
        guard let address = Self.secret(of: code, content, issuer: "", user: nil),
            OneTimePasswordAddress.givesCodes(address)
        else {
            hasOddCode = true
            return false
        }
        codes.append(code)
        return true
    }

    /// The address of a one-time password; nil for a seed that is not base32.
    static func secret(
        of code: Code, _ content: borrowing SecretBytes, issuer: String, user: String?
    ) -> SecretBytes? {
        switch code {
        case .written(let range):
            let secret = content.withBytes { SecretBytes($0.extracting(range)) }
            return OneTimePasswordAddress.make(of: secret, issuer: issuer, user: user)
        case .withoutScheme(let range):
            var address = SecretBytes(copying: "otpauth:".utf8)
            content.withBytes { address.append($0.extracting(range)) }
            return OneTimePasswordAddress.make(of: address, issuer: issuer, user: user)
        case .counter(let range, let counter):
            guard let parameters = OneTimePasswordParameters(.counter(counter)) else { return nil }
            let seed = content.withBytes { SecretBytes($0.extracting(range)) }
            return OneTimePasswordAddress.make(ofSeed: seed, issuer: issuer, user: user, parameters)
        }
    }
}

extension StoreText {
    private static func form(of lines: [Range<Int>], _ content: borrowing SecretBytes) -> Form {
        guard let first = lines.first else { return .plain }
        if equals(first, mailMark, content) { return .mail }
        if equals(first, "---", content) { return .yaml(0) }
        // A password may begin with the mark.
        let start = lines.indices.dropFirst().first { begins(lines[$0], "---", content) }
        return start.map { .yaml($0) } ?? .plain
    }

    /// The password: the first line, or else what has its name.
    private func password(_ content: borrowing SecretBytes) -> Range<Int>? {
        let named: ArraySlice<Range<Int>>
        switch form {
        case .mail: named = lines.dropFirst().prefix { !$0.isEmpty }
        case .yaml(0): named = lines.dropFirst()
        case .plain, .yaml: return lines.first
        }
        for line in named where Self.begins(line, "password:", content) {
            let start = line.lowerBound + "password:".utf8.count
            if case .yaml = form { return value(of: ["password"], line, content) }
            let isBlank = content.withBytes { start < line.upperBound && $0[start] == 0x20 }
            return start + (isBlank ? 1 : 0)..<line.upperBound
        }
        return nil
    }

    // MARK: Files in base64

    private static let encoding = "content-transfer-encoding"
    private static let disposition = "content-disposition"

    private func isAboutBinary(_ line: Range<Int>, _ content: borrowing SecretBytes) -> Bool {
        value(of: [Self.encoding, Self.disposition], line, content) != nil
    }

    private func binary(_ content: borrowing SecretBytes) -> Binary? {
        guard firstText(of: Self.encoding, content)?.lowercased() == "base64" else { return nil }
        let encoded = lines.dropFirst(headerEnd ?? 1).filter { line in
            !line.isEmpty && content.withBytes { !$0.extracting(line).holds(": ") }
        }
        let name = firstText(of: Self.disposition, content)
        let binary = Binary(name: name.flatMap { Self.fileName(in: $0) }, lines: encoded)
        // Text that is not base64 stays the user's text.
        return Self.bytes(of: binary, content) == nil ? nil : binary
    }

    /// The value of `filename` in `attachment; filename="a.txt"`.
    private static func fileName(in disposition: String) -> String? {
        let parts = disposition.exact.split(separator: "=", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let name = parts[1].exact.replacing("\"", with: "")
        return name.isEmpty ? nil : name
    }

    /// The bytes of a file; nil if its lines are not base64.
    static func bytes(of binary: Binary, _ content: borrowing SecretBytes) -> SecretBytes? {
        var text = SecretBytes(capacity: content.count)
        content.withBytes { bytes in
            for line in binary.lines { text.append(bytes.extracting(line)) }
        }
        var bytes = SecretBytes(capacity: text.count)
        guard text.withBytes({ Base64.decode($0, into: &bytes) }) else { return nil }
        return consume bytes
    }

    // MARK: Lines

    /// The lines, without line ends.
    private static func lines(of content: borrowing SecretBytes) -> [Range<Int>] {
        content.withBytes { bytes in
            var lines: [Range<Int>] = []
            var start = 0
            while start < bytes.count {
                let end = (start..<bytes.count).first { bytes[$0] == UInt8(ascii: "\n") } ?? bytes.count
                let last = end > start && bytes[end - 1] == UInt8(ascii: "\r") ? end - 1 : end
                lines.append(start..<last)
                start = end + 1
            }
            return lines
        }
    }

    private static func equals(_ line: Range<Int>, _ text: String, _ content: borrowing SecretBytes) -> Bool {
        content.withBytes { $0.extracting(line).isEqual(to: text.utf8.span) }
    }

    private static func begins(_ line: Range<Int>, _ text: String, _ content: borrowing SecretBytes) -> Bool {
        content.withBytes { bytes in
            let wanted = Array(text.utf8)
            return line.count >= wanted.count
                && wanted.indices.allSatisfy { index in
                    let byte = bytes[line.lowerBound + index]
                    return byte == wanted[index] || byte | 0x20 == wanted[index]
                }
        }
    }

    /// The range behind `name:`, without the blanks around it, and in YAML without its quotation marks.
    private func value(
        of names: [String], _ line: Range<Int>, _ content: borrowing SecretBytes
    ) -> Range<Int>? {
        guard let name = names.first(where: { Self.begins(line, $0 + ":", content) }) else { return nil }
        let start = line.lowerBound + name.utf8.count + 1
        return content.withBytes { bytes in
            guard let first = (start..<line.upperBound).first(where: { ![0x20, 0x09].contains(bytes[$0]) }),
                let last = (first..<line.upperBound).last(where: { ![0x20, 0x09].contains(bytes[$0]) })
            else { return line.upperBound..<line.upperBound }
            guard case .yaml(let index) = form, line.lowerBound > lines[index].lowerBound, last > first,
                [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(bytes[first]), bytes[last] == bytes[first]
            else { return first..<last + 1 }
            return first + 1..<last
        }
    }

    /// The text after the first `name:` below the first line; nil if there is none.
    private func firstText(of name: String, _ content: borrowing SecretBytes) -> String? {
        for line in lines.dropFirst() { if let text = text(of: [name], line, content) { return text } }
        return nil
    }

    /// The text after `name:`, which is not a secret; nil if there is none.
    private func text(of names: [String], _ line: Range<Int>, _ content: borrowing SecretBytes) -> String? {
        guard let range = value(of: names, line, content), !range.isEmpty else { return nil }
        return content.withBytes { $0.extracting(range).utf8Text }
    }
}
