package import KCByteStreams
internal import KCCryptography
package import KCItemSources
package import KCKeychainModel

/// Bitwarden's JSON, protected with a password.
///
/// Source: the exporter of bitwarden/clients ("password protected" export, PBKDF2).
package final class BitwardenWriter: ProtectedExportWriter {
    /// Bitwarden's own default.
    package static let defaultRounds = 600_000

    private let rounds: Int
    private var items = SecretBytes(capacity: 4_096)
    /// The folders with their IDs, in the order of first use.
    private var folders: [(name: String, id: ItemUUID)] = []
    /// The indices of the folders, by the bytes of their names.
    private var places: [[UInt8]: Int] = [:]

    /// Starts a file that is protected with a password.
    ///
    /// - Parameter rounds: of PBKDF2; lower only in tests.
    package init(rounds: Int = defaultRounds) {
        self.rounds = rounds
    }

    package func add(_ item: Item, secret: borrowing SecretBytes) -> ExportProblem? {
        let record = ExportedRecord(item)
        switch record.kind {
        case .other: return .noPlace
        case .passkey: return .passkey
        case .password, .note, .oneTimePassword, .wifi: break
        }
        if record.hasAccountOfBytes { return .nameNotText }
        let isEmpty = item.secretSize != nil && secret.isEmpty
        if isEmpty, record.kind == .note || record.kind == .oneTimePassword { return .emptySecret }
        let isText = secret.isUTF8
        // Notes and one-time passwords can only hold text.
        let kind = isText && item.secretSize != nil ? record.kind : .password
        if !items.isEmpty { items.append(UInt8(ascii: ",")) }
        literal("{\"id\":\"\(item.uuid)\",\"organizationId\":null,\"folderId\":\(folderID(record.folder)),")
        literal("\"collectionIds\":null,\"name\":")
        CanonicalJSON.string(record.title, into: &items)
        literal(",\"type\":\(kind == .note ? 2 : 1),\"reprompt\":0,\"favorite\":false,\"notes\":")
        secretOrNull(kind == .note, secret)
        literal(",\"creationDate\":\"\(item.created)\",\"revisionDate\":\"\(item.modified)\",\"deletedDate\":null")
        fields(item, isText: isText, secret)
        if kind == .note {
            literal(",\"secureNote\":{\"type\":0}}")
        } else {
            literal(",\"login\":{\"fido2Credentials\":[],\"uris\":[")
            let standsAlone = kind == .oneTimePassword
            for (index, address) in record.addresses.enumerated() where !standsAlone {
                literal(index == 0 ? "{\"match\":null,\"uri\":" : ",{\"match\":null,\"uri\":")
                CanonicalJSON.string(address, into: &items)
                literal("}")
            }
            literal("],\"username\":")
            if let account = record.account, !standsAlone {
                CanonicalJSON.string(account, into: &items)
            } else {
                literal("null")
            }
            literal(",\"password\":")
            secretOrNull(isText && item.secretSize != nil && kind != .oneTimePassword, secret)
            literal(",\"totp\":")
            secretOrNull(kind == .oneTimePassword, secret)
            literal("}}")
        }
        return nil
    }

    package func lost(of item: Item) -> [AttributeCode] {
        let record = ExportedRecord(item)
        return record.lost(of: item, addresses: record.addresses)
    }

    package func finish(
        password: borrowing SecretBytes, to output: (borrowing Span<UInt8>) throws -> Void
    ) throws {
        try file(password).withBytes { try output($0) }
    }

    private func file(_ password: borrowing SecretBytes) throws -> SecretBytes {
        let salt = Base64.encode(try RandomBytes.bytes(count: 16))
        let master = try PBKDF2.derive(
            password: password, salt: Array(salt.utf8).span, rounds: rounds, hash: .sha256, count: 32)
        let keys = BitwardenCipher(
            encryption: try HKDF.expand(pseudoRandomKey: master, info: Array("enc".utf8), count: 32),
            authentication: try HKDF.expand(pseudoRandomKey: master, info: Array("mac".utf8), count: 32))
        var plain = SecretBytes(capacity: items.count + 64)
        CanonicalJSON.literal("{\"encrypted\":false,\"folders\":[", into: &plain)
        for (index, folder) in folders.enumerated() {
            CanonicalJSON.literal((index == 0 ? "" : ",") + "{\"id\":\"\(folder.id)\",\"name\":", into: &plain)
            CanonicalJSON.string(folder.name, into: &plain)
            CanonicalJSON.literal("}", into: &plain)
        }
        CanonicalJSON.literal("],\"items\":[", into: &plain)
        items.withBytes { plain.append($0) }
        CanonicalJSON.literal("]}", into: &plain)

        var file = SecretBytes(capacity: plain.count * 4 / 3 + 1_024)
        CanonicalJSON.literal("{\"encrypted\":true,\"passwordProtected\":true,\"salt\":\"\(salt)\",", into: &file)
        CanonicalJSON.literal("\"kdfType\":0,\"kdfIterations\":\(rounds),", into: &file)
        CanonicalJSON.literal("\"encKeyValidation_DO_NOT_EDIT\":\"", into: &file)
        // A random text; that it can be decrypted proves the password.
        try keys.seal(SecretBytes(copying: ItemUUID().description.utf8), into: &file)
        CanonicalJSON.literal("\",\"data\":\"", into: &file)
        try keys.seal(plain, into: &file)
        CanonicalJSON.literal("\"}", into: &file)
        return file
    }

    /// The ID of a folder, in quotation marks; `null` for none.
    private func folderID(_ name: String?) -> String {
        guard let name, !name.isEmpty else { return "null" }
        let place = places[Array(name.utf8)] ?? folders.count
        if place == folders.count {
            folders.append((name, ItemUUID()))
            places[Array(name.utf8)] = place
        }
        return "\"\(folders[place].id)\""
    }

    private func fields(_ item: Item, isText: Bool, _ secret: borrowing SecretBytes) {
        if isText || item.secretSize == nil { return literal(",\"fields\":[]") }
        literal(",\"fields\":[{\"name\":\"\(ExportName.bytes)\",\"type\":1,\"linkedId\":null,\"value\":\"")
        secret.withBytes { Base64.encode($0, into: &items) }
        literal("\"}]")
    }

    private func secretOrNull(_ isHere: Bool, _ secret: borrowing SecretBytes) {
        guard isHere else { return literal("null") }
        secret.withBytes { CanonicalJSON.string($0, into: &items) }
    }

    private func literal(_ text: String) {
        CanonicalJSON.literal(text, into: &items)
    }
}

/// AES-256-CBC with HMAC-SHA-256 in Bitwarden's encoding, type 2.
private struct BitwardenCipher: ~Copyable {
    let encryption: SecretBytes
    let authentication: SecretBytes

    /// Appends `2.iv|ciphertext|mac`.
    func seal(_ plaintext: borrowing SecretBytes, into text: inout SecretBytes) throws(CryptographyFailure) {
        let iv = try RandomBytes.bytes(count: 16)
        var padded = plaintext.copy()
        let padding = 16 - padded.count % 16
        for _ in 0..<padding { padded.append(UInt8(padding)) }
        var cipher = try BlockCipher(.aes256CBC, .encrypt, key: encryption, iv: iv.span)
        try cipher.process(inPlace: &padded)
        var hmac = try HMAC(key: authentication)
        try hmac.update(iv.span)
        try hmac.update(padded)
        let code = try hmac.finalize()
        CanonicalJSON.literal("2.\(Base64.encode(iv))|", into: &text)
        padded.withBytes { Base64.encode($0, into: &text) }
        CanonicalJSON.literal("|\(Base64.encode(code))", into: &text)
    }
}
