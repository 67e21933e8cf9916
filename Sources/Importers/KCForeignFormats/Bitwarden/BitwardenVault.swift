internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// The records of an unencrypted Bitwarden export.
struct BitwardenVault: JSONRecords {
    let json: ForeignJSON
    let collector: RecordCollector
    /// The names of folders and collections, by ID.
    private var folders: [ExactText: String] = [:]
    private let zip: ForeignZip?
    /// The files attached to records, by the record's ID, with their paths in the zip file.
    private var attachments: [ExactText: [(name: String, path: String)]] = [:]

    /// - Parameter zip: the export with attachments, if it is one.
    init(_ json: ForeignJSON, _ zip: ForeignZip?, _ collector: RecordCollector) throws(ForeignFailure) {
        self.json = json
        self.collector = collector
        self.zip = zip
        for path in zip?.rest ?? [] {
            let parts = path.exact.split(separator: "/", maxSplits: 2)
            if parts.count == 3 { attachments[parts[1].exact, default: []].append((parts[2], path)) }
        }
        for list in ["folders", "collections"] {
            for folder in try json.list(json.root[list]) {
                guard let id = try text(folder["id"]), let name = try text(folder["name"]) else { continue }
                folders[id.exact] = name
            }
        }
    }

    /// Adds the items of all records.
    ///
    /// - Throws: as `RecordCollector.add`, `ForeignFailure.damaged`.
    func add() throws(ForeignFailure) {
        let items = try json.list(json.root["items"], required: "its list of items")
        var seen: Set<ExactText> = []
        for (index, item) in items.enumerated() {
            try collector.record(item, of: json, title: item["name"], number: index + 1) { () throws(ForeignFailure) in
                try add(item, &seen)
            }
        }
        // They describe the export and its folders, not records.
        json.skip("encrypted", "folders", "collections", of: json.root)
        collector.leaveOut(unknown: json.unread)
    }

    /// - Parameter ids: those of the items so far.
    private func add(_ item: ForeignJSON.Value, _ ids: inout Set<ExactText>) throws(ForeignFailure) {
        guard item.isObject else { throw .damaged("it is not an object") }
        let id = try text(item["id"])
        if let id, !id.isEmpty, !ids.insert(id.exact).inserted { throw .damaged("another item has the same ID") }
        if try isLeftOut(item) { return json.skip(item) }
        var addresses: [String] = []
        let login = try json.object(item["login"])
        for uri in try json.list(login?["uris"]) {
            if let address = try text(json.object(uri)?["uri"]) { addresses.append(address) }
            if json.integer(uri["match"]) != nil { collector.leaveOut("rule for matching an address") }
            json.skip("uriChecksum", of: uri)
        }
        let user = try text(login?["username"])
        let title = try text(item["name"]) ?? ""
        let key = RecordWriter.identity(
            of: RecordWriter.names(
                title: title, addresses: addresses, user: user, password: json.secret(login?["password"])))
        let ordinal = collector.ordinal(of: key)
        let identity = id.flatMap { $0.isEmpty ? nil : $0 }
        let record = RecordWriter(
            collector, identity: identity ?? key, ordinal: identity == nil ? ordinal : 0, title: title)
        record.id = identity
        record.addresses = addresses
        record.folder = try folder(of: item)
        record.created = try date(item["creationDate"])
        record.modified = try date(item["revisionDate"])
        try addParts(of: item, user, record)
        for attachment in attachments[(id ?? "").exact] ?? [] {
            guard let member = zip?.take(attachment.path) else { continue }
            try record.addAttachment(attachment.name, member.bytes.copy())
        }
        try record.addUnread(of: item, in: json)
        try record.finish()
    }

    private func addParts(of item: ForeignJSON.Value, _ user: String?, _ record: RecordWriter) throws(ForeignFailure) {
        let type = json.integer(item["type"])
        if type != 1 { try record.addUser(user) }
        switch type {
        case 1: try addLogin(item, user, record)
        case 2: break
        case 3: try addObject("card", item["card"], record)
        case 4: try addObject("identity", item["identity"], record)
        case 5: try addKey(item["sshKey"], record)
        case .some:
            // Records of unknown types are kept in full.
            return try record.addObject("record of another type", json.source(item))
        case nil: throw .damaged("an item has no type")
        }
        // Its own kind of secure note; there is only one.
        json.skip("type", of: item["secureNote"])
        if let notes = try filled(item["notes"]) { try record.addNote(notes, isWhole: type == 2) }
        for field in try json.list(item["fields"]) {
            // A linked field only repeats another part of the record.
            if json.integer(field["type"]) == 3 {
                collector.leaveOut("linked field")
                json.skip(field)
            } else if type == 1, try exportedBytes(of: item) != nil, try text(field["name"]) == ExportName.bytes {
                // The field holds the secret of the login.
                continue
            } else if let value = try secret(field["value"]) {
                try record.addField(try text(field["name"]) ?? "", value)
            } else {
                collector.leaveOut("field without a value")
                json.skip(field)
            }
        }
    }

