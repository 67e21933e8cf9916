internal import KCByteStreams
internal import KCCryptography
internal import KCExportFormats
package import KCItemSources
internal import KCKeychainModel

/// The backup of Stratum, which was called Authenticator Pro: plain, or encrypted with a password.
///
/// Source: stratumauth/app, `doc/BACKUP_FORMAT.md`.
package struct StratumFormat: ForeignFormat {
    package let kind = ForeignKind.stratum

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        if StratumSeal.kind(of: file) != nil { return true }
        return file.bytes.withBytes { bytes in
            let names = JSONHead.names(["Authenticators", "Secret", "Categories"], in: bytes)
            return names.contains("Authenticators".exact) && names.count > 1
        }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let seal = try StratumSeal.kind(of: file).map { kind throws(ForeignFailure) in try StratumSeal(kind, file) }
        let json = try seal?.open(secrets) ?? ForeignJSON(file)
        let collector = RecordCollector(format: name, date: file.modified)
        try StratumReader(json, collector).add()
        collector.leaveOut(unknown: json.unread)
        return try collector.finish(details: seal == nil ? "" : "encrypted", isPlaintext: seal == nil)
    }
}

/// Reads the authenticators of a backup.
private struct StratumReader: JSONRecords {
    let json: ForeignJSON
    let collector: RecordCollector
    /// The names of the categories of each seed, by its hash.
    private var categories: [[UInt8]: [String]] = [:]

    init(_ json: ForeignJSON, _ collector: RecordCollector) throws(ForeignFailure) {
        self.json = json
        self.collector = collector
        var names: [ExactText: String] = [:]
        for category in try json.list(json.root["Categories"]) {
            guard let id = try text(category["Id"]), let name = try text(category["Name"]) else { continue }
            names[id.exact] = name
            json.skip("Ranking", of: category)
        }
        for link in try json.list(json.root["AuthenticatorCategories"]) {
            guard let id = try text(link["CategoryId"]), let seed = try secret(link["AuthenticatorSecret"]) else {
                continue
            }
            if let name = names[id.exact] { categories[Self.hash(seed), default: []].append(name) }
            json.skip("Ranking", of: link)
        }
    }

    private static func hash(_ seed: borrowing SecretBytes) -> [UInt8] { seed.withBytes { SHA256.hash($0).bytes } }

    func add() throws(ForeignFailure) {
        let entries = try json.list(json.root["Authenticators"], required: "its list of authenticators")
        for (index, entry) in entries.enumerated() {
            try collector.record(entry, of: json, title: entry["Issuer"], number: index + 1) {
                () throws(ForeignFailure) in
                guard entry.isObject else { throw .damaged("it is not an object") }
                try add(entry)
            }
        }
        try leaveOut("icon", each: json.root["CustomIcons"])
        try leaveOut("set of icons", each: json.root["IconPacks"])
    }

    private func add(_ entry: ForeignJSON.Value) throws(ForeignFailure) {
        guard let type = try json.optionalInteger(entry["Type"]) else { throw .damaged("its kind of code is missing") }
        let algorithms = ["SHA1", "SHA256", "SHA512"]
        let algorithm = try json.optionalInteger(entry["Algorithm"]) ?? 0
        let hash = algorithms.indices.contains(Int(clamping: algorithm)) ? algorithms[Int(algorithm)] : "\(algorithm)"
        let code = AuthenticatorCode(
            type: [1: "hotp", 2: "totp", 4: "steam"][type] ?? "\(type)", algorithm: hash,
            digits: try json.optionalInteger(entry["Digits"]), period: try json.optionalInteger(entry["Period"]),
            counter: try json.optionalInteger(entry["Counter"]))
        let seed = try filled(entry["Secret"])
        let names: [String]
        switch seed {
        case .some(let seed): names = categories[Self.hash(seed)] ?? []
        case .none: names = []
        }
        leaveOut("icon", entry["Icon"])
        if let count = try json.optionalInteger(entry["CopyCount"]), count > 0 { collector.leaveOut("number of uses") }
        json.skip("Ranking", of: entry)
        let issuer = try text(entry["Issuer"]) ?? ""
        try record(of: entry, issuer: issuer, user: try text(entry["Username"]), code, seed: seed) {
            record throws(ForeignFailure) in
            record.folder = names.first
            if names.count > 1 { record.describe("tags", names.dropFirst().joined(separator: ", ")) }
        }
    }
}

