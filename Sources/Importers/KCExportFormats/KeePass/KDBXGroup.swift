internal import KCByteStreams
internal import KCCryptography
internal import KCKeychainModel

/// The XML of a database's entries, whose protected values are encrypted when their order in the file is known.
///
/// All entries are together: memory for secrets consists of whole pages, of which a system allows some ten thousand.
final class KDBXFragment {
    /// A part of the XML.
    struct Piece {
        fileprivate var xml: Range<Int>
        fileprivate var values: Range<Int>
        /// Where its first protected value is.
        fileprivate let secrets: Int
    }

    /// The XML, with a place for each protected value.
    var xml = SecretBytes(capacity: 512)
    /// The protected values, one after the other.
    private var secrets = SecretBytes(capacity: 64)
    /// The sizes of the protected values, and where they belong in `xml`.
    private var values: [(position: Int, size: Int)] = []

    func append(_ text: String) {
        xml.append(text.utf8.span)
    }

    /// Appends text of an element.
    func append(escaped bytes: borrowing Span<UInt8>) {
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "&"): append("&amp;")
            case UInt8(ascii: "<"): append("&lt;")
            case UInt8(ascii: ">"): append("&gt;")
            // XML parsers convert an unescaped carriage return to a line feed.
            case 0x0d: append("&#xD;")
            default: xml.append(bytes[index])
            }
        }
    }

    /// Appends the text of an element that is marked as protected.
    func append(protected value: borrowing SecretBytes) {
        values.append((xml.count, value.count))
        value.withBytes { secrets.append($0) }
    }

    var whole: Piece { Piece(xml: 0..<xml.count, values: 0..<values.count, secrets: 0) }

    /// The end so far.
    var end: Piece {
        Piece(xml: xml.count..<xml.count, values: values.count..<values.count, secrets: secrets.count)
    }

    /// The part that was appended behind an earlier end.
    func piece(from start: Piece) -> Piece {
        var piece = start
        piece.xml = start.xml.lowerBound..<xml.count
        piece.values = start.values.lowerBound..<values.count
        return piece
    }

    /// Writes a part, with the protected values encrypted by the stream of the file.
    func write(_ piece: Piece, _ stream: KDBXChaCha20, into file: inout SecretBytes) throws(CryptographyFailure) {
        var (position, start) = (piece.xml.lowerBound, piece.secrets)
        for (place, size) in values[piece.values] {
            xml.withBytes { file.append($0.extracting(position..<place)) }
            position = place
            var value = secrets.withBytes { SecretBytes($0.extracting(start..<start + size)) }
            start += size
            try stream.process(&value)
            value.withBytes { Base64.encode($0, into: &file) }
        }
        xml.withBytes { file.append($0.extracting(position..<piece.xml.upperBound)) }
    }

    /// False for text with characters that XML 1.0 does not allow: controls, U+FFFE, U+FFFF.
    static func isXML(_ bytes: borrowing Span<UInt8>) -> Bool {
        bytes.indices.allSatisfy { index in
            let byte = bytes[index]
            if byte < 0x20 { return byte == 0x09 || byte == 0x0a || byte == 0x0d }
            let isNonCharacter =
                byte == 0xef && index + 2 < bytes.count && bytes[index + 1] == 0xbf && bytes[index + 2] >= 0xbe
            return !isNonCharacter
        }
    }
}

/// A group of a database that is written: entries, and groups for the folders that they were in.
final class KDBXGroup {
    private let name: String
    private var entries: [KDBXFragment.Piece] = []
    private var groups: [KDBXGroup] = []
    /// The indices of the groups, by the bytes of their names.
    private var places: [[UInt8]: Int] = [:]

    /// The maximum depth of groups; a deeper folder becomes one group with the rest as its name.
    private static let depthLimit = 16

    init(name: String) {
        self.name = name
    }

    /// The names of the groups for a folder, whose name lists the groups that it is in before slashes.
    static func path(of folder: String?) -> [String] {
        guard let folder, !folder.isEmpty else { return [] }
        guard KDBXFragment.isXML(folder.utf8.span) else { return [] }
        let names = folder.utf8.split(
            separator: UInt8(ascii: "/"), maxSplits: depthLimit - 1, omittingEmptySubsequences: false)
        // A group without a name is hard to find.
        return names.contains(where: \.isEmpty) ? [folder] : names.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Adds an entry below this group.
    func add(_ entry: KDBXFragment.Piece, path: [String]) {
        var group = self
        for name in path {
            let place = group.places[Array(name.utf8)] ?? group.groups.count
            if place == group.groups.count {
                group.groups.append(KDBXGroup(name: name))
                group.places[Array(name.utf8)] = place
            }
            group = group.groups[place]
        }
        group.entries.append(entry)
    }

    /// Writes the group and all in it.
    ///
    /// - Parameter fragment: the XML of the entries.
    func write(
        times: String, _ fragment: KDBXFragment, _ stream: KDBXChaCha20, into file: inout KDBXSealing,
        _ output: (borrowing Span<UInt8>) throws -> Void
    ) throws {
        let start = KDBXFragment()
        start.append("<Group><UUID>\(Base64.encode(ItemUUID().bytes))</UUID><Name>")
        start.append(escaped: name.utf8.span)
        start.append("</Name><IconID>48</IconID>\(times)<IsExpanded>True</IsExpanded>")
        try start.write(start.whole, stream, into: &file.pending)
        for entry in entries {
            try fragment.write(entry, stream, into: &file.pending)
            try file.sealBlocks(output)
        }
        for group in groups { try group.write(times: times, fragment, stream, into: &file, output) }
        file.pending.append("</Group>".utf8.span)
    }
}
