package import KCByteStreams

/// The `otpauth:` address of a one-time password, which authenticators read from QR codes.
package enum OneTimePasswordAddress {
    /// The scheme of addresses that only Apple's programs open; they are otherwise the same.
    private static let appleScheme: StaticString = "apple-otpauth:"

    /// True for text that begins like an address, also like one with Apple's scheme.
    package static func isOne(_ text: Substring) -> Bool {
        let bytes = text.utf8.span
        return bytes.begins(with: "otpauth:") || bytes.begins(with: appleScheme)
    }

    /// Makes an address from a base32 seed, from Steam's form, or from an address that not every authenticator understands;
    /// an address that each of them does, and anything else, is returned unchanged.
    package static func make(of secret: borrowing SecretBytes, issuer: String, user: String?) -> SecretBytes {
        secret.withBytes { bytes in
            let given = bytes.extracting(bytes.trimmed)
            if given.begins(with: "otpauth:") { return taken(given, issuer: issuer, user: user) }
            if given.begins(with: appleScheme) {
                return taken(given.extracting("apple-".utf8.count...), issuer: issuer, user: user)
            }
            let isSteam = given.begins(with: "steam://")
            let start = isSteam ? 8 : 0
            guard let seed = seed(given.extracting(start..<given.count)) else { return SecretBytes(bytes) }
            var address = SecretBytes(capacity: 256)
            address.append(utf8: "otpauth://totp/")
            address.append(utf8: encoded(issuer))
            if let user, !user.isEmpty { address.append(utf8: ":" + encoded(user)) }
            address.append(utf8: "?secret=")
            seed.withBytes { address.append($0) }
            address.append(utf8: "&issuer=" + encoded(issuer))
            if isSteam { address.append(utf8: "&digits=5&encoder=steam") }
            return address
        }
    }

    /// True for an address from which an authenticator makes codes, of the time or of a counter.
    package static func givesCodes(_ address: borrowing SecretBytes) -> Bool {
        address.withBytes { bytes in
            guard let parts = OneTimePasswordParts(bytes), let seed = Base32.decode(bytes.extracting(parts.seed)) else {
                return false
            }
            return !seed.isEmpty
        }
    }

    /// An address as it is, if every authenticator understands it alike; otherwise one made of what it says, if there is
    /// any.
    private static func taken(_ bytes: borrowing Span<UInt8>, issuer: String, user: String?) -> SecretBytes {
        if OneTimePasswordParts(bytes)?.isPlain == true { return SecretBytes(bytes) }
        return mended(bytes, issuer: issuer, user: user) ?? SecretBytes(bytes)
    }

    /// The parameters of an address that is written again in its usual form.
    private static let known: Set<ExactText> = [
        "secret", "issuer", "algorithm", "digits", "period", "counter", "encoder",
    ]

    /// Makes an address of one without a label, with a parameter twice, or with a seed in a form for people; nil if it says
    /// no seed, or of what kind its codes are.
    private static func mended(_ bytes: borrowing Span<UInt8>, issuer: String, user: String?) -> SecretBytes? {
        guard let pieces = OneTimePasswordPieces(bytes), let values = pieces.values(in: bytes),
            let names = pieces.names(in: bytes),
            let parameters = OneTimePasswordParts.parameters(pieces.type, values),
            let first = pieces.all("secret").first, let seed = querySeed(bytes.extracting(first.value))
        else { return nil }
        // Of two seeds, either may be the right one.
        for other in pieces.all("secret") {
            guard let other = querySeed(bytes.extracting(other.value)), other.isEqual(to: seed) else { return nil }
        }
        let isNamed = pieces.label.map { !$0.isEmpty } ?? false
        let service = values["issuer"] ?? names.issuer ?? (isNamed ? "" : issuer)
        let name = isNamed ? names.user : user
        guard
            var address = make(
                ofSeed: seed, issuer: service, of: names.issuer ?? service, user: name, parameters)
        else { return nil }
        var kept: Set<ExactText> = []
        for further in pieces.parameters
        where !known.contains(further.name.exact) && kept.insert(further.name.exact).inserted {
            address.append(UInt8(ascii: "&"))
            address.append(bytes.extracting(further.whole))
        }
        return consume address
    }

    /// The seed in a parameter, in which blanks are `+` or percent-encoded; nil if it is not base32.
    private static func querySeed(_ bytes: borrowing Span<UInt8>) -> SecretBytes? {
        var plain = SecretBytes(capacity: bytes.count)
        var position = 0
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "%"), position + 2 < bytes.count,
                let byte = bytes.byte(ofHexadecimalAt: position + 1)
            {
                plain.append(byte)
                position += 3
            } else {
                plain.append(bytes[position])
                position += 1
            }
        }
        return plain.withBytes { seed($0) }
    }

    /// Makes an address from a base32 seed and its parameters; nil if the seed is not base32, or empty.
    ///
    /// Parameters with their usual values are left out, so that two programs with the same seed give the same address.
    ///
    /// - Parameter issuer: the name of the service; may be empty.
    package static func make(
        ofSeed secret: borrowing SecretBytes, issuer: String, user: String?, _ parameters: OneTimePasswordParameters
    ) -> SecretBytes? {
        make(ofSeed: secret, issuer: issuer, of: issuer, user: user, parameters)
    }

    /// Makes an address from any text in the place of a seed, so that its parameters stay with it.
    package static func make(
        ofText secret: borrowing SecretBytes, issuer: String, user: String?, _ parameters: OneTimePasswordParameters
    ) -> SecretBytes {
        if let address = make(ofSeed: secret, issuer: issuer, user: user, parameters) { return address }
        return secret.withBytes { bytes in
            var text = SecretBytes(capacity: 3 * bytes.count)
            for index in bytes.indices { appendEncoded(bytes[index], to: &text) }
            return make(of: text, issuer: issuer, label: issuer, user: user, parameters)
        }
    }

    private static func appendEncoded(_ byte: UInt8, to text: inout SecretBytes) {
        if isUnreserved(byte) { return text.append(byte) }
        text.append(UInt8(ascii: "%"))
        for digit in [byte >> 4, byte & 15] { text.append(digit < 10 ? 0x30 + digit : 0x37 + digit) }
    }

    /// - Parameter label: the name of the service in the label, which may be another one there.
    private static func make(
        ofSeed secret: borrowing SecretBytes, issuer: String, of label: String, user: String?,
        _ parameters: OneTimePasswordParameters
    ) -> SecretBytes? {
        guard let seed = secret.withBytes({ seed($0) }) else { return nil }
        return make(of: seed, issuer: issuer, label: label, user: user, parameters)
    }

    private static func make(
        of seed: borrowing SecretBytes, issuer: String, label: String, user: String?,
        _ parameters: OneTimePasswordParameters
    ) -> SecretBytes {
        let type = if case .counter = parameters.kind { "hotp" } else { "totp" }
        let label = [label, user ?? ""].filter { !$0.isEmpty }.map(encoded).joined(separator: ":")
        var address = SecretBytes(capacity: 256)
        address.append(utf8: "otpauth://\(type)/\(label)?secret=")
        seed.withBytes { address.append($0) }
        if !issuer.isEmpty { address.append(utf8: "&issuer=" + encoded(issuer)) }
        address.append(utf8: parameters.query)
        return address
    }

    /// True if a secret gives the same codes under the same names as an address.
    static func isSame(
        _ secret: borrowing SecretBytes, _ address: borrowing SecretBytes, issuer: String, user: String?
    ) -> Bool {
        let made = make(of: secret, issuer: issuer, user: user)
        if made.isEqual(to: address) { return true }
        guard let one = OneTimePasswordParts(made), let other = OneTimePasswordParts(address),
            one.parameters == other.parameters, one.issuer == other.issuer, one.userName == other.userName
        else { return false }
        return made.withBytes { made in
            address.withBytes { made.extracting(one.seed).isEqual(to: $0.extracting(other.seed)) }
        }
    }

    /// The seed in upper case, without the blanks and dashes that make it easier to read; nil if it is not base32.
    private static func seed(_ bytes: borrowing Span<UInt8>) -> SecretBytes? {
        var seed = SecretBytes(capacity: bytes.count)
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "2")...UInt8(ascii: "7"): seed.append(bytes[index])
            case UInt8(ascii: "a")...UInt8(ascii: "z"): seed.append(bytes[index] - 32)
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"), UInt8(ascii: "+"),
                UInt8(ascii: "-"), UInt8(ascii: "="):
                continue
            default: return nil
            }
        }
        if seed.isEmpty { return nil }
        return consume seed
    }

    /// Percent-encodes all characters of a text but the unreserved ones of RFC 3986.
    package static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = Array("0123456789ABCDEF".unicodeScalars)
                encoded.unicodeScalars.append("%")
                encoded.unicodeScalars.append(digits[Int(byte >> 4)])
                encoded.unicodeScalars.append(digits[Int(byte & 15)])
            }
        }
        return encoded
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

extension Span<UInt8> {
    /// The range without the blanks around the bytes.
    fileprivate var trimmed: Range<Int> {
        let isBlank = { (byte: UInt8) in [0x20, 0x09, 0x0d, 0x0a].contains(byte) }
        guard let first = indices.first(where: { !isBlank(self[$0]) }) else { return 0..<0 }
        return first..<(indices.last { !isBlank(self[$0]) } ?? first) + 1
    }

    /// True if the bytes begin with `text`, ignoring case.
    fileprivate func begins(with text: StaticString) -> Bool {
        let wanted = Array("\(text)".utf8)
        return count >= wanted.count
            && wanted.indices.allSatisfy { index in
                let byte = self[index]
                return byte == wanted[index]
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) && byte + 32 == wanted[index]
            }
    }
}