/// The encryption of a backup.
private struct StratumSeal {
    enum Kind: String, CaseIterable {
        /// Argon2id, then AES-256-GCM.
        case strong = "AUTHENTICATORPRO"
        /// PBKDF2 with SHA-1, then AES-256-CBC without authentication.
        case legacy = "AuthenticatorPro"

        var saltLength: Int { self == .strong ? 16 : 20 }
        var nonceLength: Int { self == .strong ? 12 : 16 }
    }

    // Both kinds have fixed costs.
    private static let argon2 = Argon2.Cost(iterations: 3, memoryInKiB: 65_536, lanes: 4)
    private static let rounds = 64_000

    private let kind: Kind
    private let salt: [UInt8]
    private let nonce: [UInt8]
    private let sealed: [UInt8]

    /// The kind of an encrypted backup; nil for a plain one, or another file.
    static func kind(of file: ForeignFile) -> Kind? { Kind.allCases.first { file.starts(with: $0.rawValue.utf8) } }

    init(_ kind: Kind, _ file: ForeignFile) throws(ForeignFailure) {
        self.kind = kind
        let parts = try file.bytes.withBytes { bytes throws(ForeignFailure) in
            var cursor = try ByteCursor(from: kind.rawValue.utf8.count, of: bytes)
            return (
                bytes.array(try cursor.take(kind.saltLength)), bytes.array(try cursor.take(kind.nonceLength)),
                bytes.array(try cursor.take(cursor.left))
            )
        }
        (salt, nonce, sealed) = parts
        guard !sealed.isEmpty, kind == .strong || sealed.count.isMultiple(of: 16) else { throw ByteCursor.early }
    }

    /// The backup.
    ///
    /// - Throws: `ForeignFailure`, `CryptographyFailure`, and what `secrets` throws.
    func open(_ secrets: any ForeignSecrets) throws -> ForeignJSON {
        var opened: ForeignJSON?
        try secrets.password(.file(.stratum)) { password in
            opened = try kind == .strong ? openStrong(password) : openLegacy(password)
        }
        guard let opened else { throw ForeignFailure.wrongPassword }
        return opened
    }

    private func openStrong(_ password: borrowing SecretBytes) throws -> ForeignJSON {
        guard let nonce = Nonce(bytes: nonce) else { throw ByteCursor.early }
        let key = try Argon2.derive(password: password, salt: salt, .id, Self.argon2, count: 32)
        guard let plaintext = try AuthenticatorSeal.open(sealed, key: key, nonce: nonce) else {
            throw ForeignFailure.wrongPasswordOrDamaged
        }
        return try ForeignJSON(plaintext)
    }

    /// Without authentication, only padding and JSON tell whether the password is right.
    private func openLegacy(_ password: borrowing SecretBytes) throws -> ForeignJSON {
        let key = try PBKDF2.derive(password: password, salt: salt.span, rounds: Self.rounds, hash: .sha1, count: 32)
        var plaintext = try BlockCipher.decrypt(sealed.span, .aes256CBC, key: key, iv: nonce.span)
        guard plaintext.removePadding(blockSize: 16) else { throw ForeignFailure.wrongPasswordOrDamaged }
        do throws(ForeignFailure) {
            return try ForeignJSON(plaintext)
        } catch .damaged {
            throw ForeignFailure.wrongPasswordOrDamaged
        }
    }
}
