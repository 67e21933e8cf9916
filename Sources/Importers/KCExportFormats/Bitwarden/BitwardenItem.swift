internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel

/// A record as an item of Bitwarden's JSON.
struct BitwardenItem {
    private let record: ExportedRecord
    private(set) var outcome = ExportOutcome()
    private var login: ExportedPart?
    private var note: ExportedPart?
    private var code: ExportedPart?
    private var passkeys: [ExportedPart] = []
    /// A card, an identity or a key, which make an item of a type of their own.
    private var object: (type: ItemType, part: ExportedPart)?
    private var fields: [(name: String, part: ExportedPart)] = []

    private enum ItemType: Int {
        case login = 1
        case note, card, identity, key
    }

    /// Decides where each part of a record goes.
    init(_ record: ExportedRecord) {
        self.record = record
        for part in record.parts {
            if let problem = place(part) { outcome.unheld.append((part, problem)) }
        }
        if let object, login != nil || code != nil || !passkeys.isEmpty {
            fields.append((object.part.place.fieldName, object.part))
            self.object = nil
        }
        outcome.lost = record.lost(written, account: login == nil ? nil : record.account, addresses: addresses)
    }

    /// True if the file has nothing of the record.
    var isEmpty: Bool {
        login == nil && note == nil && code == nil && passkeys.isEmpty && object == nil && fields.isEmpty
    }

    /// Takes a part into its place.
    ///
    /// - Returns: why there is none.
    private mutating func place(_ part: ExportedPart) -> ExportProblem? {
        if part.isOfKeychain { return .noPlace }
        // A hidden field holds the bytes, and an import makes a login of it.
        let isLoneBytes = !part.isText && record.parts.count == 1
        switch part.place {
        case .attachment: return .noPlace
        case _ where isLoneBytes: return placeLogin(part)
        case .network where record.login != nil: fields.append((part.place.fieldName, part))
        case .login, .token, .network: return placeLogin(part)
        case .note, .oneTimePassword:
            if let problem = problem(with: part, mayBeEmpty: false) { return problem }
            if part.place == .oneTimePassword {
                if code == nil { code = part } else { outcome.apart.append(part) }
            } else if note == nil {
                note = part
            } else {
                fields.append((part.place.fieldName, part))
            }
        case .passkey:
            guard let passkey = Passkey(json: part.secret), passkey.isKey, PasskeyKey.isP256(passkey.key) else {
                return .noPlace
            }
            passkeys.append(part)
        case .object, .privateKey, .field:
            if let problem = problem(with: part, mayBeEmpty: true) { return problem }
            if object == nil, let type = Self.type(of: part, in: record) {
                object = (type, part)
            } else {
                fields.append((part.place.fieldName, part))
            }
        }
        return nil
    }

    private mutating func placeLogin(_ part: ExportedPart) -> ExportProblem? {
        if record.hasAccountOfBytes { return .nameNotText }
        if login == nil { login = part } else { outcome.apart.append(part) }
        return nil
    }

    private func problem(with part: ExportedPart, mayBeEmpty: Bool) -> ExportProblem? {
        if !part.hasSecret { return .noSecret }
        if part.secret.isEmpty, !mayBeEmpty { return .emptySecret }
        return part.isText ? nil : .secretNotText
    }

    /// The type that an item has because of a part that came from Bitwarden, or that is a key.
    private static func type(of part: ExportedPart, in record: ExportedRecord) -> ItemType? {
        let isOwn = record.id(in: ForeignKind.bitwarden.name) != nil
        switch part.place {
        case .object("card") where isOwn: return .card
        case .object("identity") where isOwn: return .identity
        case .privateKey: return .key
        default: return nil
        }
    }

    private var type: ItemType {
        if login != nil || code != nil || !passkeys.isEmpty { return .login }
        return object?.type ?? .note
    }

    /// The addresses that the file has; with those of other items, an import would make a login without a password.
    private var addresses: [String] { login == nil && passkeys.isEmpty ? [] : record.addresses }

    private var written: [ExportedRecord.Written] {
        var written = login.map { [ExportedRecord.Written($0, as: .login)] } ?? []
        written += [note, code, object?.part].compactMap { $0 }.map { ExportedRecord.Written($0) }
        written += passkeys.map { ExportedRecord.Written($0) }
        return written + fields.map { ExportedRecord.Written($0.part, as: .field($0.name)) }
    }

