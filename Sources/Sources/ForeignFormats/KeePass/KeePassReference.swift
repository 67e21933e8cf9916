internal import ByteStreams

/// A value that consists of a reference to a field of another entry: `{REF:P@I:46C9B1FFBD4ABC4BBB260C6190BAD20C}`.
struct KeePassReference: Hashable {
    /// The field that the reference names.
    let key: String
    /// The UUID of the entry, in hexadecimal.
    let digits: String

    private static let start = Array("{REF:".utf8)

    /// Parses a reference by ID, the form that programs write; nil for anything else.
    init?(_ value: borrowing SecretBytes) {
        // A reference has exactly 42 bytes and is not a secret; other values are not converted to a string.
        let text: String? = value.withBytes { bytes in
            guard bytes.count == 42, Self.isReference(bytes, at: 0) else { return nil }
            return String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
        guard let parts = text?.wholeMatch(of: /\{REF:([TUPAN])@I:([0-9A-Fa-f]{32})\}/)?.output else { return nil }
        switch parts.1 {
        case "T": key = "Title"
        case "U": key = "UserName"
        case "P": key = "Password"
        case "A": key = "URL"
        default: key = "Notes"
        }
        digits = parts.2.lowercased()
    }

    /// True if a value contains a reference anywhere.
    static func isMentioned(in value: borrowing SecretBytes) -> Bool {
        value.withBytes { bytes in
            guard bytes.count > start.count else { return false }
            return (0...(bytes.count - start.count)).contains { isReference(bytes, at: $0) }
        }
    }

    private static func isReference(_ bytes: borrowing Span<UInt8>, at position: Int) -> Bool {
        start.indices.allSatisfy { bytes[position + $0] == start[$0] }
    }
}
