internal import KCByteStreams
internal import KCCryptography
internal import KCExportFormats
package import KCItemSources
internal import KCKeychainModel

/// The encrypted export of Ente Auth; its plain export is a list of addresses.
///
/// Source: ente-io/ente, "Auth Encrypted Export format": Argon2id, then a message of libsodium's secretstream.
package struct EnteFormat: ForeignFormat {
    package let kind = ForeignKind.ente

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        input.file?.bytes.withBytes { JSONHead.names(["kdfParams", "encryptedData"], in: $0).count == 2 } ?? false
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let text = try EnteSeal(ForeignJSON(file)).open(secrets)
        let collector = RecordCollector(format: name, date: file.modified)
        var lines = OneTimePasswordLines(collector)
        try text.withBytes { bytes throws(ForeignFailure) in try lines.read(bytes) }
        try lines.finish()
        return try collector.finish(details: "encrypted", isPlaintext: false)
    }
}

/// The encryption of an export.
private struct EnteSeal {
    // Ente asks for 1 GiB and 4 passes, and on small devices for less memory and more passes, at the same product.
    private static let memoryLimitInBytes: Int64 = 1 << 30
    private static let passLimit: Int64 = 1_024
    private static let workLimitInBytes: Int64 = 16 << 30

    private let salt: [UInt8]
    private let cost: Argon2.Cost
    private let header: [UInt8]
    private let sealed: [UInt8]

    init(_ json: ForeignJSON) throws(ForeignFailure) {
        let root = json.root
        guard let version = json.integer(root["version"]) else { throw .damaged("it has no version") }
        guard version == 1 else { throw .unknownVariant("version \(version) of Ente Auth's exports") }
        let parameters = root["kdfParams"]
        func bytes(_ value: ForeignJSON.Value?, _ what: String) throws(ForeignFailure) -> [UInt8] {
            guard let bytes = json.text(value).flatMap({ Base64.decode($0) }) else {
                throw .damaged("its \(what) is missing or not base64")
            }
            return bytes
        }
        salt = try bytes(parameters?["salt"], "salt")
        header = try bytes(root["encryptionNonce"], "nonce")
        sealed = try bytes(root["encryptedData"], "data")
        guard salt.count == 16, header.count == SecretStream.headerLength else {
            throw .damaged("its salt or nonce has another length")
        }
        guard let memory = json.integer(parameters?["memLimit"]), memory >= 8_192,
            let passes = json.integer(parameters?["opsLimit"]), passes >= 1
        else { throw .damaged("the cost of its key is missing or too low") }
        guard memory <= Self.memoryLimitInBytes else {
            throw .limit("bytes of memory for Argon2", found: UInt64(memory), allowed: UInt64(Self.memoryLimitInBytes))
        }
        guard passes <= Self.passLimit, memory * passes <= Self.workLimitInBytes else {
            throw .limit(
                "passes of Argon2", found: UInt64(passes),
                allowed: UInt64(min(Self.passLimit, Self.workLimitInBytes / memory)))
        }
        cost = Argon2.Cost(iterations: UInt32(passes), memoryInKiB: UInt32(memory >> 10), lanes: 1)
    }

    /// The list of addresses.
    ///
    /// - Throws: `ForeignFailure`, `CryptographyFailure`, and what `secrets` throws.
    func open(_ secrets: any ForeignSecrets) throws -> SecretBytes {
        var opened: SecretBytes?
        try secrets.password(.file(.ente)) { password in
            let key = try Argon2.derive(password: password, salt: salt, .id, cost, count: 32)
            do throws(CryptographyFailure) {
                // Ente's own exports do not mark the end, although its document says so.
                opened = try SecretStream.open(sealed.span, key: key, header: header, marksEnd: false)
            } catch .authentication {
                throw ForeignFailure.wrongPasswordOrDamaged
            }
        }
        guard let opened = opened.take() else { throw ForeignFailure.wrongPassword }
        return opened
    }
}
