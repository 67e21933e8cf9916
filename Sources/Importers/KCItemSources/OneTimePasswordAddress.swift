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

    /// Makes an address from a base32 seed or from Steam's form; an address, or anything else, is returned unchanged.
    package static func make(of secret: borrowing SecretBytes, issuer: String, user: String?) -> SecretBytes {
        secret.withBytes { bytes in
            if bytes.begins(with: "otpauth://") { return SecretBytes(bytes) }
            if bytes.begins(with: appleScheme) { return SecretBytes(bytes.extracting("apple-".utf8.count...)) }
            let isSteam = bytes.begins(with: "steam://")
            let start = isSteam ? 8 : 0
            guard let seed = seed(bytes.extracting(start..<bytes.count)) else { return SecretBytes(bytes) }
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

    /// Makes an address from a base32 seed and its parameters; nil if the seed is not base32, or empty.
    ///
    /// Parameters with their usual values are left out, so that two programs with the same seed give the same address.
    ///
    /// - Parameter issuer: the name of the service; may be empty.
    package static func make(
        ofSeed secret: borrowing SecretBytes, issuer: String, user: String?, _ parameters: OneTimePasswordParameters
    ) -> SecretBytes? {
        guard let seed = secret.withBytes({ seed($0) }) else { return nil }
        let type = if case .counter = parameters.kind { "hotp" } else { "totp" }
        let label = [issuer, user ?? ""].filter { !$0.isEmpty }.map(encoded).joined(separator: ":")
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

    /// The seed in upper case, without the spaces and dashes that make it easier to read; nil if it is not base32.
    private static func seed(_ bytes: borrowing Span<UInt8>) -> SecretBytes? {
        var seed = SecretBytes(capacity: bytes.count)
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "2")...UInt8(ascii: "7"): seed.append(bytes[index])
            case UInt8(ascii: "a")...UInt8(ascii: "z"): seed.append(bytes[index] - 32)
            case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "="): continue
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
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = Array("0123456789ABCDEF".unicodeScalars)
                encoded.unicodeScalars.append("%")
                encoded.unicodeScalars.append(digits[Int(byte >> 4)])
                encoded.unicodeScalars.append(digits[Int(byte & 15)])
            }
        }
        return encoded
    }
}

extension Span<UInt8> {
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
