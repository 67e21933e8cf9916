package import KeychainModel

/// A web address as another program keeps it, taken apart for the attributes of an internet password.
///
/// ```swift
/// let address = WebAddress("https://ada@example.com:8443/login?from=mail")
/// address?.host   // "example.com"
/// address?.port   // 8443
/// address?.path   // "/login"
/// ```
package struct WebAddress: Hashable, Sendable {
    /// In lower case, without the dot that may end it, otherwise as written.
    package let host: String
    /// In lower case.
    package let scheme: String
    package let port: Int64?
    /// Without query and fragment; nil where it is empty or `/`.
    package let path: String?
    /// The name before `@`, percent-decoded.
    package let user: String?

    /// Takes an address apart; nil for one without a host, and for text that is no address.
    ///
    /// A text without a scheme is an address if it looks like a host name: `example.com/login`.
    package init?(_ text: String) {
        let trimmed = text.drop { $0.isWhitespace }
        var rest: Substring
        if let mark = trimmed.firstRange(of: "://") {
            let name = trimmed[..<mark.lowerBound]
            guard let first = name.utf8.first, Self.isLetter(first),
                name.utf8.allSatisfy({ Self.isLetter($0) || Self.isDigit($0) || Array("+-.".utf8).contains($0) })
            else { return nil }
            scheme = name.lowercased()
            rest = trimmed[mark.upperBound...]
        } else {
            let host = trimmed.prefix { !"/:?#".contains($0) }
            guard host.contains("."), !host.contains("@"), !host.contains(where: \.isWhitespace) else { return nil }
            scheme = ""
            rest = trimmed
        }
        var authority = rest.prefix { !"/?#\\".contains($0) }
        rest = rest[authority.endIndex...]
        if let at = authority.lastIndex(of: "@") {
            let user = authority[..<at].prefix { $0 != ":" }
            self.user = user.isEmpty ? nil : Self.percentDecoded(user) ?? String(user)
            authority = authority[authority.index(after: at)...]
        } else {
            user = nil
        }
        guard let (host, port) = Self.split(authority) else { return nil }
        self.host = host
        self.port = port
        let path = rest.prefix { !"?#".contains($0) }
        self.path = path.isEmpty || path == "/" ? nil : String(path)
    }

    /// Apple's code of the protocol; 0 for one that has none.
    package var protocolCode: Int64 { Self.protocolCode(ofScheme: scheme) }

    /// Apple's code of a protocol, four characters as a number; 0 for one that has none.
    package static func protocolCode(ofScheme scheme: String) -> Int64 {
        let code: StaticString? =
            switch scheme.lowercased() {
            case "https": "htps"
            case "http": "http"
            case "ssh", "sftp": "ssh "
            case "smb", "cifs": "smb "
            case "ftp": "ftp "
            case "ftps": "ftps"
            case "ldap": "ldap"
            case "ldaps": "ldps"
            case "imap": "imap"
            case "imaps": "imps"
            case "smtp": "smtp"
            case "afp": "afp "
            default: nil
            }
        guard let code else { return 0 }
        return "\(code)".utf8.reduce(0) { $0 << 8 | Int64($1) }
    }

    /// Sets server, protocol, port and path of an internet password, and the account where it has none.
    package func describe(_ draft: inout ItemDraft) {
        draft.attributes[.srvr] = .text(host)
        draft.attributes[.ptcl] = .number(protocolCode)
        if let port { draft.attributes[.port] = .number(port) }
        if let path { draft.attributes[.path] = .text(path) }
        if draft.attributes[.acct] == nil, let user { draft.attributes[.acct] = .text(user) }
    }

    /// What of an address may be read while a keychain is locked: neither the password that may stand before its `@`, nor
    /// what follows a `?` or `#`, which may be a token.
    package static func readable(_ text: String) -> String {
        let text = String(text.prefix { !"?#".contains($0) })
        var start = text.startIndex
        if let mark = text.firstRange(of: "://") {
            start = mark.upperBound
        } else if text.hasPrefix("//") {
            start = text.index(start, offsetBy: 2)
        }
        let authority = text[start...].prefix { !"/\\".contains($0) }
        guard let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") else {
            return text
        }
        return String(text[..<colon] + text[at...])
    }

    /// Text whose `%XX` are bytes; nil if that is no UTF-8, or a `%` stands without two digits.
    package static func percentDecoded(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func split(_ authority: Substring) -> (host: String, port: Int64?)? {
        var host = authority
        var port: Int64?
        // An IPv6 address has colons between brackets.
        let afterAddress = authority.lastIndex(of: "]").map { authority.index(after: $0) } ?? authority.startIndex
        if let colon = authority[afterAddress...].lastIndex(of: ":") {
            host = authority[..<colon]
            let digits = authority[authority.index(after: colon)...]
            if !digits.isEmpty {
                guard digits.utf8.allSatisfy(isDigit), let number = Int64(digits), (0...65_535).contains(number) else {
                    return nil
                }
                port = number
            }
        }
        if host.hasSuffix(".") { host = host.dropLast() }
        if host.isEmpty || host.contains(where: { $0.isWhitespace }) { return nil }
        return (host.lowercased(), port)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
