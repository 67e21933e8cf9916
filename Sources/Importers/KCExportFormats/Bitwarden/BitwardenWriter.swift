package import KCByteStreams
internal import KCCryptography
package import KCItemSources
internal import KCKeychainModel

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

    package func add(_ record: ExportedRecord) -> ExportOutcome {
        let item = BitwardenItem(record)
        if item.isEmpty { return item.outcome }
        if !items.isEmpty { items.append(UInt8(ascii: ",")) }
        item.write(folderID: folderID(record.folder), into: &items)
        return item.outcome
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
