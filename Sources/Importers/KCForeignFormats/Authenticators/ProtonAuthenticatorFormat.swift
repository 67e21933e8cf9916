internal import KCByteStreams
internal import KCCryptography
internal import KCExportFormats
package import KCItemSources
internal import KCKeychainModel

/// The export of Proton Authenticator, plain or encrypted with a password.
///
/// Source: protonpass/proton-pass-common, `proton-authenticator/src/entry/exporter.rs` and `password_exporter.rs`.
package struct ProtonAuthenticatorFormat: ForeignFormat {
    package let kind = ForeignKind.protonAuthenticator

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        input.file?.bytes.withBytes { bytes in
            let names = JSONHead.names(
                ["version", "entries", "entry_type", "uri", "salt", "content", "encrypted", "kdfParams"], in: bytes)
            return names.isSuperset(of: ["entries", "entry_type", "uri"])
                || names == ["version", "salt", "content"]
        } ?? false
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let outer = try ForeignJSON(file)
        try Self.requireVersion(of: outer)
        let isEncrypted = outer.root["entries"] == nil
        let json = isEncrypted ? try ProtonAuthenticatorSeal(outer).open(secrets) : outer
        if isEncrypted { try Self.requireVersion(of: json) }
        let collector = RecordCollector(format: name, date: file.modified)
        try ProtonAuthenticatorReader(json: json, collector: collector).add()
        collector.leaveOut(unknown: json.unread)
        return try collector.finish(details: isEncrypted ? "encrypted" : "", isPlaintext: !isEncrypted)
    }

    private static func requireVersion(of json: ForeignJSON) throws(ForeignFailure) {
        guard let version = json.integer(json.root["version"]) else { throw .damaged("it has no version") }
        guard version == 1 else { throw .unknownVariant("version \(version) of Proton Authenticator's exports") }
    }
}

/// Reads the entries of an export.
private struct ProtonAuthenticatorReader: JSONRecords {
    let json: ForeignJSON
    let collector: RecordCollector

    private static let steamScheme = "steam://"

    func add() throws(ForeignFailure) {
        var ids: Set<ExactText> = []
        let entries = try json.list(json.root["entries"], required: "its list of entries")
        for (index, entry) in entries.enumerated() {
            let name = entry["content"]?["name"]
            try collector.record(entry, of: json, title: name, number: index + 1) { () throws(ForeignFailure) in
                guard let id = try text(entry["id"]), !id.isEmpty else { throw .damaged("it has no ID") }
                guard ids.insert(id.exact).inserted else { throw .damaged("another record has the same ID") }
                try add(entry, id)
            }
        }
    }

    private func add(_ entry: ForeignJSON.Value, _ id: String) throws(ForeignFailure) {
        let content = try json.object(entry["content"])
        guard let uri = try filled(content?["uri"]) else { throw .damaged("it has no address") }
        let name = try text(content?["name"])
        // The address says what kind of entry it is.
        json.skip("entry_type", of: content)
        let steam = steam(uri, user: name)
        let address: SecretBytes
        switch consume steam {
        case .some(let steam): address = steam
        case .none: address = OneTimePasswordAddress.make(of: uri, issuer: name ?? "", user: nil)
        }
        let parts = OneTimePasswordParts(address)
        let record = RecordWriter(collector, identity: id, title: parts?.issuer ?? name ?? "")
        record.id = id
        try record.addUser(parts?.userName ?? name)
        try record.addOneTimePassword(address)
        if let note = try filled(entry["note"]) { try record.addNote(note) }
        try record.addUnread(of: entry, in: json)
    }

    /// The address of a code of Steam, whose seed Proton Authenticator writes in base64; nil for another one, and for text
    /// that is not base64.
    private func steam(_ uri: borrowing SecretBytes, user: String?) -> SecretBytes? {
        let start = Self.steamScheme.utf8.count
        let isSteam = uri.withBytes { $0.matches(Self.steamScheme.utf8, at: 0) }
        let period = OneTimePasswordParameters.standardPeriod
        guard isSteam, let parameters = OneTimePasswordParameters(.steam(period: period)) else { return nil }
        var seed = SecretBytes(capacity: uri.count)
        guard uri.withBytes({ Base64.decode($0.extracting(start...), into: &seed) }), !seed.isEmpty else {
            return nil
        }
        let text = seed.withBytes { Base32.encode($0) }
        return OneTimePasswordAddress.make(ofSeed: text, issuer: "Steam", user: user, parameters)
    }
}

/// The encryption of an export: Argon2id, then AES-256-GCM.
private struct ProtonAuthenticatorSeal {
    // The costs are fixed.
    private static let cost = Argon2.Cost(iterations: 2, memoryInKiB: 19 * 1_024, lanes: 1)
    private static let saltLength = 16
    private static let nonceLength = 12
    /// The text under which exports are encrypted, so that no other text of the program opens as one.
    private static let purpose = Array("proton.authenticator.export.v1".utf8)

    private let salt: [UInt8]
    private let nonce: Nonce
    private let sealed: [UInt8]

    init(_ json: ForeignJSON) throws(ForeignFailure) {
        guard let salt = json.text(json.root["salt"]).flatMap({ Base64.decode($0) }), salt.count == Self.saltLength
        else { throw .damaged("its salt is missing or of another length") }
        guard let content = json.text(json.root["content"]).flatMap({ Base64.decode($0) }),
            content.count >= Self.nonceLength + authenticationTagLength,
            let nonce = Nonce(bytes: Array(content.prefix(Self.nonceLength)))
        else { throw .damaged("its content is missing or not base64") }
        self.salt = salt
        self.nonce = nonce
        sealed = Array(content.dropFirst(Self.nonceLength))
    }

    /// The export.
    ///
    /// - Throws: `ForeignFailure`, `CryptographyFailure`, and what `secrets` throws.
    func open(_ secrets: any ForeignSecrets) throws -> ForeignJSON {
        var opened: ForeignJSON?
        try secrets.password(.file(.protonAuthenticator)) { password in
            let key = try Argon2.derive(password: password, salt: salt, .id, Self.cost, count: 32)
            guard
                let plaintext = try AuthenticatorSeal.open(
                    sealed, key: key, nonce: nonce, associatedData: Self.purpose)
            else { throw ForeignFailure.wrongPasswordOrDamaged }
            opened = try ForeignJSON(plaintext)
        }
        guard let opened else { throw ForeignFailure.wrongPassword }
        return opened
    }
}