    /// Writes the item.
    ///
    /// - Parameter folderID: in quotation marks, or `null`.
    func write(folderID: String, into file: inout SecretBytes) {
        let id = record.id(in: ForeignKind.bitwarden.name) ?? "\(record.uuid)"
        CanonicalJSON.literal("{\"id\":", into: &file)
        CanonicalJSON.string(id, into: &file)
        CanonicalJSON.literal(",\"organizationId\":null,\"folderId\":\(folderID),", into: &file)
        CanonicalJSON.literal("\"collectionIds\":null,\"name\":", into: &file)
        CanonicalJSON.string(record.title, into: &file)
        CanonicalJSON.literal(",\"type\":\(type.rawValue),\"reprompt\":0,\"favorite\":false,\"notes\":", into: &file)
        Self.text(note, into: &file)
        CanonicalJSON.literal(
            ",\"creationDate\":\"\(record.created)\",\"revisionDate\":\"\(record.modified)\",\"deletedDate\":null",
            into: &file)
        writeFields(into: &file)
        switch type {
        case .login: writeLogin(into: &file)
        case .note: CanonicalJSON.literal(",\"secureNote\":{\"type\":0}}", into: &file)
        case .card, .identity:
            CanonicalJSON.literal(type == .card ? ",\"card\":" : ",\"identity\":", into: &file)
            object?.part.secret.withBytes { file.append($0) }
            CanonicalJSON.literal("}", into: &file)
        case .key:
            CanonicalJSON.literal(",\"sshKey\":{\"privateKey\":", into: &file)
            Self.text(object?.part, into: &file)
            for name in ["publicKey", "keyFingerprint"] {
                CanonicalJSON.literal(",\"\(name)\":", into: &file)
                CanonicalJSON.string(record.free(name) ?? "", into: &file)
            }
            CanonicalJSON.literal("}}", into: &file)
        }
    }

    private func writeFields(into file: inout SecretBytes) {
        CanonicalJSON.literal(",\"fields\":[", into: &file)
        let bytes = login.flatMap { $0.hasSecret && !$0.isText ? $0 : nil }
        if let bytes {
            CanonicalJSON.literal(
                "{\"name\":\"\(ExportName.bytes)\",\"type\":1,\"linkedId\":null,\"value\":\"", into: &file)
            bytes.secret.withBytes { Base64.encode($0, into: &file) }
            CanonicalJSON.literal("\"}", into: &file)
        }
        for (index, field) in fields.enumerated() {
            CanonicalJSON.literal((index > 0 || bytes != nil ? "," : "") + "{\"name\":", into: &file)
            CanonicalJSON.string(field.name, into: &file)
            CanonicalJSON.literal(",\"type\":1,\"linkedId\":null,\"value\":", into: &file)
            Self.text(field.part, into: &file)
            CanonicalJSON.literal("}", into: &file)
        }
        CanonicalJSON.literal("]", into: &file)
    }

    private func writeLogin(into file: inout SecretBytes) {
        CanonicalJSON.literal(",\"login\":{\"fido2Credentials\":[", into: &file)
        for (index, part) in passkeys.enumerated() {
            guard let passkey = Passkey(json: part.secret) else { continue }
            if index > 0 { CanonicalJSON.literal(",", into: &file) }
            write(passkey, into: &file)
        }
        CanonicalJSON.literal("],\"uris\":[", into: &file)
        for (index, address) in addresses.enumerated() {
            CanonicalJSON.literal(index == 0 ? "{\"match\":null,\"uri\":" : ",{\"match\":null,\"uri\":", into: &file)
            CanonicalJSON.string(address, into: &file)
            CanonicalJSON.literal("}", into: &file)
        }
        CanonicalJSON.literal("],\"username\":", into: &file)
        if let account = record.account, login != nil {
            CanonicalJSON.string(account, into: &file)
        } else {
            CanonicalJSON.literal("null", into: &file)
        }
        CanonicalJSON.literal(",\"password\":", into: &file)
        Self.text(login.flatMap { $0.isText ? $0 : nil }, into: &file)
        CanonicalJSON.literal(",\"totp\":", into: &file)
        Self.text(code, into: &file)
        CanonicalJSON.literal("}}", into: &file)
    }

    private func write(_ passkey: borrowing Passkey, into file: inout SecretBytes) {
        var object = SecretJSON()
        object.add("credentialId", Self.credentialID(passkey.id))
        object.add("keyType", "public-key")
        object.add("keyAlgorithm", "ECDSA")
        object.add("keyCurve", "P-256")
        object.add("keyValue", text: passkey.key)
        object.add("rpId", passkey.host)
        object.add("userHandle", passkey.userHandle ?? "")
        object.add("userName", passkey.userName ?? "")
        object.add("counter", passkey.text("counter") ?? "0")
        object.add("rpName", passkey.text("rpName") ?? passkey.host)
        object.add("userDisplayName", passkey.displayName ?? passkey.userName ?? "")
        object.add("discoverable", passkey.text("discoverable") ?? "true")
        object.add("creationDate", passkey.text("creationDate") ?? "\(record.created)")
        object.finish().withBytes { file.append($0) }
    }

    /// The ID of a credential: a UUID if it has the size of one, as the IDs that Bitwarden generates.
    private static func credentialID(_ id: String) -> String {
        let standard = id.exact.replacing("-", with: "+").exact.replacing("_", with: "/")
        guard let bytes = Base64.decode(standard, padded: false), let uuid = ItemUUID(bytes: bytes.span) else {
            return "b64." + id
        }
        return "\(uuid)".lowercased()
    }

    private static func text(_ part: ExportedPart?, into file: inout SecretBytes) {
        guard let part, part.hasSecret else { return CanonicalJSON.literal("null", into: &file) }
        part.secret.withBytes { CanonicalJSON.string($0, into: &file) }
    }
}
