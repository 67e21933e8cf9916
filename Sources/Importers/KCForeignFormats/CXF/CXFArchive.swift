internal import KCByteStreams
internal import KCCryptography
internal import KCExportFormats
internal import KCItemSources

/// A zip file with documents in the Credential Exchange Format, and the files that belong to their items.
struct CXFArchive {
    /// The maximum number of documents; each has all items of an exporter.
    private static let documentLimit = 16
    private static let folder = "documents/"

    let zip: ForeignZip

    init(_ file: ForeignFile) throws {
        zip = try ForeignZip(file) { Self.isDocument($0) || $0.exact.contains(Self.folder) }
    }

    /// True for a zip file with at least one document.
    ///
    /// - Throws: `StreamFailure` if the cause is not the file itself.
    static func isOne(_ file: ForeignFile, _ names: Set<ExactText>) throws -> Bool {
        guard (1...documentLimit).contains(names.count { isDocument($0.string) }) else { return false }
        do {
            let archive = try CXFArchive(file)
            return try !archive.documents().isEmpty
        } catch is ForeignFailure {
            // Another zip file with JSON in it.
            return false
        }
    }

    /// The documents, each with the files beside it.
    ///
    /// - Throws: as `ForeignJSON`.
    func documents() throws(ForeignFailure) -> [(ForeignJSON, CXFFiles?)] {
        var documents: [(ForeignJSON, CXFFiles?)] = []
        for name in zip.names.sorted().map(\.string) where Self.isDocument(name) {
            guard let member = zip.bytes(of: name) else { continue }
            let json = try ForeignJSON(member.bytes.copy())
            guard CXFFormat.accounts(json) != nil else { continue }
            _ = zip.take(name)
            let place = name.exact.split(separator: "/").dropLast().map { $0 + "/" }.joined()
            documents.append((json, CXFFiles(zip: zip, folder: place + Self.folder)))
        }
        return documents
    }

    private static func isDocument(_ name: String) -> Bool {
        name.lowercased().exact.hasSuffix(".json") && !name.exact.contains(folder)
    }
}

/// The files that belong to the items of a document.
struct CXFFiles {
    let zip: ForeignZip
    /// The path of their folder in the zip file.
    let folder: String

    /// Removes and returns a file; nil if it is missing.
    func take(_ id: String) -> ForeignAttachment? { zip.take(folder + id) }
}

extension CXFRecords {
    /// Adds a file of an item, or counts it if the JSON came alone.
    func addFile(_ credential: ForeignJSON.Value, _ record: RecordWriter) throws(ForeignFailure) {
        guard let files else {
            collector.leaveOut("file beside the JSON")
            return json.skip(credential)
        }
        guard let id = try text(credential["id"]) else { throw .damaged("it has no ID") }
        let name = try text(credential["name"]) ?? ""
        let hash = try text(credential["integrityHash"]).flatMap { $0.isEmpty ? nil : $0 }
        json.skip("decryptedSize", of: credential)
        try collector.part(name, of: record.title) { () throws(ForeignFailure) in
            guard let file = files.take(id) else { throw .damaged("it is missing from the export") }
            if let hash, try !Self.isHash(hash, of: file) { throw .damaged("it was altered") }
            try record.addAttachment(name, file.bytes.copy())
        }
    }

    /// True if a text is the SHA-256 of a file in base64url.
    private static func isHash(_ text: String, of file: ForeignAttachment) throws(ForeignFailure) -> Bool {
        guard let hash = CXF.decode(SecretBytes(copying: text.utf8)) else { throw .damaged("its hash is not base64") }
        return hash.isEqual(to: SecretBytes(copying: file.bytes.withBytes { SHA256.hash($0).bytes }))
    }
}
