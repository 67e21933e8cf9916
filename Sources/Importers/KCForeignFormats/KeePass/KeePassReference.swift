internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel

/// A value that consists of a reference to a field of another entry, as in `{REF:P@I:46C9B1FFBD4ABC4BBB260C6190BAD20C}`
/// or `{REF:P@T:Title of the entry}`.
///
/// Source: KeePass's help, "Field References".
struct KeePassReference: Hashable {
    /// A field of an entry, by the letter for it.
    enum Field: Character {
        case title = "T"
        case userName = "U"
        case password = "P"
        case address = "A"
        case notes = "N"
        case id = "I"
        /// All strings that are not standard ones.
        case others = "O"

        /// The name of the string; nil for a field that is not one string.
        var key: String? {
            switch self {
            case .title: "Title"
            case .userName: "UserName"
            case .password: "Password"
            case .address: "URL"
            case .notes: "Notes"
            case .id, .others: nil
            }
        }

        /// True for a field that is readable in a keychain.
        var isReadable: Bool { [.title, .userName, .address].contains(self) }
    }

    /// The field whose value replaces the reference.
    let wanted: Field
    /// The field by which the entry is found.
    let searched: Field
    /// The text to find in that field; for an ID, 32 hexadecimal digits.
    let text: String

    private static let start = Array("{REF:".utf8)
    // Bytes of a reference: more than any title has. Longer values are not converted to a string.
    static let sizeLimit = 1_024

    /// Parses a reference; nil for anything else, and for one that searches for a password, which would be in it.
    init?(_ value: borrowing SecretBytes) {
        let found: KeePassReference? = value.withBytes { bytes in
            let end = bytes.count - 1
            guard (10...Self.sizeLimit).contains(bytes.count), Self.isReference(bytes, at: 0),
                bytes[6] == UInt8(ascii: "@"), bytes[8] == UInt8(ascii: ":"), bytes[end] == UInt8(ascii: "}"),
                !(1..<end).contains(where: { [UInt8(ascii: "{"), UInt8(ascii: "}")].contains(bytes[$0]) }),
                let wanted = Self.field(bytes[5]), wanted != .others,
                let searched = Self.field(bytes[7]), searched != .password,
                let text = bytes.extracting(9..<end).utf8Text
            else { return nil }
            return KeePassReference(wanted: wanted, searched: searched, text: text)
        }
        guard let found else { return nil }
        self = found
    }

    private init(wanted: Field, searched: Field, text: String) {
        self.wanted = wanted
        self.searched = searched
        self.text = text
    }

    private static func field(_ byte: UInt8) -> Field? {
        Field(rawValue: Character(Unicode.Scalar(byte & 0xdf)))
    }

    /// True if a value contains a reference anywhere.
    static func isMentioned(in value: borrowing SecretBytes) -> Bool {
        value.withBytes { bytes in
            guard bytes.count > start.count else { return false }
            return (0...(bytes.count - start.count)).contains { isReference(bytes, at: $0) }
        }
    }

    private static func isReference(_ bytes: borrowing Span<UInt8>, at position: Int) -> Bool {
        start.indices.allSatisfy { index in
            let byte = bytes[position + index]
            return byte == start[index] || byte >= UInt8(ascii: "a") && byte - 32 == start[index]
        }
    }
}

extension KeePassRecords {
    /// The entry that a reference names.
    ///
    /// As in KeePassXC, this is the first one whose field equals the text; or else, as in KeePass, the first one whose
    /// field contains it.
    ///
    /// - Throws: `ForeignFailure.limit`, `StreamFailure` (`interrupted`).
    func place(of reference: KeePassReference) throws -> Int? {
        if reference.searched == .id {
            return Hexadecimal.decode(reference.text.lowercased()).flatMap { ItemUUID(bytes: $0.span) }
                .flatMap { places[$0] }
        }
        if let known = found[reference] { return known }
        let text = Array(reference.text.utf8)
        let part = FoldedText(text)
        func first(_ isMatch: (borrowing Span<UInt8>) -> Bool) throws -> Int? {
            for (index, entry) in entries.enumerated() {
                if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
                for element in entry.values(of: reference.searched) {
                    let (isIt, size) = database.withValue(element) {
                        (isMatch($0), min($0.count, KeePassReference.sizeLimit))
                    }
                    visits += size + Self.visitCost
                    if isIt { return index }
                }
                guard visits <= Self.visitLimit else {
                    throw ForeignFailure.limit(
                        "bytes compared for references", found: UInt64(visits), allowed: UInt64(Self.visitLimit))
                }
            }
            return nil
        }
        var place = try first { bytes in bytes.isEqual(to: text.span) }
        if place == nil { place = try first { $0.count <= KeePassReference.sizeLimit && part.isFound(in: $0) } }
        found[reference] = .some(place)
        return place
    }
}

extension KeePassEntry {
    /// The values in which a reference searches.
    fileprivate func values(of field: KeePassReference.Field) -> [XMLDocument.Element] {
        if let key = field.key { return value(key).map { [$0] } ?? [] }
        return strings.filter { !Self.standardKeys.contains($0.key) }.map(\.value)
    }
}

/// A text to find within others, ignoring the case of ASCII letters, in time linear in their sizes.
///
/// Source: Knuth, Morris and Pratt, "Fast pattern matching in strings", 1977.
private struct FoldedText {
    private let bytes: [UInt8]
    /// For each position, the length of the longest proper prefix that ends there.
    private let borders: [Int]

    init(_ text: [UInt8]) {
        bytes = text.map(Self.folded)
        var borders = [Int](repeating: 0, count: text.count)
        var length = 0
        for index in bytes.indices.dropFirst() {
            while length > 0, bytes[index] != bytes[length] { length = borders[length - 1] }
            if bytes[index] == bytes[length] { length += 1 }
            borders[index] = length
        }
        self.borders = borders
    }

    /// False for an empty text.
    func isFound(in other: borrowing Span<UInt8>) -> Bool {
        if bytes.isEmpty || other.count < bytes.count { return false }
        var length = 0
        for index in other.indices {
            let byte = Self.folded(other[index])
            while length > 0, byte != bytes[length] { length = borders[length - 1] }
            if byte == bytes[length] { length += 1 }
            if length == bytes.count { return true }
        }
        return false
    }

    private static func folded(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
    }
}
