internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// The logins of `logins.json`.
///
/// Source: `toolkit/components/passwordmgr/storage-json.sys.mjs` of Firefox.
struct FirefoxLogins: JSONRecords {
    let json: ForeignJSON
    let collector: RecordCollector
    let keys: FirefoxKeys

    /// - Throws: `ForeignFailure`, `CryptographyFailure`.
    func read() throws {
        let root = json.root
        let logins = try json.list(root["logins"], required: "its list of logins")
        for (index, login) in logins.enumerated() {
            let name = json.text(login["hostname"]).flatMap { $0.isEmpty ? nil : $0 } ?? "login \(index + 1)"
            if try !collector.record(name, { try add(login) }) { json.skip(login) }
        }
        try leaveOut("record of a leaked password", each: root["potentiallyVulnerablePasswords"])
        json.skip("nextId", "version", "sync", "dismissedBreachAlertsByLoginGUID", of: root)
        collector.leaveOut(unknown: json.unread)
    }

    private func add(_ login: ForeignJSON.Value) throws {
        guard login.isObject else { throw ForeignFailure.damaged("a login is not an object") }
        // The record that synchronization leaves of a deleted login.
        if json.flag(login["deleted"]) == true {
            collector.leaveOut("record of a deletion")
            return json.skip(login)
        }
        guard let host = try text(login["hostname"]) else { throw ForeignFailure.damaged("it has no address") }
        if host.exact.hasPrefix("chrome://FirefoxAccounts") {
            collector.leaveOut("key of a Firefox account")
            return json.skip(login)
        }
        let user = try decrypted(login["encryptedUsername"], "user name")
        guard let name = user.withBytes({ $0.utf8Text }) else {
            throw ForeignFailure.damaged("its user name is not UTF-8")
        }
        let password: SecretBytes? = try decrypted(login["encryptedPassword"], "password")
        let id = try text(login["guid"])
        let names = RecordWriter.identity(
            of: RecordWriter.names(title: "", addresses: [host], user: name, password: password))
        let ordinal = id == nil ? collector.ordinal(of: names) : 0
        let record = RecordWriter(
            collector, identity: id.map { RecordWriter.identity(of: [$0]) } ?? names, ordinal: ordinal, title: "")
        record.id = id
        record.addresses = [host]
        record.authentication = try text(login["httpRealm"]).map { .http(realm: $0) } ?? .form
        record.created = date(login["timeCreated"])
        record.modified = date(login["timePasswordChanged"])
        leaveOut(login, host: host)
        try record.addLogin(user: name.isEmpty ? nil : name, password: password)
        try collector.part("unknown fields", of: record.title) {
            try addUnknownFields(login["encryptedUnknownFields"], to: record)
        }
        try record.addUnread(of: login, in: json)
        try record.finish()
    }

    /// Counts what else there is to a login.
    private func leaveOut(_ login: ForeignJSON.Value, host: String) {
        if let form = json.text(login["formSubmitURL"]), !form.isEmpty, form.exact != host.exact {
            collector.leaveOut("address of a form")
        }
        leaveOut("name of a form's field", login["usernameField"])
        leaveOut("name of a form's field", login["passwordField"])
        leaveOut("date of last use", login["timeLastUsed"])
        json.skip(
            "id", "formSubmitURL", "encType", "timesUsed", "timeLastBreachAlertDismissed", "syncCounter", "everSynced",
            of: login)
    }

    /// Adds what another version of the program has stored, and this one keeps without knowing it: a JSON object.
    private func addUnknownFields(_ value: ForeignJSON.Value?, to record: RecordWriter) throws {
        guard let value, !json.isEmpty(value) else { return json.skip(value) }
        let fields = try decrypted(value, "unknown field")
        let isNothing = fields.withBytes { bytes in
            bytes.isEmpty || ["null", "{}", "undefined"].contains { bytes.isEqual(to: Array($0.utf8).span) }
        }
        if !isNothing { try record.addField("unknown fields", fields) }
    }

    private func decrypted(_ value: ForeignJSON.Value?, _ what: String) throws -> SecretBytes {
        guard let text = try text(value) else { throw ForeignFailure.damaged("it has no \(what)") }
        var bytes: [UInt8] = []
        guard Base64.decode(text.utf8.span, into: &bytes) else {
            throw ForeignFailure.damaged("its \(what) is not base64")
        }
        return try keys.decrypt(bytes)
    }

    private func date(_ value: ForeignJSON.Value?) -> Timestamp? {
        collector.date(value, of: json) { ForeignDate.milliseconds($0) }
    }
}
