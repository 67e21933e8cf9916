internal import ByteStreams

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

    /// The field that the reference stands for.
    let wanted: Field
    /// The field by which the entry is found.
    let searched: Field
    /// What that field contains; for an ID, 32 hexadecimal digits.
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
    func place(of reference: KeePassReference) -> Int? {
        if reference.searched == .id { return places[reference.text.lowercased()] }
        if let known = found[reference] { return known }
        guard visits <= Self.visitLimit else { return nil }
        visits += 2 * entries.count
        let text = Array(reference.text.utf8)
        func matches(_ entry: KeePassEntry, _ isMatch: (borrowing Span<UInt8>) -> Bool) -> Bool {
            entry.strings.contains { key, element in
                let isSearched = reference.searched.key.map { $0 == key } ?? !KeePassEntry.standardKeys.contains(key)
                return isSearched && database.withValue(element, isMatch)
            }
        }
        let place =
            entries.firstIndex { entry in
                matches(entry) { bytes in
                    bytes.count == text.count && text.indices.allSatisfy { text[$0] == bytes[$0] }
                }
            }
            ?? entries.firstIndex { entry in
                matches(entry) { $0.count <= KeePassReference.sizeLimit && $0.contains(ignoringCase: text) }
            }
        found[reference] = .some(place)
        return place
    }
}

extension Span<UInt8> {
    /// True if the bytes contain a text that is not empty, ignoring the case of ASCII letters.
    fileprivate func contains(ignoringCase text: [UInt8]) -> Bool {
        func folded(_ byte: UInt8) -> UInt8 {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
        }
        guard !text.isEmpty, count >= text.count else { return false }
        return (0...(count - text.count)).contains { start in
            text.indices.allSatisfy { folded(self[start + $0]) == folded(text[$0]) }
        }
    }
}
