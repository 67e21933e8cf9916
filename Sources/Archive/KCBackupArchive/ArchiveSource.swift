internal import KCByteStreams
package import KCKeychainModel

/// The source of an archive, as stated in the first line of its metadata.
package struct ArchiveSource: Hashable, Sendable {
    /// The kind of source: 1 to 32 letters `a` to `z` and hyphens.
    package let kind: String
    /// The name of the source, without a folder; it may be empty.
    package let name: String

    /// A keychain in the data folder, which has a name.
    package static let keychain = "keychain"
    /// A keychain file elsewhere.
    package static let keychainFile = "keychain-file"
    /// A file of items.
    package static let items = "items"

    /// The keyring of the desktop.
    package static let desktopKeyring = "secret-service"

    /// The files of a home that hold secrets.
    package static let homeFiles = "home-files"

    /// The credentials of systemd.
    package static let credentials = "systemd-credentials"

    /// The source of the items, for the rules about items that are bound to this device.
    package var items: Passage.Source {
        switch kind {
        case Self.desktopKeyring: .desktopKeyring
        case Self.items: .itemList
        // Also for a kind that a later version knows: nothing is bound less by an archive of it.
        default: .keychain
        }
    }

    /// True if an archive of this source can have the item.
    ///
    /// An item that a kept state has apart is only in a state of the desktop keyring, which never leaves its device.
    func admits(_ item: Item, in mode: ArchiveMode) -> Bool {
        item.isKeptApart
            ? kind == Self.desktopKeyring && mode == .unencrypted && Travel(item.sealingAccessibility) != .nowhere
            : Travel(item.accessibility) != .nowhere
    }

    /// The maximum length of a name in bytes.
    static let nameLimit = 1_024

    /// Creates a description of a source.
    ///
    /// - Throws: `ArchiveFailure.limit` if the name has more than 1,024 bytes.
    package init(kind: String, name: String) throws(ArchiveFailure) {
        precondition(Self.isKind(kind), "a kind has small letters and hyphens only")
        guard name.utf8.count <= Self.nameLimit else {
            throw .limit("bytes of the name of the source: \(name.utf8.count) where \(Self.nameLimit) are allowed")
        }
        self.kind = kind
        self.name = name
    }

    func encode(into line: inout some ByteBuffer & ~Copyable) {
        CanonicalJSON.literal("{\"kind\":\"\(kind)\",\"name\":", into: &line)
        CanonicalJSON.string(name, into: &line)
        CanonicalJSON.literal("}", into: &line)
    }

    init(_ scanner: inout CanonicalScanner, in bytes: borrowing Span<UInt8>) throws(MalformedLine) {
        try scanner.literal("{\"kind\":", in: bytes)
        kind = try scanner.string(in: bytes)
        guard Self.isKind(kind) else { throw MalformedLine("the kind of a source is expected", at: scanner.position) }
        try scanner.literal(",\"name\":", in: bytes)
        name = try scanner.string(in: bytes)
        guard name.utf8.count <= Self.nameLimit else {
            throw MalformedLine("the name of the source is too long", at: scanner.position)
        }
        try scanner.literal("}", in: bytes)
    }

    private static func isKind(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "-") }
    }
}
