package import KCByteStreams
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

    package func add(_ item: Item, secret: borrowing SecretBytes) -> ExportProblem? {
        let record = ExportedRecord(item)
        let isText = secret.isUTF8
        if !items.isEmpty { items.append(UInt8(ascii: ",")) }
        if let folder = record.folder, !folder.isEmpty { file(CXF.encode(item.uuid.bytes), in: folder) }
        literal("{\"id\":\"\(CXF.encode(item.uuid.bytes))\",\"creationAt\":\(max(0, item.created.seconds))")
        literal(",\"modifiedAt\":\(max(0, item.modified.seconds)),\"title\":")
        CanonicalJSON.string(record.title, into: &items)
        literal(",\"scope\":{\"urls\":[")
        for (index, address) in record.addresses.enumerated() {
            if index > 0 { literal(",") }
            CanonicalJSON.string(address, into: &items)
        }
        literal("],\"androidApps\":[]},\"credentials\":[")
        credential(item, record, isText: isText, secret)
        literal("],\"tags\":[],\"extensions\":[{\"name\":\"\(ExportName.item)\",\"item\":")
        item.writeImportLine(into: &items)
        if isText, [.oneTimePassword, .passkey].contains(record.kind) {
            // The credential holds it only in another form.
            literal(",\"secret\":")
            secret.withBytes { CanonicalJSON.string($0, into: &items) }
        }
        literal("}]}")
        return nil
    }

    package func finish(to output: (borrowing Span<UInt8>) throws -> Void) throws {
        let account = CXF.encode(try RandomBytes.bytes(count: 16))
        var file = SecretBytes(capacity: items.count + 512)
        CanonicalJSON.literal("{\"version\":{\"major\":1,\"minor\":0},\"exporterRpId\":\"kcbackup\",", into: &file)
        CanonicalJSON.literal("\"exporterDisplayName\":\"kcbackup\",\"timestamp\":\(date.seconds),", into: &file)
        CanonicalJSON.literal("\"accounts\":[{\"id\":\"\(account)\",\"username\":\"\",\"email\":\"\",", into: &file)
        CanonicalJSON.literal("\"collections\":[", into: &file)
        for (index, folder) in folders.enumerated() {
            let id = CXF.encode(try RandomBytes.bytes(count: 16))
            CanonicalJSON.literal((index == 0 ? "" : ",") + "{\"id\":\"\(id)\",\"title\":", into: &file)
            CanonicalJSON.string(folder.name, into: &file)
            let members = folder.items.map { "{\"item\":\"\($0)\"}" }.joined(separator: ",")
            CanonicalJSON.literal(",\"items\":[\(members)]}", into: &file)
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

    private func credential(
        _ item: Item, _ record: ExportedRecord, isText: Bool, _ secret: borrowing SecretBytes
    ) {
        guard isText || item.secretSize == nil else {
            literal("{\"type\":\"custom-fields\",\"fields\":[{\"label\":\"\(ExportName.bytes)\",")
            literal("\"fieldType\":\"concealed-string\",\"value\":\"")
            secret.withBytes { Base64.encode($0, into: &items) }
            return literal("\"}]}")
        }
        let field = "{\"fieldType\":\"concealed-string\",\"value\":"
        switch record.kind {
        case .note where item.secretSize != nil:
            literal("{\"type\":\"note\",\"content\":{\"fieldType\":\"string\",\"value\":")
            secret.withBytes { CanonicalJSON.string($0, into: &items) }
            literal("}}")
        case .wifi where item.secretSize != nil:
            literal("{\"type\":\"wifi\",\"ssid\":{\"fieldType\":\"string\",\"value\":")
            CanonicalJSON.string(record.account ?? record.title, into: &items)
            literal("},\"passphrase\":" + field)
            secret.withBytes { CanonicalJSON.string($0, into: &items) }
            literal("}}")
        default:
            if record.kind == .passkey, let object = CXF.passkey(secret) {
                return object.withBytes { items.append($0) }
            }
            if record.kind == .oneTimePassword, let address = OneTimePasswordParts(secret), let code = CXF.Code(address)
            {
                return oneTimePassword(address, code, secret)
            }
            literal("{\"type\":\"basic-auth\"")
            if let account = record.account {
                literal(",\"username\":{\"fieldType\":\"string\",\"value\":")
                CanonicalJSON.string(account, into: &items)
                literal("}")
            }
            if item.secretSize != nil {
                literal(",\"password\":" + field)
                secret.withBytes { CanonicalJSON.string($0, into: &items) }
                literal("}")
            }
            literal("}")
        }
    }

    private func oneTimePassword(_ address: OneTimePasswordParts, _ code: CXF.Code, _ secret: borrowing SecretBytes) {
        literal("{\"type\":\"totp\",\"secret\":")
        secret.withBytes { CanonicalJSON.string($0.extracting(address.seed), into: &items) }
        literal(",\"period\":\(code.period),\"digits\":\(code.digits),\"algorithm\":\"\(code.algorithm)\"")
        for (name, value) in [("username", address.userName), ("issuer", address.issuer)] {
            guard let value else { continue }
            literal(",\"\(name)\":")
            CanonicalJSON.string(value, into: &items)
        }
        literal("}")
    }

    private func literal(_ text: String) {
        CanonicalJSON.literal(text, into: &items)
    }
}
