internal import KCCryptography

/// The ID of a device: `KC-` and 20 base32 characters in groups of four, as in `KC-ABCD-EFGH-IJKL-MNOP-QRST`.
///
/// The characters encode the first 100 bits of the SHA-256 of the device's Ed25519 public key (RFC 4648 alphabet), so a
/// public key proves its ID and an ID cannot be chosen.
package struct DeviceID: Hashable, Sendable, LosslessStringConvertible {
    /// The canonical form: 27 characters, upper case, with dashes.
    package let description: String

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
    private static let length = 20

    /// Computes the ID of a 32-byte Ed25519 public key.
    package init(publicKey: [UInt8]) {
        var characters: [UInt8] = []
        var pending: UInt32 = 0
        var pendingBits = 0
        for byte in SHA256.hash(publicKey.span).bytes {
            pending = (pending << 8 | UInt32(byte)) & 0xfff
            pendingBits += 8
            while pendingBits >= 5 {
                pendingBits -= 5
                characters.append(Self.alphabet[Int(pending >> pendingBits & 31)])
            }
        }
        self.init(characters: characters[..<Self.length])
    }

    /// Parses an ID as users type it, in upper or lower case and with or without dashes; nil for anything else.
    package init?(_ description: String) {
        let typed = description.utf8.filter { $0 != UInt8(ascii: "-") }.map { character in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character) ? character & ~0x20 : character
        }
        let characters = typed.dropFirst(2)
        guard typed.starts(with: "KC".utf8), characters.count == Self.length,
            characters.allSatisfy(Self.alphabet.contains)
        else { return nil }
        self.init(characters: characters)
    }

    private init(characters: ArraySlice<UInt8>) {
        var text = Array("KC".utf8)
        for (index, character) in characters.enumerated() {
            if index % 4 == 0 { text.append(UInt8(ascii: "-")) }
            text.append(character)
        }
        description = String(decoding: text, as: UTF8.self)
    }
}
