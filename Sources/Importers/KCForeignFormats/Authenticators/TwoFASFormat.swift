internal import KCByteStreams
internal import KCCryptography
package import KCItemSources
internal import KCKeychainModel

/// The backup of 2FAS Authenticator, plain or encrypted with a password.
///
/// Source: twofas/2fas-android, and what beemdevelopment/Aegis reads.
package struct TwoFASFormat: ForeignFormat {
    package let kind = ForeignKind.twoFAS

    private static let newest: Int64 = 4

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        input.file?.bytes.withBytes { bytes in
            let names = JSONHead.names(["services", "schemaVersion", "servicesEncrypted", "otp"], in: bytes)
            return names.contains("services".exact) && names.count > 1
        } ?? false
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let outer = try ForeignJSON(file)
        guard let version = outer.integer(outer.root["schemaVersion"]) else {
            throw ForeignFailure.damaged("it has no version")
        }
        guard (1...Self.newest).contains(version) else {
            throw ForeignFailure.unknownVariant("version \(version) of 2FAS's backups")
        }
        let collector = RecordCollector(format: name, date: file.modified)
        let groups = try Self.groups(outer)
        let isEncrypted = outer.root["servicesEncrypted"].map { !$0.isNull } ?? false
        let json = isEncrypted ? try TwoFASSeal(outer).open(secrets) : outer
        let services = isEncrypted ? json.root : outer.root["services"]
        try TwoFASReader(json: json, collector: collector, groups: groups)
            .add(json.list(services, required: "its list of services"))
        outer.skip(
            "schemaVersion", "appVersionCode", "appVersionName", "appOrigin", "updatedAt", "groups", "account",
            "servicesEncrypted", "reference", of: outer.root)
        collector.leaveOut(unknown: json.unread + (isEncrypted ? outer.unread : []))
        return try collector.finish(details: isEncrypted ? "encrypted" : "", isPlaintext: !isEncrypted)
    }

    /// The names of groups by ID, which are not encrypted.
    private static func groups(_ json: ForeignJSON) throws(ForeignFailure) -> [ExactText: String] {
        var groups: [ExactText: String] = [:]
        for group in try json.list(json.root["groups"]) {
            guard let id = try json.optionalText(group["id"]), let name = try json.optionalText(group["name"]) else {
                continue
            }
            groups[id.exact] = name
        }
        return groups
    }
}

/// Reads the services of a backup.
private struct TwoFASReader: JSONRecords {
    let json: ForeignJSON
    let collector: RecordCollector
    let groups: [ExactText: String]

    func add(_ services: [ForeignJSON.Value]) throws(ForeignFailure) {
        for (index, service) in services.enumerated() {
            try collector.record(service, of: json, title: service["name"], number: index + 1) {
                () throws(ForeignFailure) in
                guard service.isObject else { throw .damaged("it is not an object") }
                try add(service)
            }
        }
    }

    private func add(_ service: ForeignJSON.Value) throws(ForeignFailure) {
        let otp = try json.object(service["otp"])
        let code = AuthenticatorCode(
            type: try text(otp?["tokenType"])?.lowercased() ?? "totp", algorithm: try text(otp?["algorithm"]),
            digits: try json.optionalInteger(otp?["digits"]), period: try json.optionalInteger(otp?["period"]),
            counter: try json.optionalInteger(otp?["counter"]))
        let issuer = try text(otp?["issuer"])
        let label = try text(otp?["label"])
        let name = try text(service["name"]).flatMap { $0.isEmpty ? nil : $0 } ?? issuer ?? ""
        let user = try text(otp?["account"]).flatMap { $0.isEmpty ? nil : $0 } ?? label
        let group = try text(service["groupId"]).flatMap { groups[$0.exact] }
        let modified = collector.date(service["updatedAt"], of: json) { ForeignDate.milliseconds($0) }
        leaveOut("icon", service["badge"])
        // The address of the code, which has the same members, and the place and looks of the service.
        json.skip("link", "source", of: otp)
        json.skip("order", "icon", "type", "serviceTypeID", of: service)
        try record(of: service, issuer: name, user: user, code, seed: try filled(service["secret"])) {
            record throws(ForeignFailure) in
            record.folder = group
            record.modified = modified
            if let issuer, !issuer.isEmpty, issuer.exact != name.exact { record.describe("issuer", issuer) }
        }
    }
}

/// The encryption of a backup: `ciphertext:salt:nonce`, each in base64.
private struct TwoFASSeal {
    /// The number of rounds of PBKDF2, which the backup does not state.
    private static let rounds = 10_000

    private struct Sealed {
        let sealed: [UInt8]
        let salt: [UInt8]
        let nonce: Nonce

        init(_ text: String) throws(ForeignFailure) {
            let parts = text.exact.split(separator: ":", omittingEmptySubsequences: false).map { Base64.decode($0) }
            guard parts.count == 3, let sealed = parts[0], let salt = parts[1], !salt.isEmpty,
                let nonce = parts[2].flatMap({ Nonce(bytes: $0) })
            else { throw .damaged("its encrypted part does not consist of three pieces in base64") }
            self.sealed = sealed
            self.salt = salt
            self.nonce = nonce
        }

        /// The plaintext; nil if the password is wrong or the ciphertext was altered.
        func open(_ password: borrowing SecretBytes) throws(CryptographyFailure) -> SecretBytes? {
            let key = try PBKDF2.derive(
                password: password, salt: salt.span, rounds: TwoFASSeal.rounds, hash: .sha256, count: 32)
            return try AuthenticatorSeal.open(sealed, key: key, nonce: nonce)
        }
    }

    private let services: Sealed
    /// A text that only serves to verify the password.
    private let reference: Sealed?

    init(_ json: ForeignJSON) throws(ForeignFailure) {
        guard let text = json.text(json.root["servicesEncrypted"]) else {
            throw .damaged("its encrypted part is not a string")
        }
        services = try Sealed(text)
        reference = try json.optionalText(json.root["reference"]).map { text throws(ForeignFailure) in try Sealed(text)
        }
    }

    /// The services, as a list.
    ///
    /// - Throws: `ForeignFailure`, `CryptographyFailure`, and what `secrets` throws.
    func open(_ secrets: any ForeignSecrets) throws -> ForeignJSON {
        var opened: ForeignJSON?
        try secrets.password(.file(.twoFAS)) { password in
            guard let plaintext = try services.open(password) else {
                guard let reference else { throw ForeignFailure.wrongPasswordOrDamaged }
                let isRight = try reference.open(password) != nil
                throw isRight ? ForeignFailure.damaged("its services were altered") : .wrongPasswordOrDamaged
            }
            opened = try ForeignJSON(plaintext)
        }
        guard let opened else { throw ForeignFailure.wrongPassword }
        return opened
    }
}
