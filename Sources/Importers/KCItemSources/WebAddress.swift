package import KCByteStreams
package import KCKeychainModel

/// A web address as another program stores it, split into the attributes of an internet password.
///
/// Attributes are readable while a keychain is locked. An address is therefore accepted only if it is well-formed, so
/// that a password in a mistyped one (`https:/ada:secret@example.com`) is not taken for a host or a path.
///
/// ```swift
/// let address = WebAddress("https://ada@example.com:8443/login?from=mail")
/// address?.host      // "example.com"
/// address?.port      // 8443
/// address?.path      // "/login"
/// address?.readable  // "https://ada@example.com:8443/login"
/// ```
package struct WebAddress: Hashable, Sendable {
    /// In lower case, without a trailing dot and the brackets of an IPv6 address; otherwise as written.
    package let host: String
    /// In lower case.
    package let scheme: String
    package let port: Int64?
    /// As written, without parameters, query and fragment; nil if it is empty or `/`.
    package let path: String?
    /// The percent-decoded name before `@`; nil if an access token is in its place.
    package let user: String?
    /// The address as it may be readable while a keychain is locked.
    ///
    /// This excludes a password or token before `@`, and anything after `?`, `#` or `;`, which may contain a token. The
    /// three characters may be percent-encoded.
    package let readable: String
    /// True if there is a password that is not empty, or a token, before the `@`.
    package let hasSecret: Bool
    /// True if anything follows a `?`, `#` or `;`.
    package let isCut: Bool

    /// Schemes of addresses that are commands or secrets rather than places.
    private static let refusedSchemes: Set = [
        "apple-otpauth", "cmd", "data", "javascript", "otpauth", "otpauth-migration", "steam",
    ]

    /// Parses an address; nil if it has no host, or if the text is not a well-formed address.
    ///
    /// Text without a scheme is an address if it begins with `//` or looks like a host name: `example.com/login`.
    package init?(_ text: String) {
        let text = Self.trimmed(text)
        guard let (scheme, rest) = Self.scheme(of: text), !Self.refusedSchemes.contains(scheme) else { return nil }
        let authority = rest.upTo("/?#;")
        let tail = rest[authority.endIndex...]
        let path = Self.beforeQuery(tail)
        guard Self.isOneWord(text[..<path.endIndex]) else { return nil }
        let at = authority.utf8.lastIndex(of: UInt8(ascii: "@"))
        let place = authority[(at.map { authority.utf8.index(after: $0) } ?? authority.startIndex)...]
        guard let login = Login(authority[..<(at ?? authority.startIndex)]), let (host, port) = Self.split(place),
            Self.isComplete(tail, path, host, port)
        else { return nil }
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path.isEmpty || path == "/" ? nil : String(path)
        user = login.user
        hasSecret = login.hasSecret
        isCut = path.endIndex < tail.endIndex
        let name = login.text.isEmpty ? "" : login.text + "@"
        readable = text[..<rest.startIndex] + name + place + path
    }

    /// The percent-decoded name or access token before the `@` of an address.
    static func name(in text: String) -> String? {
        login(in: text).flatMap { $0.name.isEmpty ? nil : $0.name }
    }

    /// The access token in the place of the name before the `@` of an address.
    package static func token(in text: String) -> SecretBytes? {
        guard let login = login(in: text), login.isToken else { return nil }
        return SecretBytes(copying: login.name.utf8)
    }

    /// The percent-decoded password before the `@` of an address; nil if it is missing or empty.
    package static func password(in text: String) -> SecretBytes? {
        guard var rest = login(in: text)?.password?.utf8, !rest.isEmpty else { return nil }
        var bytes = SecretBytes(capacity: rest.count)
        while let byte = rest.popFirst() {
            let code = rest.prefix(2)
            if byte == UInt8(ascii: "%"), code.count == 2, let high = code.first.flatMap(hexDigit),
                let low = code.last.flatMap(hexDigit)
            {
                bytes.append(high << 4 | low)
                rest.removeFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    private static func login(in text: String) -> Login? {
        let text = trimmed(text)
        guard let (_, rest) = scheme(of: text) else { return nil }
        let authority = rest.upTo("/?#;")
        return authority.utf8.lastIndex(of: UInt8(ascii: "@")).flatMap { Login(authority[..<$0]) }
    }

    /// The part of an authority before its `@`.
    private struct Login {
        /// The decoded name, or what is in its place.
        let name: String
        /// As written; nil if there is none.
        let password: Substring?
        /// True if the name is an access token.
        let isToken: Bool
        /// Nil if there is none, or if it is a token.
        let user: String?
        /// The name as written; empty if there is none, or if it is a token.
        let text: Substring
        let hasSecret: Bool

        /// - Returns: nil if what should be a name is not one.
        init?(_ text: Substring) {
            let colon = Self.firstColon(in: text)
            let written = text[..<(colon?.lowerBound ?? text.endIndex)]
            let password = colon.map { SecretBytes(copying: text[$0.upperBound...].utf8) }
            guard let name = percentDecoded(written), name.utf8.allSatisfy(Self.isOfName) else { return nil }
            self.name = name
            self.password = colon.map { text[$0.upperBound...] }
            isToken = AccessToken.isToken(name.utf8.span, password: password)
            user = name.isEmpty || isToken ? nil : name
            self.text = isToken ? "" : written
            hasSecret = isToken || colon.map { $0.upperBound < text.endIndex } ?? false
        }

        private static func isOfName(_ byte: UInt8) -> Bool {
            byte >= 0x20 && byte != 0x7f && byte != UInt8(ascii: ":") && byte != UInt8(ascii: "%")
        }

        /// The colon behind the name, which may be percent-encoded by mistake.
        private static func firstColon(in text: Substring) -> Range<Substring.Index>? {
            for index in text.utf8.indices {
                if text.utf8[index] == UInt8(ascii: ":") { return index..<text.utf8.index(after: index) }
                guard text.utf8[index] == UInt8(ascii: "%") else { continue }
                let code = text.utf8[index...].prefix(3)
                if code.elementsEqual("%3A".utf8) || code.elementsEqual("%3a".utf8) { return index..<code.endIndex }
            }
            return nil
        }
    }

    /// Splits a scheme off; it is empty for text that begins with a host.
    private static func scheme(of text: Substring) -> (scheme: String, rest: Substring)? {
        if text.utf8.starts(with: "//".utf8) { return ("", text[text.utf8.index(text.startIndex, offsetBy: 2)...]) }
        let name = text.upTo(":")
        let mark = text.utf8[name.endIndex...].prefix(3)
        if mark.elementsEqual("://".utf8) {
            guard let first = name.utf8.first, isLetter(first),
                name.utf8.allSatisfy({ isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) })
            else { return nil }
            return (name.lowercased(), text[mark.endIndex...])
        }
        // A text that has a scheme elsewhere is not an address.
        if text.utf8.indices.contains(where: { text.utf8[$0...].starts(with: "://".utf8) }) { return nil }
        let host = text.upTo("/:?#;")
        return host.has(".") && !host.has("@") ? ("", text) : nil
    }

    /// False if a later `@` shows that the authority may be only the beginning of a name and a password, one of which
    /// has a `/`, `?`, `#` or `;`; or if the path begins with another address.
    private static func isComplete(_ tail: Substring, _ path: Substring, _ host: String, _ port: Int64?) -> Bool {
        if path.utf8.starts(with: "//".utf8) { return false }
        guard tail.has("@") else { return true }
        // As in `https://example.com/@ada`.
        var before: UInt8?
        for byte in path.utf8 {
            if byte == UInt8(ascii: "@"), before != UInt8(ascii: "/") { return false }
            before = byte
        }
        return !path.isEmpty && port == nil && host[...].has(".")
    }

    /// The part of a path before the first `?`, `#` or `;`, which may be percent-encoded, even several times.
    package static func beforeQuery(_ path: Substring) -> Substring {
        let bytes = path.utf8
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if "?#;".utf8.contains(bytes[index]) { break }
            let start = index
            bytes.formIndex(after: &index)
            guard bytes[start] == UInt8(ascii: "%") else { continue }
            var code = bytes[index...].prefix(2)
            while code.elementsEqual("25".utf8) { code = bytes[code.endIndex...].prefix(2) }
            if ["3F", "3f", "23", "3B", "3b"].contains(where: { code.elementsEqual($0.utf8) }) {
                return path[..<start]
            }
        }
        return path[..<index]
    }

    /// False if there is a space, a control character or a backslash.
    private static func isOneWord(_ text: Substring) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            guard scalar.isASCII else { return !scalar.properties.isWhitespace }
            return scalar.value > 0x20 && scalar.value != 0x7f && scalar != "\\"
        }
    }

    private static func trimmed(_ text: String) -> Substring {
        let scalars = text.unicodeScalars
        let start = scalars.firstIndex { !$0.properties.isWhitespace } ?? scalars.endIndex
        let end = scalars.lastIndex { !$0.properties.isWhitespace }.map { scalars.index(after: $0) } ?? start
        return text[start..<end]
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
        let endOfAddress = authority.utf8.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        if let colon = authority[endOfAddress...].utf8.lastIndex(of: UInt8(ascii: ":")) {
            host = authority[..<colon]
            let digits = authority[authority.utf8.index(after: colon)...]
            guard digits.utf8.allSatisfy(isDigit), let number = Int64(digits), (0...65_535).contains(number) else {
                return nil
            }
            port = number
        }
        if host.utf8.last == UInt8(ascii: ".") { host = host[..<host.utf8.index(before: host.endIndex)] }
        let isAddress =
            host.utf8.count > 1 && host.utf8.first == UInt8(ascii: "[") && host.utf8.last == UInt8(ascii: "]")
        if isAddress {
            host = host[host.utf8.index(after: host.startIndex)..<host.utf8.index(before: host.endIndex)]
        }
        guard !host.isEmpty,
            host.unicodeScalars.allSatisfy({ isOfHost($0) || isAddress && ($0 == ":" || $0 == "%") })
        else { return nil }
        return (host.lowercased(), port)
    }

    private static func isOfHost(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.isASCII else {
            let properties = scalar.properties
            return properties.isAlphabetic || properties.numericType != nil
                || properties.canonicalCombiningClass != .notReordered
        }
        let byte = UInt8(scalar.value)
        return isLetter(byte) || isDigit(byte) || "-._*".utf8.contains(byte)
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

extension Substring {
    /// The text before the first of some ASCII characters.
    fileprivate func upTo(_ delimiters: String) -> Substring {
        self[..<(utf8.firstIndex { delimiters.utf8.contains($0) } ?? endIndex)]
    }

    /// True if an ASCII character occurs, even below a combining one.
    fileprivate func has(_ character: Unicode.Scalar) -> Bool {
        utf8.contains(UInt8(ascii: character))
    }
}
