package import KCKeychainModel

/// The frame of a sealed secret: `format ‖ salt ‖ …`, with a 16-byte tag in every format.
///
/// - `secret`: salt (32 bytes), ciphertext, tag; the associated data is the format and the item's metadata line.
/// - `none`: salt, tag over the same associated data; the item has no secret.
/// - `clear`: salt, tag, plaintext bytes; the associated data is the format, the line and the plaintext bytes.
/// - `constrained`: as `secret`, for an item with a constraint; the salt is a public key made for this seal alone.
package struct SealedFrame {
    package enum Format: UInt8 {
        case secret = 1
        case none = 2
        case clear = 3
        case constrained = 4
    }

    static let saltSize = 32
    static let tagSize = 16
    /// The number of bytes that the frame adds to its secret.
    package static let overhead = 1 + saltSize + tagSize
    /// The bytes of a frame that tell it from every other one: half of its salt.
    package static let mark = 1..<1 + saltSize / 2

    package let format: Format
    /// The size of the secret in bytes; nil if there is none.
    package let secretSize: Int?

    /// Parses the frame in a column; nil if it is invalid.
    package init?(measuring bytes: borrowing Span<UInt8>) {
        guard bytes.count >= Self.overhead, let format = Format(rawValue: bytes[0]) else { return nil }
        if format == .none, bytes.count != Self.overhead { return nil }
        self.format = format
        secretSize = format == .none ? nil : bytes.count - Self.overhead
    }

    /// True if the frame and its size match the secret of `item`; no key is needed.
    package static func fits(_ bytes: borrowing Span<UInt8>, _ item: Item) -> Bool {
        guard let frame = SealedFrame(measuring: bytes) else { return false }
        return frame.format == ItemSealer.format(of: item) && frame.secretSize == item.secretSize
    }
}
