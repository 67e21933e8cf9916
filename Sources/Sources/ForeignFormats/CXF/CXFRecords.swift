internal import ByteStreams
internal import ItemSources
internal import KeychainModel

/// Makes keychain items from the items of one account.
struct CXFRecords {
    private let document: ForeignJSON
    private let account: ForeignJSON.Value
    private let format: String
    private let accountID: String
    /// The collection of each item, by the item's ID.
    private var folders: [String: String] = [:]

    // The kinds of credentials that become a single JSON object, with their names in messages.
    private static let objects = [
        "address": "address", "credit-card": "card", "drivers-license": "driver's licence",
        "identity-document": "identity document", "passport": "passport", "person-name": "name", "api-key": "API key",
    ]

    init(_ document: ForeignJSON, _ account: ForeignJSON.Value, _ format: String) {
        self.document = document
        self.account = account
        self.format = format
        accountID = document.text(account["id"]) ?? ""
        collect(account["collections"]?.values ?? [], in: [])
    }

    private mutating func collect(_ collections: [ForeignJSON.Value], in path: [String]) {
        for collection in collections {
            let path = path + [document.text(collection["title"]) ?? ""]
            for item in collection["items"]?.values ?? [] {
                guard let id = document.text(item["item"]) ?? document.text(item) else { continue }
                folders[id] = folders[id] ?? path.joined(separator: "/")
            }
            collect(collection["subCollections"]?.values ?? [], in: path)
        }
    }

    /// - Throws: `ForeignFailure`.
    func add(to collector: inout RecordCollector) throws(ForeignFailure) {
        var seen: Set<[UInt8]> = []
        for item in account["items"]?.values ?? [] {
            guard item.isObject, let id = document.text(item["id"]) else { throw .damaged("an item has no ID") }
            guard seen.insert(Array(id.utf8)).inserted else { throw .damaged("two of its items have the same ID") }
            try add(item, id, to: &collector)
        }
    }

    private func add(
        _ item: ForeignJSON.Value, _ id: String, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        let title = document.text(item["title"]) ?? ""
        var record = RecordWriter(format: format, identity: "\(accountID)\n\(id)", title: title)
        record.id = id
        record.folder = folders[id]
        record.created = ForeignDate.seconds(document.integer(item["creationAt"]))
        record.modified = ForeignDate.seconds(document.integer(item["modifiedAt"]))
        var addresses = (item["scope"]?["urls"]?.values ?? []).compactMap { document.text($0) }
        for app in item["scope"]?["androidApps"]?.values ?? [] {
            if let bundle = document.text(app["bundleId"]) { addresses.append("androidapp://" + bundle) }
        }
        record.addresses = addresses
        let tags = (item["tags"]?.values ?? []).compactMap { document.text($0) }.filter { !$0.isEmpty }
        if !tags.isEmpty { record.extra.append(ExtraAttribute(name: "tags", value: tags.joined(separator: ";"))) }
        if item["favorite"]?.flag == true { collector.leaveOut("favorite mark") }
        if document.text(item["subtitle"])?.isEmpty == false { collector.leaveOut("subtitle") }

        var credentials = item["credentials"]?.values ?? []
        let user = credentials.lazy.filter { type($0) == "basic-auth" }.compactMap(userName).first
        record.user = user
        let extensions = item["extensions"]?.values ?? []
        collector.leaveOut(
            "extension of another program", extensions.count { document.text($0["name"]) != ExportName.item })
        if let own = extensions.first(where: { document.text($0["name"]) == ExportName.item }),
            let returned = returned(own, id, title, record)
        {
            let secret = takeSecret(returned, own, &credentials)
            try collector.add(
                RecordPart(
                    "item", returned.draft, secret: secret, record: "\(accountID)\n\(id)", part: "item",
                    name: record.title))
            record.omitAddresses()
        }
        // The logins come first, since the others belong to the first of them.
        for login in credentials where type(login) == "basic-auth" {
            record.user = userName(of: login)
            try record.addLogin(secret(of: login["password"]), to: &collector)
        }
        record.user = user
        for credential in credentials where type(credential) != "basic-auth" {
            try add(credential, &record, to: &collector)
        }
        if !isCounted(credentials) { try record.finish(to: &collector) }
    }

