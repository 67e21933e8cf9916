internal import KCByteStreams
internal import KCCryptography
package import KCItemSources
package import KCKeychainModel

/// JSON in the Credential Exchange Format 1.0 of the FIDO Alliance, in the clear.
///
/// Whatever the format has no member for is stored in an extension, so that an import restores it.
package final class CXFWriter: PlainExportWriter {
    private let date: Timestamp
    private var items = SecretBytes(capacity: 4_096)
    /// The IDs of the items in each folder, in the order of first use.
    private var folders: [(name: String, items: [String])] = []
    /// The indices of the folders, by the bytes of their names.
    private var places: [[UInt8]: Int] = [:]

    /// Starts a file.
    ///
    /// - Parameter date: the date of the file.
    package init(date: Timestamp) {
        self.date = date
    }

    package func add(_ record: ExportedRecord) -> ExportOutcome {
        let id = record.id(in: ForeignKind.cxf.name) ?? CXF.encode(record.uuid.bytes)
        if !items.isEmpty { literal(",") }
        if let folder = record.folder, !folder.isEmpty { file(id, in: folder) }
        literal("{\"id\":")
        string(id)
        literal(",\"creationAt\":\(max(0, record.created.seconds)),\"modifiedAt\":\(max(0, record.modified.seconds))")
        literal(",\"title\":")
        string(record.title)
        literal(",\"scope\":{\"urls\":")
        list(record.addresses)
        literal(",\"androidApps\":[]},\"credentials\":[")
        var credentials = CXFCredentials(record)
        credentials.write(into: &items)
        literal("],\"tags\":")
        list(record.tags?.exact.split(separator: ";") ?? [])
        literal(",\"extensions\":[")
        // The credential holds these only in another form.
        record.writeItems(credentials.written, id: id, into: &items) {
            credentials.isTranslated($0.part) ? $0.part : nil
        }
        literal("]}")
        return ExportOutcome()
    }

    package func finish(to output: (borrowing Span<UInt8>) throws -> Void) throws {
        // Always the same, since an import makes it a part of each identity.
        let account = CXF.encode(Array("kcbackup".utf8))
        var file = SecretBytes(capacity: items.count + 512)
        CanonicalJSON.literal("{\"version\":{\"major\":1,\"minor\":0},\"exporterRpId\":\"kcbackup\",", into: &file)
        CanonicalJSON.literal("\"exporterDisplayName\":\"kcbackup\",\"timestamp\":\(date.seconds),", into: &file)
        CanonicalJSON.literal("\"accounts\":[{\"id\":\"\(account)\",\"username\":\"\",\"email\":\"\",", into: &file)
        CanonicalJSON.literal("\"collections\":[", into: &file)
        for (index, folder) in folders.enumerated() {
            let id = CXF.encode(try RandomBytes.bytes(count: 16))
            CanonicalJSON.literal((index == 0 ? "" : ",") + "{\"id\":\"\(id)\",\"title\":", into: &file)
            CanonicalJSON.string(folder.name, into: &file)
            CanonicalJSON.literal(",\"items\":[", into: &file)
            for (index, member) in folder.items.enumerated() {
                CanonicalJSON.literal(index == 0 ? "{\"item\":" : ",{\"item\":", into: &file)
                CanonicalJSON.string(member, into: &file)
                CanonicalJSON.literal("}", into: &file)
            }
            CanonicalJSON.literal("]}", into: &file)
        }
        CanonicalJSON.literal("],\"items\":[", into: &file)
        items.withBytes { file.append($0) }
        CanonicalJSON.literal("]}]}", into: &file)
        try file.withBytes(output)
    }

    /// Notes that an item is in a folder; collections of collections are not made, since titles may have slashes.
    private func file(_ id: String, in folder: String) {
        let place = places[Array(folder.utf8)] ?? folders.count
        if place == folders.count {
            folders.append((folder, []))
            places[Array(folder.utf8)] = place
        }
        folders[place].items.append(id)
    }

    private func list(_ texts: [String]) {
        literal("[")
        for (index, text) in texts.enumerated() {
            if index > 0 { literal(",") }
            string(text)
        }
        literal("]")
    }

    private func string(_ text: String) { CanonicalJSON.string(text, into: &items) }

    private func literal(_ text: String) { CanonicalJSON.literal(text, into: &items) }
}