    private func addLogin(_ item: ForeignJSON.Value, _ user: String?, _ record: RecordWriter) throws(ForeignFailure) {
        guard let login = item["login"], login.isObject else { throw .damaged("a login has no 'login'") }
        let passkeys = try json.list(login["fido2Credentials"])
        if let password = try secret(login["password"]) {
            try record.addLogin(user: user, password: password)
        } else if let bytes = try exportedBytes(of: item) {
            try record.addLogin(user: user, password: bytes)
        } else if user != nil || passkeys.isEmpty && !record.addresses.isEmpty {
            try record.addLogin(user: user, password: nil)
        }
        if login["passwordRevisionDate"]?.isString == true {
            collector.leaveOut("date of a password")
            json.skip("passwordRevisionDate", of: login)
        }
        if let seed = try filled(login["totp"]) { try record.addOneTimePassword(seed) }
        for passkey in passkeys { try addPasskey(passkey, record) }
    }

    /// The secret that kcbackup's export wrote as a field because it is not text; nil if there is none.
    private func exportedBytes(of item: ForeignJSON.Value) throws(ForeignFailure) -> SecretBytes? {
        guard item["login"]?["password"]?.isString != true else { return nil }
        for field in try json.list(item["fields"]) where try text(field["name"]) == ExportName.bytes {
            guard let value = try secret(field["value"]) else { return nil }
            var bytes = SecretBytes(capacity: value.count)
            guard value.withBytes({ Base64.decode($0, into: &bytes) }) else { return nil }
            return consume bytes
        }
        return nil
    }

    /// Adds a passkey in the form of the Credential Exchange Format.
    private func addPasskey(_ passkey: ForeignJSON.Value, _ record: RecordWriter) throws(ForeignFailure) {
        guard let host = try text(passkey["rpId"]), let key = try secret(passkey["keyValue"]) else {
            throw .damaged("a passkey has no key")
        }
        var own = Passkey(id: try text(passkey["credentialId"]) ?? "", host: host, key: key)
        own.userName = try text(passkey["userName"]) ?? ""
        own.displayName = try text(passkey["userDisplayName"]) ?? ""
        own.userHandle = Passkey.unpadded(try text(passkey["userHandle"]) ?? "")
        // The standard has no counter, but a server may refuse one that is lower than the last it has seen.
        if let counter = try text(passkey["counter"]), counter != "0" { own.add("counter", counter) }
        // These have no place in the standard either, but its readers ignore what they do not know.
        for name in ["rpName", "discoverable", "creationDate"] { own.add(name, try text(passkey[name])) }
        // The key itself says what it is.
        json.skip("keyType", "keyAlgorithm", "keyCurve", of: passkey)
        try record.addPasskey(own)
    }

    private func addKey(_ key: ForeignJSON.Value?, _ record: RecordWriter) throws(ForeignFailure) {
        guard let key, let secret = try secret(key["privateKey"]) else { throw .damaged("a key has no 'privateKey'") }
        for name in ["publicKey", "keyFingerprint"] { record.describe(name, try text(key[name])) }
        try record.addPrivateKey(secret)
    }

    private func addObject(
        _ kind: String, _ object: ForeignJSON.Value?, _ record: RecordWriter
    ) throws(ForeignFailure) {
        guard let object, object.isObject else { throw .damaged("an item does not have the members of its type") }
        try record.addObject(kind, json.source(object))
    }

    /// Counts what has no place in a keychain; true if the whole record is left out.
    private func isLeftOut(_ item: ForeignJSON.Value) throws(ForeignFailure) -> Bool {
        if try text(item["deletedDate"]) != nil {
            collector.leaveOut("record in the trash")
            return true
        }
        if try text(item["archivedDate"]) != nil {
            collector.leaveOut("archived record")
            return true
        }
        // Whose it is; the vault or organization is that of the export.
        json.skip("organizationId", of: item)
        if json.flag(item["favorite"]) == true { collector.leaveOut("favorite mark") }
        if let reprompt = json.integer(item["reprompt"]), reprompt != 0 { collector.leaveOut("reprompt mark") }
        try leaveOut("earlier password", each: item["passwordHistory"])
        return false
    }

    /// The folder, or else the collections of an item.
    private func folder(of item: ForeignJSON.Value) throws(ForeignFailure) -> String? {
        var names: [String] = []
        for id in try [text(item["folderId"])].compactMap({ $0 }) + texts(item["collectionIds"]) {
            if let name = folders[id.exact] { names.append(name) } else { collector.leaveOut("folder without a name") }
        }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    private func date(_ value: ForeignJSON.Value?) throws(ForeignFailure) -> Timestamp? {
        guard let text = try text(value) else { return nil }
        let date = ForeignDate.iso(text)
        if date == nil { collector.leaveOut("unreadable date") }
        return date
    }
}