    /// True if each credential is one of those that are left out and counted.
    private func isCounted(_ credentials: [ForeignJSON.Value]) -> Bool {
        !credentials.isEmpty && credentials.allSatisfy { ["file", "item-reference"].contains(type($0)) }
    }

    /// The user name of a login; nil if it is empty.
    private func userName(of login: ForeignJSON.Value) -> String? {
        text(of: login["username"]).flatMap { $0.isEmpty ? nil : $0 }
    }

    private func type(_ credential: ForeignJSON.Value) -> String {
        CXF.typeName(document.text(credential["type"]) ?? "")
    }

    /// The value of a field that is not a secret.
    private func text(of field: ForeignJSON.Value?) -> String? {
        document.text(field?["value"]) ?? document.text(field)
    }

    /// The value of a field; in drafts it is not wrapped in an object.
    private func secret(of field: ForeignJSON.Value?) -> SecretBytes? {
        if let value = document.secret(field?["value"]) { return value }
        return document.secret(field)
    }

    private func add(
        _ credential: ForeignJSON.Value, _ record: inout RecordWriter, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        let type = type(credential)
        switch type {
        case "totp":
            guard let address = oneTimePassword(credential) else {
                throw .damaged("a one-time password has no seed")
            }
            try record.addOneTimePassword(address, to: &collector)
        case "passkey":
            guard let host = document.text(credential["rpId"]) else { throw .damaged("a passkey has no host") }
            try record.addPasskey(
                host: host, user: document.text(credential["username"]) ?? document.text(credential["userName"]),
                withoutType(credential), to: &collector)
        case "note":
            guard let content = secret(of: credential["content"]) else { throw .damaged("a note has no content") }
            try record.addNote(content, isWhole: record.user == nil, to: &collector)
        case "ssh-key":
            guard let text = document.secret(credential["privateKey"]), let key = CXF.decode(text) else {
                throw .damaged("a key is not base64")
            }
            if document.text(credential["keyComment"])?.isEmpty == false { collector.leaveOut("comment of a key") }
            try record.addPrivateKey(key, to: &collector)
        case "wifi": try addNetwork(credential, record, to: &collector)
        case "custom-fields":
            for field in credential["fields"]?.values ?? [] {
                let name = document.text(field["label"]) ?? document.text(credential["label"]) ?? ""
                guard let value = secret(of: field) else { throw .damaged("a field has no value") }
                try record.addField(name, value, to: &collector)
            }
        case "generated-password":
            guard let password = secret(of: credential["password"]) else { throw .damaged("a password is missing") }
            try record.addField("generated password", password, to: &collector)
        case "file": collector.leaveOut("file beside the JSON")
        case "item-reference": collector.leaveOut("reference to another item")
        default:
            if Self.objects[type] == nil { collector.remark("credentials of unknown kinds are kept as JSON") }
            try record.addObject(Self.objects[type] ?? "other", withoutType(credential), to: &collector)
        }
    }

    private func withoutType(_ credential: ForeignJSON.Value) -> SecretBytes {
        var object = SecretJSON()
        for member in credential.members where member.name != "type" {
            object.add(member.name, json: document.source(member.value))
        }
        return object.finish()
    }

    /// The `otpauth:` address of a one-time password; nil without a seed.
    private func oneTimePassword(_ credential: ForeignJSON.Value) -> SecretBytes? {
        guard let seed = document.secret(credential["secret"]) else { return nil }
        func encoded(_ name: String) -> String? {
            document.text(credential[name]).flatMap { $0.isEmpty ? nil : OneTimePasswordAddress.encoded($0) }
        }
        let issuer = encoded("issuer")
        let name = [issuer, encoded("username")].compactMap { $0 }.joined(separator: ":")
        var address = SecretBytes(copying: "otpauth://totp/\(name)?secret=".utf8)
        seed.withBytes { address.append($0) }
        if let issuer { address.append(utf8: "&issuer=\(issuer)") }
        let period = document.integer(credential["period"]) ?? 30
        let digits = document.integer(credential["digits"]) ?? 6
        let algorithm = (document.text(credential["algorithm"]) ?? "sha1").uppercased()
        if period != 30 { address.append(utf8: "&period=\(period)") }
        if digits != 6 { address.append(utf8: "&digits=\(digits)") }
        if algorithm != "SHA1" { address.append(utf8: "&algorithm=\(OneTimePasswordAddress.encoded(algorithm))") }
        return address
    }

