internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCXMLDocuments

/// The XML of a KDBX file, with its protected values and attachments decrypted.
final class KDBXDatabase {
    let document: XMLDocument
    /// True for elements that were read, or skipped with all in them; by index.
    private var done: [Bool] = []
    /// The protected values and the attachments, concatenated.
    private var secrets: SecretBytes
    /// The positions of protected values in `secrets`, by the index of their element.
    private var values: [Int: Range<Int>]
    /// The positions of attachments in `secrets`, by the number or ID by which entries refer to them.
    private var binaries: [ExactText: Range<Int>]
    /// Those of them that were taken.
    private var taken: Set<ExactText> = []

    /// - Throws: `ForeignFailure` (`damaged`, `unknownVariant`, `limit`), `CryptographyFailure`.
    init(_ content: consuming SecretBytes, _ header: KDBXHeader, of file: ForeignFile) throws {
        var start = 0
        var stream = (header.stream, header.streamKey)
        var secrets = SecretBytes(capacity: 4_096)
        var binaries: [ExactText: Range<Int>] = [:]
        if header.major == 4 {
            var found: [Range<Int>] = []
            (start, stream, found) = try content.withBytes { bytes in try Self.innerHeader(bytes) }
            for (number, range) in found.enumerated() {
                binaries["\(number)".exact] = secrets.count..<secrets.count + range.count
                content.withBytes { secrets.append($0.extracting(range)) }
            }
        }
        self.secrets = secrets
        self.binaries = binaries
        values = [:]
        do throws(XMLFailure) {
            document = try content.withBytes { bytes throws(XMLFailure) in try XMLDocument(bytes.extracting(start...)) }
        } catch {
            switch error {
            case .malformed(let line): throw ForeignFailure.damaged("its XML is malformed in line \(line)")
            case .documentType: throw ForeignFailure.damaged("its XML has a document type")
            case .limit(let what, let allowed):
                throw ForeignFailure.limit(what, found: UInt64(allowed) + 1, allowed: UInt64(allowed))
            case .library: throw CryptographyFailure.outOfMemory(bytes: content.count)
            }
        }
        guard document.root.name == "KeePassFile", !document.hasMixedContent else {
            throw ForeignFailure.damaged("its XML is not that of a KeePass database")
        }
        done = Array(repeating: false, count: document.elements.count)
        try unprotect(KDBXStream(stream.0, key: SecretBytes(copying: stream.1)))
        if header.major == 3 {
            try checkHash(header, file)
            try readBinaries()
        }
    }

    /// The value of an element, protected or not.
    func value(_ element: XMLDocument.Element) -> SecretBytes {
        skip(element)
        if let range = values[element.index] { return secrets.withBytes { SecretBytes($0.extracting(range)) } }
        return document.withText(of: element) { SecretBytes($0) }
    }

    /// Passes the value of an element to `body`, without a copy.
    func withValue<Result>(_ element: XMLDocument.Element, _ body: (borrowing Span<UInt8>) -> Result) -> Result {
        guard let range = values[element.index] else { return document.withText(of: element, body) }
        return secrets.withBytes { body($0.extracting(range)) }
    }

    /// True if the value of an element was protected.
    func isProtected(_ element: XMLDocument.Element) -> Bool { values[element.index] != nil }

    /// The attachment in an element: its own value, or the one that it refers to; nil if there is none.
    ///
    /// - Throws: `ForeignFailure` (`damaged`, `limit`).
    func attachment(_ element: XMLDocument.Element) throws -> SecretBytes? {
        if let reference = element.attributes["Ref"] { return binary(reference) }
        skip(element)
        return try binary(element)
    }

    /// The attachment with the given number or ID; nil if there is none.
    private func binary(_ name: String) -> SecretBytes? {
        guard let range = binaries[name.exact] else { return nil }
        taken.insert(name.exact)
        return secrets.withBytes { SecretBytes($0.extracting(range)) }
    }

