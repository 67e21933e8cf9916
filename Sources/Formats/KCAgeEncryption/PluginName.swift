internal import KCByteStreams

/// The name of a plugin of age, in lower case (C2SP age-plugin, "Mapping recipients and identities to plugin binaries").
///
/// The name cannot contain a separator of paths, so `age-plugin-NAME` is always a name within a folder.
package struct PluginName: Hashable, Sendable, CustomStringConvertible {
    private let name: ExactText

    /// The name by itself.
    package var description: String { name.string }
    /// The name of the program.
    package var program: String { "age-plugin-" + name.string }

    // In bytes: the longest name of a file, without the beginning that all programs have.
    private static let limit = 255 - 11
    /// Names of recipients that age itself encrypts to.
    private static let native: Set<ExactText> = ["pq", "tag", "tagpq"]

    /// Accepts letters of lower case, digits, and `+`, `-`, `.` and `_`; nil for anything else.
    package init?(_ text: String) {
        let isLower = !text.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        guard !text.isEmpty, text.utf8.count <= Self.limit, isLower, text.exact.isASCIILettersAndDigits(or: "+-._")
        else { return nil }
        name = text.exact
    }

    /// The plugin that a recipient `age1NAME1…` is of; nil if it is malformed, or of a kind that age itself has.
    init?(recipient text: String) {
        let bytes = Array(text.utf8)
        // The separator is the last one, since names may have digits.
        guard let end = bytes.lastIndex(of: UInt8(ascii: "1")), text.exact.hasPrefix(Self.recipientStart),
            end >= Self.recipientStart.utf8.count
        else { return nil }
        let name = String(decoding: bytes[Self.recipientStart.utf8.count..<end], as: UTF8.self)
        var data: [UInt8] = []
        guard let found = PluginName(name), !Self.native.contains(found.name),
            Bech32.decode(bytes.span, prefix: Self.recipientStart + name, uppercase: false, into: &data)
        else { return nil }
        self = found
    }

    /// True for a public key that only a plugin encrypts to, `age1NAME1…`.
    package static func isOfPlugin(recipient text: String) -> Bool { PluginName(recipient: text) != nil }

    /// The plugin that an identity `AGE-PLUGIN-NAME-1…` is of; nil if it is malformed.
    init?(identity text: borrowing Span<UInt8>) {
        guard text.starts(with: Self.identityStart),
            let end = text.indices.last(where: { text[$0] == UInt8(ascii: "1") }),
            end > Self.identityStart.utf8.count, text[end - 1] == UInt8(ascii: "-")
        else { return nil }
        let upper = [UInt8](copying: text.extracting(Self.identityStart.utf8.count..<end - 1))
        let name = String(decoding: upper, as: UTF8.self).lowercased()
        var data = SecretBytes(capacity: 64)
        guard let found = PluginName(name),
            Bech32.decode(text, prefix: Self.identityStart + name + "-", uppercase: true, into: &data)
        else { return nil }
        self = found
    }

    private static let recipientStart = "age1"
    /// The beginning of every plugin's identities.
    static let identityStart = "AGE-PLUGIN-"
}
