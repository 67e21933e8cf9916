internal import KCByteStreams
internal import KCExportFormats
internal import KCItemSources
internal import KCKeychainModel

extension CXFRecords {
    /// The item for which kcbackup's export wrote this record; nil for an ordinary record.
    func returned(
        _ value: ForeignJSON.Value, _ id: String, _ title: String, _ user: String?, _ record: RecordWriter
    ) -> ReturnedItem? {
        guard let item = value["item"], let bytes = CXF.decode(SecretBytes(copying: id.utf8)) else { return nil }
        let uuid = bytes.withBytes { ItemUUID(bytes: $0) }
        // The records of notes, one-time passwords and networks have no user name.
        let hasAccount = (item["attributes"]?["acct"]).map { $0.isString } ?? false
        let isLogin = user != nil || !hasAccount
        return ReturnedItem(
            line: json.source(item), id: uuid, title: title, account: user, addresses: record.addresses,
            modified: record.modified, ignoringAccount: !isLogin)
    }

    /// Removes the credential that holds an item's secret, and returns the secret; nil if there is none.
    func takeSecret(
        _ item: ReturnedItem, _ value: ForeignJSON.Value, _ credentials: inout [ForeignJSON.Value]
    ) throws(ForeignFailure) -> SecretBytes? {
        func take(_ type: String, _ isIt: (ForeignJSON.Value) -> Bool = { _ in true }) -> ForeignJSON.Value? {
            guard let place = credentials.firstIndex(where: { self.type($0) == type && isIt($0) }) else { return nil }
            // The rest of the credential is in the item itself.
            json.skip(credentials[place])
            return credentials.remove(at: place)
        }
        if let bytes = take("custom-fields", { self.bytes(in: $0) != nil }) { return self.bytes(in: bytes) }
        switch item.kind {
        case .note: if let note = take("note") { return try secret(of: note["content"]) }
        case .wifi: if let network = take("wifi") { return try secret(of: network["passphrase"]) }
        case .oneTimePassword:
            if let code = take("totp") {
                let own = json.secret(value["secret"])
                return matches(own, code) ? own : try oneTimePassword(code)
            }
        case .passkey:
            if let passkey = take("passkey") {
                guard let own = json.secret(value["secret"]), let object = CXF.passkey(own),
                    object.isEqual(to: json.source(passkey))
                else { return withoutType(passkey) }
                return own
            }
        case .password, .other: break
        }
        guard let login = take("basic-auth") else { return nil }
        return try secret(of: login["password"])
    }

    private func bytes(in credential: ForeignJSON.Value) -> SecretBytes? {
        guard let fields = credential["fields"]?.values, fields.count == 1,
            json.text(fields[0]["label"]) == ExportName.bytes, let text = json.secret(fields[0]["value"])
        else { return nil }
        var bytes = SecretBytes(capacity: text.count)
        guard text.withBytes({ Base64.decode($0, into: &bytes) }) else { return nil }
        return consume bytes
    }

    /// True if an `otpauth:` address and a credential agree.
    private func matches(_ address: borrowing SecretBytes?, _ credential: ForeignJSON.Value) -> Bool {
        switch address {
        case .none: return false
        case .some(let address):
            guard let parts = OneTimePasswordParts(address), let code = CXF.Code(parts),
                let seed = json.secret(credential["secret"])
            else { return false }
            let isSeed = address.withBytes { SecretBytes($0.extracting(parts.seed)).isEqual(to: seed) }
            return isSeed && json.integer(credential["period"]) == Int64(code.period)
                && json.integer(credential["digits"]) == Int64(code.digits)
                && json.text(credential["algorithm"]) == code.algorithm
                && json.text(credential["issuer"]) == parts.issuer
                && json.text(credential["username"]) == parts.userName
        }
    }
}
