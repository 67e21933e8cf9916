internal import KCByteStreams
internal import KCItemSources

/// A file that is one secret as a whole, and whose first line is no password.
enum WholeSecret {
    case privateKey
    /// A certificate, another block of PEM, or JSON.
    case other

    /// How files begin whose lines belong together.
    private static let beginnings = ["-----BEGIN ", "---- BEGIN ", "PuTTY-User-Key-File-"]
    /// The text that files with a private key have.
    private static let keyMarks = ["PRIVATE KEY", "PuTTY-User-Key-File-", "AGE-SECRET-KEY-"]

    /// The kind of a file; nil if its first line may be a password.
    init?(_ content: borrowing SecretBytes) {
        let (isBlock, isKey, isBraced) = content.withBytes { bytes in
            let isIdentity = bytes.starts(with: "# created: ") && bytes.holds("\nAGE-SECRET-KEY-")
            let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            let first = bytes.isEmpty ? 0 : bytes[0]
            return (
                isIdentity || Self.beginnings.contains { bytes.matches($0.utf8, at: 0) },
                Self.keyMarks.contains { bytes.holds($0) },
                // A single line is read the same as a password.
                end + 1 < bytes.count && [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(first)
            )
        }
        if isBlock {
            self = isKey ? .privateKey : .other
        } else if isBraced, Self.isJSON(content) {
            self = .other
        } else {
            return nil
        }
    }

    /// True for JSON, also for damaged JSON that has its brace on a line of its own.
    private static func isJSON(_ content: borrowing SecretBytes) -> Bool {
        if content.withBytes({ [0x0a, 0x0d].contains($0[1]) }) { return true }
        do throws(ForeignFailure) {
            _ = try ForeignJSON(content.copy())
            return true
        } catch {
            return false
        }
    }
}
