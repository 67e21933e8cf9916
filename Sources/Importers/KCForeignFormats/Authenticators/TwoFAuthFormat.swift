internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// The export of 2FAuth: its accounts, or a list of their addresses.
///
/// Source: Bubka/2FAuth, `TwoFAuthMigrator.php`.
package struct TwoFAuthFormat: ForeignFormat {
    package let kind = ForeignKind.twoFAuth

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        input.file?.bytes.withBytes { bytes in
            let names = JSONHead.names(["app", "datetime", "data", "otp_type", "legacy_uri"], in: bytes)
            if names.isSuperset(of: ["data", "otp_type", "legacy_uri"]) { return true }
            let head = bytes.extracting(..<min(bytes.count, 256))
            return names.isSuperset(of: ["app", "datetime", "data"]) && head.holds("\"2fauth_")
        } ?? false
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let json = try ForeignJSON(file)
        if let schema = json.integer(json.root["schema"]), schema != 1 {
            throw ForeignFailure.unknownVariant("version \(schema) of 2FAuth's exports")
        }
        let collector = RecordCollector(format: name, date: file.modified)
        let reader = TwoFAuthReader(json: json, collector: collector)
        for (index, account) in try json.list(json.root["data"], required: "its list of accounts").enumerated() {
            try collector.record(account, of: json, title: account["service"], number: index + 1) {
                () throws(ForeignFailure) in try reader.add(account)
            }
        }
        // These members describe the export, not its accounts.
        json.skip("app", "datetime", of: json.root)
        collector.leaveOut(unknown: json.unread)
        return try collector.finish(details: "", isPlaintext: true)
    }
}

/// Reads the accounts of an export.
private struct TwoFAuthReader: JSONRecords {
    let json: ForeignJSON
    let collector: RecordCollector

    func add(_ account: ForeignJSON.Value) throws(ForeignFailure) {
        if let address = try account.isString ? secret(account) : nil { return try add(address: address) }
        guard account.isObject, let type = try text(account["otp_type"])?.lowercased() else {
            throw .damaged("its kind of code is missing")
        }
        let code = AuthenticatorCode(
            type: type == "steamtotp" ? "steam" : type, algorithm: try text(account["algorithm"]),
            digits: try json.optionalInteger(account["digits"]), period: try json.optionalInteger(account["period"]),
            counter: try json.optionalInteger(account["counter"]))
        leaveOut("icon", account["icon"])
        // The picture of the icon, and the address with the parameters above.
        json.skip("icon_mime", "icon_file", "legacy_uri", of: account)
        try record(
            of: account, issuer: try text(account["service"]) ?? "", user: try text(account["account"]), code,
            seed: try filled(account["secret"])
        ) { _ in }
    }

    private func add(address: borrowing SecretBytes) throws(ForeignFailure) {
        let made = OneTimePasswordAddress.make(of: address, issuer: "", user: nil)
        guard let parts = OneTimePasswordParts(made) else {
            throw .damaged("it is not an otpauth address with a base32 seed, of a kind that is known")
        }
        let record = RecordWriter(collector, issuer: parts.issuer ?? "", user: parts.userName, parts.parameters)
        try record.addUser(parts.userName)
        try record.addOneTimePassword(made)
    }
}
