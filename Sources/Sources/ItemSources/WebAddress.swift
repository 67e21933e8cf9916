package import KeychainModel

/// A web address as another program stores it, split into the attributes of an internet password.
///
/// ```swift
/// let address = WebAddress("https://ada@example.com:8443/login?from=mail")
/// address?.host   // "example.com"
/// address?.port   // 8443
/// address?.path   // "/login"
/// ```
package struct WebAddress: Hashable, Sendable {
    /// In lower case, without a trailing dot and the brackets of an IPv6 address; otherwise as written.
    package let host: String
    /// In lower case.
    package let scheme: String
    package let port: Int64?
    /// Without query and fragment; nil if it is empty or `/`.
    package let path: String?
    /// The percent-decoded name before `@`; nil if an access token is in its place.
    package let user: String?

    /// Parses an address; nil if it has no host, or if the text is not an address.
    ///
    /// Text without a scheme is an address if it begins with `//` or looks like a host name: `example.com/login`.
    package init?(_ text: String) {
        let trimmed = text.drop { $0.isWhitespace }
        var rest: Substring
        if trimmed.hasPrefix("//") {
            scheme = ""
            rest = trimmed.dropFirst(2)
        } else if let mark = trimmed.firstRange(of: "://") {
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
            let name = Self.percentDecoded(user) ?? String(user)
            self.user = name.isEmpty || AccessToken.isToken(name.utf8.span) ? nil : name
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

    /// Apple's code for the protocol; 0 if it has none.
    package var protocolCode: Int64 { Self.protocolCode(ofScheme: scheme) }

    /// Apple's code for a protocol, four characters as a number; 0 if it has none.
    package static func protocolCode(ofScheme scheme: String) -> Int64 {
        let scheme = scheme.lowercased()
        return schemes.first { $0.scheme == scheme }.map { number($0.code) } ?? 0
    }

    /// The scheme for one of Apple's protocol codes; nil if it has none.
    package static func scheme(ofProtocolCode code: Int64) -> String? {
        schemes.first { number($0.code) == code }?.scheme
    }

    /// Apple's codes (`kSecAttrProtocol…`); if several schemes share a code, the first one is written.
    private static let schemes: [(scheme: String, code: String)] = [
        ("https", "htps"), ("http", "http"), ("ssh", "ssh "), ("sftp", "ssh "), ("smb", "smb "), ("cifs", "smb "),
        ("ftp", "ftp "), ("ftps", "ftps"), ("ftpaccount", "ftpa"), ("ldap", "ldap"), ("ldaps", "ldps"),
        ("imap", "imap"), ("imaps", "imps"), ("pop3", "pop3"), ("pop", "pop3"), ("pop3s", "pops"), ("pops", "pops"),
        ("smtp", "smtp"), ("nntp", "nntp"), ("nntps", "ntps"), ("irc", "irc "), ("ircs", "ircs"), ("telnet", "teln"),
        ("telnets", "tels"), ("afp", "afp "), ("appletalk", "atlk"), ("rtsp", "rtsp"), ("daap", "daap"),
        ("eppc", "eppc"), ("ipp", "ipp "), ("socks", "sox "), ("http-proxy", "htpx"), ("https-proxy", "htsx"),
        ("ftp-proxy", "ftpx"), ("rtsp-proxy", "rtsx"),
    ]

    /// Four characters as a number.
    private static func number(_ code: String) -> Int64 { code.utf8.reduce(0) { $0 << 8 | Int64($1) } }

    /// Sets the server, protocol, port and path of an internet password, and its account if it has none.
    package func describe(_ draft: inout ItemDraft) {
        draft.attributes[.srvr] = .text(host)
        draft.attributes[.ptcl] = .number(protocolCode)
        if let port { draft.attributes[.port] = .number(port) }
        if let path { draft.attributes[.path] = .text(path) }
        if draft.attributes[.acct] == nil, let user { draft.attributes[.acct] = .text(user) }
    }

    /// The part of an address that may be readable while a keychain is locked.
    ///
    /// This excludes a password or token before `@`, and anything after `?` or `#`, which may contain a token.
    package static func readable(_ text: String) -> String {
        withoutSecret(String(text.prefix { !"?#".contains($0) }))
    }

    /// True if an address has a password or a token before its `@`.
    package static func hasSecret(_ text: String) -> Bool {
        let text = String(text.prefix { !"?#".contains($0) })
        return withoutSecret(text) != text
    }

    private static func withoutSecret(_ text: String) -> String {
        var start = text.startIndex
        if let mark = text.firstRange(of: "://") {
            start = mark.upperBound
        } else if text.hasPrefix("//") {
            start = text.index(start, offsetBy: 2)
        }
        let authority = text[start...].prefix { !"/\\".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return text }
        let end = authority[..<at].firstIndex(of: ":") ?? at
        if AccessToken.isToken(String(authority[..<end]).utf8.span) {
            return String(text[..<start] + text[text.index(after: at)...])
        }
        return String(text[..<end] + text[at...])
    }

    /// Decodes each `%XX` to a byte; nil if the result is not UTF-8, or if a `%` is not followed by two digits.
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
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
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