    /// Adds a Wi-Fi password with the attributes that Apple uses for it.
    private func addNetwork(
        _ credential: ForeignJSON.Value, _ record: RecordWriter, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        let name = text(of: credential["ssid"]) ?? record.title
        var draft = ItemDraft(itemClass: .genericPassword)
        draft.attributes[.svce] = .text("AirPort")
        draft.attributes[.acct] = .text(name)
        draft.attributes[.labl] = .text(name)
        draft.attributes[.desc] = .text("AirPort network password")
        if let created = record.created { draft.attributes[.cdat] = .date(created) }
        if let modified = record.modified { draft.attributes[.mdat] = .date(modified) }
        draft.extra = [ExtraAttribute(name: "source.format", value: format)]
        if let id = record.id { draft.extra.append(ExtraAttribute(name: "source.id", value: id)) }
        try collector.add(
            RecordPart(
                "Wi-Fi password", draft, secret: secret(of: credential["passphrase"]),
                record: "\(accountID)\n\(record.id ?? "")", part: "wifi \(name)", name: record.title))
    }
}

extension CXFRecords {
    /// The item for which kcbackup's export wrote this record; nil for an ordinary record.
    private func returned(
        _ value: ForeignJSON.Value, _ id: String, _ title: String, _ record: RecordWriter
    ) -> ReturnedItem? {
        guard let item = value["item"], let bytes = CXF.decode(SecretBytes(copying: id.utf8)) else { return nil }
        let uuid = bytes.withBytes { ItemUUID(bytes: $0) }
        // The records of notes, one-time passwords and networks have no user name.
        let hasAccount = (item["attributes"]?["acct"]).map { $0.isString } ?? false
        let isLogin = (record.user != nil) || !hasAccount
        return ReturnedItem(
            line: document.source(item), id: uuid, title: title, account: record.user, addresses: record.addresses,
            modified: record.modified, ignoringAccount: !isLogin)
    }

    /// Removes the credential that holds an item's secret, and returns the secret; nil if there is none.
    private func takeSecret(
        _ item: ReturnedItem, _ value: ForeignJSON.Value, _ credentials: inout [ForeignJSON.Value]
    ) -> SecretBytes? {
        func take(_ type: String, _ isIt: (ForeignJSON.Value) -> Bool = { _ in true }) -> ForeignJSON.Value? {
            credentials.firstIndex { self.type($0) == type && isIt($0) }.map { credentials.remove(at: $0) }
        }
        if let bytes = take("custom-fields", { self.bytes(in: $0) != nil }) { return self.bytes(in: bytes) }
        switch item.kind {
        case .note: if let note = take("note") { return secret(of: note["content"]) }
        case .wifi: if let network = take("wifi") { return secret(of: network["passphrase"]) }
        case .oneTimePassword:
            if let code = take("totp") {
                let own = document.secret(value["secret"])
                return matches(own, code) ? own : oneTimePassword(code)
            }
        case .passkey:
            if let passkey = take("passkey") {
                guard let own = document.secret(value["secret"]), let object = CXF.passkey(own),
                    Self.areEqual(object, document.source(passkey))
                else { return withoutType(passkey) }
                return own
            }
        case .password, .other: break
        }
        return take("basic-auth").flatMap { secret(of: $0["password"]) }
    }

    private func bytes(in credential: ForeignJSON.Value) -> SecretBytes? {
        guard let fields = credential["fields"]?.values, fields.count == 1, let field = fields.first,
            document.text(field["label"]) == ExportName.bytes, let text = secret(of: field)
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
            guard let parts = OneTimePasswordParts(address), let seed = document.secret(credential["secret"]) else {
                return false
            }
            let isSeed = address.withBytes { Self.areEqual(SecretBytes($0.extracting(parts.seed)), seed) }
            return isSeed && document.integer(credential["period"]) == Int64(parts.period)
                && document.integer(credential["digits"]) == Int64(parts.digits)
                && document.text(credential["algorithm"]) == parts.algorithm
                && document.text(credential["issuer"]) == parts.issuer
                && document.text(credential["username"]) == parts.userName
        }
    }

    private static func areEqual(_ one: borrowing SecretBytes, _ other: borrowing SecretBytes) -> Bool {
        one.withBytes { one in
            other.withBytes { other in
                one.count == other.count && one.indices.allSatisfy { one[$0] == other[$0] }
            }
        }
    }
}