    private static func innerHeader(
        _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> (start: Int, stream: (KDBX.Stream, [UInt8]), binaries: [Range<Int>]) {
        var cursor = try ByteCursor(of: bytes, .littleEndian)
        var (number, key): (UInt64?, [UInt8]?) = (nil, nil)
        var binaries: [Range<Int>] = []
        while true {
            let type = try cursor.number(1, in: bytes)
            let range = try cursor.take(cursor.number(4, in: bytes))
            switch type {
            case 0:
                guard let number, let key, let stream = KDBX.Stream(rawValue: UInt32(truncatingIfNeeded: number)) else {
                    throw .unknownVariant("an unknown stream cipher")
                }
                return (cursor.position, (stream, key), binaries)
            case 1 where number == nil && range.count == 4:
                number = range.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[$1]) }
            case 2 where key == nil && range.count <= 1_024: key = range.map { bytes[$0] }
            case 3 where !range.isEmpty: binaries.append(range.lowerBound + 1..<range.upperBound)
            default: throw .damaged("its inner header is malformed")
            }
        }
    }

    /// Decrypts all protected values with one stream, in document order; older versions of entries are included.
    private func unprotect(_ stream: KDBXStream) throws {
        for element in document.elements where element.attributes["Protected"]?.lowercased() == "true" {
            var value = try base64(element)
            try stream.process(&value)
            values[element.index] = secrets.count..<secrets.count + value.count
            value.withBytes { secrets.append($0) }
        }
    }

    private func base64(_ element: XMLDocument.Element) throws(ForeignFailure) -> SecretBytes {
        let text = document.withText(of: element) { SecretBytes(withoutSpace: $0) }
        var bytes = SecretBytes(capacity: text.count)
        guard text.withBytes({ Base64.decode($0, into: &bytes) }) else {
            throw .damaged("a value is not base64")
        }
        return bytes
    }

    /// Compares the header with the hash that version 3.1 stores in the XML.
    private func checkHash(_ header: KDBXHeader, _ file: ForeignFile) throws(ForeignFailure) {
        guard let meta = document.child("Meta", of: document.root), let hash = document.child("HeaderHash", of: meta)
        else { return }
        let stated = document.string(of: hash)
        let found = file.bytes.withBytes { SHA256.hash($0.extracting(..<header.size)).bytes }
        guard stated == Base64.encode(found) else { throw .damaged("its header does not match its hash") }
    }

    /// Reads the attachments, which version 3 stores in the XML.
    private func readBinaries() throws {
        guard let meta = document.child("Meta", of: document.root), let all = document.child("Binaries", of: meta)
        else { return }
        for element in document.children("Binary", of: all) {
            guard let id = element.attributes["ID"] else { throw ForeignFailure.damaged("an attachment has no ID") }
            let bytes = try binary(element)
            let size = secrets.count + bytes.count
            guard size <= ForeignFile.sizeLimit else {
                throw ForeignFailure.limit(
                    "bytes of attachments", found: UInt64(size), allowed: UInt64(ForeignFile.sizeLimit))
            }
            skip(element)
            guard binaries.updateValue(secrets.count..<secrets.count + bytes.count, forKey: id.exact) == nil else {
                throw ForeignFailure.damaged("an ID occurs twice")
            }
            bytes.withBytes { secrets.append($0) }
        }
    }

    /// The content of an attachment inside the XML.
    private func binary(_ element: XMLDocument.Element) throws -> SecretBytes {
        let bytes = isProtected(element) ? value(element) : try base64(element)
        guard element.attributes["Compressed"]?.lowercased() == "true", !bytes.isEmpty else { return bytes }
        return try KDBXOpening.decompressed(bytes)
    }
}

/// What was read of the XML, so that nothing in it is dropped in silence.
extension KDBXDatabase {
    /// The number of attachments that were not taken: those of older versions of entries, or of none.
    var untakenBinaries: Int { binaries.count - taken.count }

    /// The title of an entry in messages; nil if it has none.
    func title(of entry: XMLDocument.Element) -> String? {
        let strings = document.children("String", of: entry)
        let title = strings.first { text("Key", of: $0) == "Title" }.flatMap { document.child("Value", of: $0) }
        return title.flatMap { withValue($0) { $0.utf8Text } }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The text of a child that is not secret; nil if there is none.
    func text(_ name: String, of parent: XMLDocument.Element?) -> String? {
        guard let parent, let child = document.child(name, of: parent) else { return nil }
        return text(of: child)
    }

    /// The text of an element that is not secret.
    func text(of element: XMLDocument.Element) -> String {
        skip(element)
        return document.string(of: element)
    }

    /// States that an element and all in it are known, and hold nothing to import that is not counted in another way.
    func skip(_ element: XMLDocument.Element?) {
        if let element { done[element.index] = true }
    }

    /// Skips all children with these names.
    func skip(_ names: [String], of parent: XMLDocument.Element?) {
        guard let parent else { return }
        for name in names {
            for child in document.children(name, of: parent) { skip(child) }
        }
    }

    /// The names of elements and attributes that hold something and were neither read nor skipped.
    var unread: [String] {
        var names: [String] = []
        func visit(_ element: XMLDocument.Element) {
            if done[element.index] { return }
            names += element.attributes.keys.filter { !Self.attributes.contains($0) }.sorted()
            if element.children.isEmpty, document.withText(of: element, { !$0.isEmpty }) { names.append(element.name) }
            for child in element.children { visit(document.elements[child]) }
        }
        visit(document.root)
        return names
    }

    /// The attributes of elements that are read, or that only programs need.
    private static let attributes: Set = ["Protected", "ProtectInMemory", "Ref", "ID", "Compressed"]
}
