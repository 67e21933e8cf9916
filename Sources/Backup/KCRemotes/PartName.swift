internal import KCByteStreams
internal import KCCryptography

/// The name of a copy until it is complete: `login.kcb.RANDOM.HASH.part`.
///
/// HASH is the start of the SHA-256 of the file, by which a run finds what earlier ones of the same file have left.
/// RANDOM keeps two runs from writing into one file, and decides which of several goes on.
struct PartName: Hashable, Comparable {
    /// The name.
    let text: String
    /// The name of the file that is copied.
    let name: String
    /// The part of it that stands for the content.
    private let content: String

    // In characters.
    private static let (randomLength, hashLength) = (8, 16)

    /// Creates a name for a new copy of a file.
    init(of name: String, _ digest: SHA256Digest) throws(CryptographyFailure) {
        self.name = name
        content = Self.content(digest)
        let random = Hexadecimal.encode(try RandomBytes.bytes(count: Self.randomLength / 2))
        text = "\(name).\(random).\(content).part"
    }

    /// Parses the name of a copy of any file; nil for anything else.
    init?(_ text: String) {
        let parts = text.exact.removingSuffix(".part")?.exact.split(separator: ".", omittingEmptySubsequences: false)
        guard let parts, parts.count > 2, case let (random, content) = (parts[parts.count - 2], parts[parts.count - 1]),
            Self.isHexadecimal(random, Self.randomLength), Self.isHexadecimal(content, Self.hashLength)
        else { return nil }
        self.text = text
        self.content = content
        name = parts.dropLast(2).joined(separator: ".")
    }

    /// Parses the name of a copy of a file with this name; nil for anything else.
    init?(_ text: String, of name: String) {
        self.init(text)
        if self.name.exact != name.exact { return nil }
    }

    /// True if this is a copy of a file with this SHA-256.
    func hasContent(_ digest: SHA256Digest) -> Bool { content.exact == Self.content(digest).exact }

    static func < (left: PartName, right: PartName) -> Bool { left.text.exact < right.text.exact }

    private static func content(_ digest: SHA256Digest) -> String { String(digest.hex.prefix(hashLength)) }

    private static func isHexadecimal(_ text: String, _ length: Int) -> Bool {
        text.utf8.count == length && text.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
    }
}
