internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

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

    /// - Throws: `ForeignFailure.damaged`.
    init(_ document: ForeignJSON, _ account: ForeignJSON.Value, _ format: String) throws(ForeignFailure) {
        self.document = document
        self.account = account
        self.format = format
        accountID = try document.optionalText(account["id"]) ?? ""
        try collect(document.list(account["collections"]), in: [])
    }

    private mutating func collect(
        _ collections: [ForeignJSON.Value], in path: [String]
    ) throws(ForeignFailure) {
        for collection in collections {
            let path = path + [try document.optionalText(collection["title"]) ?? ""]
            for item in try document.list(collection["items"]) {
                guard let id = document.text(item["item"]) ?? document.text(item) else { continue }
                folders[id] = folders[id] ?? path.joined(separator: "/")
            }
            try collect(document.list(collection["subCollections"]), in: path)
        }
    }

    /// - Throws: `ForeignFailure`.
    func add(to collector: inout RecordCollector) throws(ForeignFailure) {
        var seen: Set<[UInt8]> = []
        for item in try document.list(account["items"], required: "a list of items") {
            guard item.isObject, let id = document.text(item["id"]) else { throw .damaged("an item has no ID") }
            guard seen.insert(Array(id.utf8)).inserted else { throw .damaged("two of its items have the same ID") }
            try add(item, id, to: &collector)
        }
    }

    private func add(
        _ item: ForeignJSON.Value, _ id: String, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        let title = try document.optionalText(item["title"]) ?? ""
        var record = RecordWriter(format: format, identity: "\(accountID)\n\(id)", title: title)
        record.id = id
        record.folder = folders[id]
        record.created = ForeignDate.seconds(document.integer(item["creationAt"]))
        record.modified = ForeignDate.seconds(document.integer(item["modifiedAt"]))
        let scope = try document.object(item["scope"])
        record.addresses = try texts(scope?["urls"])
        for app in try document.list(scope?["androidApps"]) {
            if let bundle = try document.optionalText(document.object(app)?["bundleId"]) {
                record.addresses.append("androidapp://" + bundle)
            }
        }
        let tags = try texts(item["tags"]).filter { !$0.isEmpty }
        if !tags.isEmpty { record.extra.append(ExtraAttribute(name: "tags", value: tags.joined(separator: ";"))) }
        if item["favorite"]?.flag == true { collector.leaveOut("favorite mark") }
        if try document.optionalText(item["subtitle"])?.isEmpty == false { collector.leaveOut("subtitle") }

        var credentials = try document.list(item["credentials"], required: "a list of credentials")
        for credential in credentials where !credential.isObject { throw .damaged("a credential is not an object") }
        // In drafts of the standard, each login lists its own addresses.
        for login in credentials where type(login) == "basic-auth" {
            for address in try texts(login["urls"]) where !record.addresses.contains(address) {
                record.addresses.append(address)
            }
        }
        var user: String?
        for login in credentials where user == nil && type(login) == "basic-auth" { user = try userName(of: login) }
        let extensions = try document.list(item["extensions"])
        collector.leaveOut(
            "extension of another program", extensions.count { document.text($0["name"]) != ExportName.item })
        if let own = extensions.first(where: { document.text($0["name"]) == ExportName.item }),
            let returned = returned(own, id, title, user, record)
        {
            let secret = try takeSecret(returned, own, &credentials)
            try collector.add(
                RecordPart(
                    "item", returned.draft, secret: secret, record: "\(accountID)\n\(id)", part: "item",
                    name: record.title))
            record.omitLogin(of: user)
        }
        // The logins come first, since the others belong to the first of them.
        for login in credentials where type(login) == "basic-auth" {
            try record.addLogin(
                user: userName(of: login), password: secret(of: login["password"]), to: &collector)
            for member in login.members where !document.isEmpty(member.value) {
                if ["type", "username", "password", "urls"].contains(member.name) { continue }
                try record.addField(member.name, document.source(member.value), to: &collector)
            }
        }
        for credential in credentials where type(credential) != "basic-auth" {
            try add(credential, &record, isWhole: user == nil, to: &collector)
        }
        if !isCounted(credentials) { try record.finish(to: &collector) }
    }

    /// True if each credential is one of those that are left out and counted.
    private func isCounted(_ credentials: [ForeignJSON.Value]) -> Bool {
        !credentials.isEmpty && credentials.allSatisfy { ["file", "item-reference"].contains(type($0)) }
    }

    /// The user name of a login; nil if it is empty.
    private func userName(of login: ForeignJSON.Value) throws(ForeignFailure) -> String? {
        let name = try text(of: login["username"])
        return name?.isEmpty == true ? nil : name
    }

    private func texts(_ value: ForeignJSON.Value?) throws(ForeignFailure) -> [String] {
        var texts: [String] = []
        for value in try document.list(value) { if let text = try document.optionalText(value) { texts.append(text) } }
        return texts
    }

    private func type(_ credential: ForeignJSON.Value) -> String {
        CXF.typeName(document.text(credential["type"]) ?? "")
    }

    /// The value of a field that is not a secret; in drafts it is not wrapped in an object.
    private func text(of field: ForeignJSON.Value?) throws(ForeignFailure) -> String? {
        try document.optionalText(field?.isObject == true ? field?["value"] : field)
    }

    /// The value of a field.
    private func secret(of field: ForeignJSON.Value?) throws(ForeignFailure) -> SecretBytes? {
        try document.optionalSecret(field?.isObject == true ? field?["value"] : field)
    }

    private func add(
        _ credential: ForeignJSON.Value, _ record: inout RecordWriter, isWhole: Bool,
        to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        let type = type(credential)
        switch type {
        case "totp":
            guard let address = try oneTimePassword(credential) else {
                throw .damaged("a one-time password has no seed")
            }
            try record.addOneTimePassword(address, to: &collector)
        case "passkey":
            guard let host = document.text(credential["rpId"]) else { throw .damaged("a passkey has no host") }
            var user = try document.optionalText(credential["username"])
            if user == nil { user = try document.optionalText(credential["userName"]) }
            try record.addPasskey(host: host, user: user, withoutType(credential), to: &collector)
        case "note":
            guard let content = try secret(of: credential["content"]) else { throw .damaged("a note has no content") }
            try record.addNote(content, isWhole: isWhole, to: &collector)
        case "ssh-key":
            guard let text = document.secret(credential["privateKey"]), let key = CXF.decode(text) else {
                throw .damaged("a key is not base64")
            }
            if try document.optionalText(credential["keyComment"])?.isEmpty == false {
                collector.leaveOut("comment of a key")
            }
            try record.addPrivateKey(key, to: &collector)
        case "wifi": try addNetwork(credential, &record, to: &collector)
        case "custom-fields":
            for field in try document.list(credential["fields"], required: "a list of fields") {
                var name = try document.optionalText(field["label"])
                if name == nil { name = try document.optionalText(credential["label"]) }
                guard let value = try secret(of: field) else { throw .damaged("a field has no value") }
                try record.addField(name ?? "", value, to: &collector)
            }
        case "generated-password":
            guard let password = try secret(of: credential["password"]) else { throw .damaged("a password is missing") }
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
    private func oneTimePassword(_ credential: ForeignJSON.Value) throws(ForeignFailure) -> SecretBytes? {
        guard let seed = try document.optionalSecret(credential["secret"]) else { return nil }
        func encoded(_ name: String) throws(ForeignFailure) -> String? {
            let text = try document.optionalText(credential[name])
            return text.flatMap { $0.isEmpty ? nil : OneTimePasswordAddress.encoded($0) }
        }
        let issuer = try encoded("issuer")
        let name = [issuer, try encoded("username")].compactMap { $0 }.joined(separator: ":")
        var address = SecretBytes(copying: "otpauth://totp/\(name)?secret=".utf8)
        seed.withBytes { address.append($0) }
        if let issuer { address.append(utf8: "&issuer=\(issuer)") }
        let period = try document.optionalInteger(credential["period"]) ?? 30
        let digits = try document.optionalInteger(credential["digits"]) ?? 6
        let algorithm = (try document.optionalText(credential["algorithm"]) ?? "sha1").uppercased()
        if period != 30 { address.append(utf8: "&period=\(period)") }
        if digits != 6 { address.append(utf8: "&digits=\(digits)") }
        if algorithm != "SHA1" { address.append(utf8: "&algorithm=\(OneTimePasswordAddress.encoded(algorithm))") }
        return address
    }

    private func addNetwork(
        _ credential: ForeignJSON.Value, _ record: inout RecordWriter, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        let outer = record.extra
        for name in ["networkSecurityType", "hidden"] {
            if let value = try text(of: credential[name]) {
                record.extra.append(ExtraAttribute(name: name, value: value))
            }
        }
        let name = try text(of: credential["ssid"]) ?? record.title
        try record.addNetwork(name, secret(of: credential["passphrase"]), to: &collector)
        record.extra = outer
    }
}

extension CXFRecords {
    /// The item for which kcbackup's export wrote this record; nil for an ordinary record.
    private func returned(
        _ value: ForeignJSON.Value, _ id: String, _ title: String, _ user: String?, _ record: RecordWriter
    ) -> ReturnedItem? {
        guard let item = value["item"], let bytes = CXF.decode(SecretBytes(copying: id.utf8)) else { return nil }
        let uuid = bytes.withBytes { ItemUUID(bytes: $0) }
        // The records of notes, one-time passwords and networks have no user name.
        let hasAccount = (item["attributes"]?["acct"]).map { $0.isString } ?? false
        let isLogin = user != nil || !hasAccount
        return ReturnedItem(
            line: document.source(item), id: uuid, title: title, account: user, addresses: record.addresses,
            modified: record.modified, ignoringAccount: !isLogin)
    }

    /// Removes the credential that holds an item's secret, and returns the secret; nil if there is none.
    private func takeSecret(
        _ item: ReturnedItem, _ value: ForeignJSON.Value, _ credentials: inout [ForeignJSON.Value]
    ) throws(ForeignFailure) -> SecretBytes? {
        func take(_ type: String, _ isIt: (ForeignJSON.Value) -> Bool = { _ in true }) -> ForeignJSON.Value? {
            credentials.firstIndex { self.type($0) == type && isIt($0) }.map { credentials.remove(at: $0) }
        }
        if let bytes = take("custom-fields", { self.bytes(in: $0) != nil }) { return self.bytes(in: bytes) }
        switch item.kind {
        case .note: if let note = take("note") { return try secret(of: note["content"]) }
        case .wifi: if let network = take("wifi") { return try secret(of: network["passphrase"]) }
        case .oneTimePassword:
            if let code = take("totp") {
                let own = document.secret(value["secret"])
                return matches(own, code) ? own : try oneTimePassword(code)
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
        guard let login = take("basic-auth") else { return nil }
        return try secret(of: login["password"])
    }

    private func bytes(in credential: ForeignJSON.Value) -> SecretBytes? {
        guard let fields = credential["fields"]?.values, fields.count == 1, let field = fields.first,
            document.text(field["label"]) == ExportName.bytes, let text = document.secret(field["value"])
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
