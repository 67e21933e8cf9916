package import ByteStreams

/// The `otpauth:` address of a one-time password, which authenticators read from QR codes.
package enum OneTimePasswordAddress {
    /// Makes an address of a seed in base 32, or of Steam's form; an address, and what is neither, stays as it is.
    package static func make(of secret: borrowing SecretBytes, issuer: String, user: String?) -> SecretBytes {
        secret.withBytes { bytes in
            if bytes.begins(with: "otpauth://") { return SecretBytes(bytes) }
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

    /// The seed in upper case, without the spaces and dashes that people read it by; nil if it is no base 32.
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

    /// Text with everything but the unreserved characters of RFC 3986 in percent form.
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
    /// True if the bytes begin with `text`, in any case.
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
