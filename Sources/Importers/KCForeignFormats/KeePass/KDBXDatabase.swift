internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources

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
    /// The attachments that were taken.
    private var taken: Set<ExactText> = []

    /// - Throws: `ForeignFailure` (`damaged`, `unknownVariant`, `limit`), `CryptographyFailure`.
    init(_ content: consuming KDBXOpening, _ header: KDBXHeader, of file: ForeignFile) throws {
        var content = content
        var stream = (header.stream, header.streamKey)
        var piece = SecretBytes(capacity: 4_096)
        var secrets = SecretBytes(capacity: 4_096)
        var binaries: [ExactText: Range<Int>] = [:]
        if header.major == 4 {
            let inner = try KDBXInnerHeader(&content, &piece, binaries: &secrets)
            stream = (inner.stream, inner.streamKey)
            for (number, range) in inner.binaries.enumerated() { binaries["\(number)".exact] = range }
        }
        self.secrets = secrets
        self.binaries = binaries
        values = [:]
        document = try Self.document(&content, piece)
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

    /// Reads an export, whose values are in the clear.
    ///
    /// - Throws: as `init(_:_:of:)`.
    init(export file: ForeignFile) throws {
        secrets = SecretBytes(capacity: 4_096)
        values = [:]
        binaries = [:]
        document = try Self.parsing { reader in
            try file.bytes.withBytes { bytes throws(XMLFailure) in try reader.read(bytes) }
        }
        guard document.root.name == "KeePassFile", !document.hasMixedContent else {
            throw ForeignFailure.damaged("its XML is not that of a KeePass database")
        }
        guard !document.elements.contains(where: Self.isProtected) else {
            throw ForeignFailure.unknownVariant("its values are encrypted with a key that is not in it")
        }
        done = Array(repeating: false, count: document.elements.count)
        try readBinaries()
    }

    /// Reads the XML while it is decrypted, so that it is in memory only once.
    private static func document(
        _ content: inout KDBXOpening, _ start: consuming SecretBytes
    ) throws -> XMLDocument {
        var piece = start
        return try parsing { reader in
            repeat {
                try piece.withBytes { bytes throws(XMLFailure) in try reader.read(bytes) }
                piece.removeAll()
            } while try content.read(into: &piece)
        }
    }

    /// The document that a reader has been given, with failures in terms of the file.
    private static func parsing(_ body: (XMLReader) throws -> Void) throws -> XMLDocument {
        do {
            let reader = try XMLReader()
            try body(reader)
            return try XMLDocument(reader)
        } catch let failure as XMLFailure {
            switch failure {
            case .malformed(let line): throw ForeignFailure.damaged("its XML is malformed in line \(line)")
            case .documentType: throw ForeignFailure.damaged("its XML has a document type")
            case .limit(let what, let allowed):
                throw ForeignFailure.limit(what, found: UInt64(allowed) + 1, allowed: UInt64(allowed))
            case .library: throw StreamFailure.outOfMemory(.decoding)
            }
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

    /// Decrypts all protected values with one stream, in document order; older versions of entries are included.
    private func unprotect(_ stream: KDBXStream) throws {
        for element in document.elements where Self.isProtected(element) {
            var value = try base64(element)
            try stream.process(&value)
            values[element.index] = secrets.count..<secrets.count + value.count
            value.withBytes { secrets.append($0) }
        }
    }

    private static func isProtected(_ element: XMLDocument.Element) -> Bool {
        element.attributes["Protected"]?.lowercased() == "true"
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

/// The record of what was read of the XML, so that nothing in it is dropped in silence.
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
            let hasText = document.withText(of: element) { !$0.isEmpty }
            if hasText, !document.hasChildren(element) { names.append(element.name) }
            for child in document.children(of: element) { visit(child) }
        }
        visit(document.root)
        return names
    }

    /// The attributes of elements that are read, or that only programs need.
    private static let attributes: Set = ["Protected", "ProtectInMemory", "Ref", "ID", "Compressed"]
}
