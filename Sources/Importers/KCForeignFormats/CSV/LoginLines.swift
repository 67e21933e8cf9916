internal import KCByteStreams
internal import KCItemSources

/// A cell in which Zoho Vault keeps a login: `SecretType:…`, `User Name:…` and `Password:…`, one per line.
///
/// Other kinds of records have other lines, and a value may have several lines, one of which may look like a field.
/// Names are readable and values are secret, so all other lines stay together as one secret.
struct LoginLines: ~Copyable {
    private(set) var type: String?
    private(set) var user: String?
    /// Empty if there is none.
    private(set) var password = SecretBytes(capacity: 0)
    /// The other lines.
    private(set) var rest = SecretBytes(capacity: 0)

    private static let names = ["SecretType:", "User Name:", "Password:"]

    /// - Parameter text: empty for a table without such a cell.
    init(_ text: borrowing SecretBytes) {
        var found: [Range<Int>?] = Self.names.map { _ in nil }
        var (isClear, others): (Bool, [Range<Int>]) = (true, [])
        var lines = Lines(text.count)
        text.withBytes { bytes in
            while let line = lines.next(in: bytes)?.range {
                guard let index = Self.names.firstIndex(where: { bytes.matches($0.utf8, at: line.lowerBound) }) else {
                    others.append(line)
                    continue
                }
                // The type comes first; a line that looks like it may be part of a secret.
                if found[index] != nil || found[0] == nil && (index != 0 || !others.isEmpty) { isClear = false }
                found[index] = line.lowerBound + Self.names[index].utf8.count..<line.upperBound
            }
        }
        guard isClear else {
            rest = text.copy()
            return
        }
        text.withBytes { bytes in
            let texts = found.map { range in range.flatMap { $0.isEmpty ? nil : bytes.extracting($0).utf8Text } }
            (type, user) = (texts[0], texts[1])
            if let range = found[2] { password = SecretBytes(bytes.extracting(range)) }
            for line in others {
                if !rest.isEmpty { rest.append(UInt8(ascii: "\n")) }
                rest.append(bytes.extracting(line))
            }
        }
    }
}
