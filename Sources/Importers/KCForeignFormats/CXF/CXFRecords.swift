internal import KCByteStreams
internal import KCExportFormats
internal import KCItemSources
internal import KCKeychainModel

/// Makes keychain items from the items of one account.
struct CXFRecords: JSONRecords {
    let json: ForeignJSON
    let collector: RecordCollector
    /// The files beside the JSON; nil for JSON that came alone.
    let files: CXFFiles?
    private let account: ForeignJSON.Value
    private let accountID: String
    /// The collection of each item, by the item's ID.
    private var folders: [ExactText: String] = [:]
    /// The number of collections that items are in beside their first one.
    private var furtherFolders = 0

    init(
        _ json: ForeignJSON, _ account: ForeignJSON.Value, _ files: CXFFiles?, _ collector: RecordCollector
    ) throws(ForeignFailure) {
        self.json = json
        self.files = files
        self.account = account
        self.collector = collector
        accountID = try json.optionalText(account["id"]) ?? ""
        try collect(json.list(account["collections"]), in: [])
    }

    private mutating func collect(_ collections: [ForeignJSON.Value], in path: [String]) throws(ForeignFailure) {
        for collection in collections {
            let path = path + [try text(collection["title"]) ?? ""]
            for item in try json.list(collection["items"]) {
                guard let id = json.text(item["item"]) ?? json.text(item) else { continue }
                if folders[id.exact] == nil {
                    folders[id.exact] = path.joined(separator: "/")
                } else {
                    furtherFolders += 1
                }
                json.skip("account", of: item)
            }
            json.skip("id", "creationAt", "modifiedAt", of: collection)
            try collect(json.list(collection["subCollections"]), in: path)
        }
    }

    func add() throws(ForeignFailure) {
        var seen: Set<[UInt8]> = []
        let items = try json.list(account["items"], required: "a list of items")
        for (index, item) in items.enumerated() {
            try collector.record(item, of: json, title: item["title"], number: index + 1) {
                () throws(ForeignFailure) in
                guard item.isObject, let id = json.text(item["id"]) else { throw .damaged("it has no ID") }
                guard seen.insert(Array(id.utf8)).inserted else { throw .damaged("another item has the same ID") }
                try add(item, id)
            }
        }
        collector.leaveOut("further folder of an item", furtherFolders)
        // Whose items they are.
        json.skip("username", "email", "fullName", of: account)
        try leaveOut("extension of another program", each: account["extensions"])
    }

    private func add(_ item: ForeignJSON.Value, _ id: String) throws(ForeignFailure) {
        let title = try text(item["title"]) ?? ""
        let record = RecordWriter(collector, identity: "\(accountID)\n\(id)", title: title)
        record.id = id
        record.folder = folders[id.exact]
        try describe(record, item)
        try addCredentials(of: item, id, title, record)
    }

    /// Takes what an item has beside its credentials.
    private func describe(_ record: RecordWriter, _ item: ForeignJSON.Value) throws(ForeignFailure) {
        record.created = collector.date(item["creationAt"], of: json)
        record.modified = collector.date(item["modifiedAt"], of: json)
        let scope = try json.object(item["scope"])
        record.addresses = try texts(scope?["urls"])
        for app in try json.list(scope?["androidApps"]) {
            if let bundle = try text(json.object(app)?["bundleId"]) {
                record.addresses.append("androidapp://" + bundle)
            }
            if app["name"]?.isString == true || app["certificate"]?.isObject == true {
                collector.leaveOut("detail of an app")
            }
            json.skip("name", "certificate", of: app)
        }
        let tags = try texts(item["tags"]).filter { !$0.isEmpty }
        if !tags.isEmpty { record.describe("tags", tags.joined(separator: ";")) }
        if json.flag(item["favorite"]) == true { collector.leaveOut("favorite mark") }
        if try text(item["subtitle"])?.isEmpty == false { collector.leaveOut("subtitle") }
    }

    private func addCredentials(
        of item: ForeignJSON.Value, _ id: String, _ title: String, _ record: RecordWriter
    ) throws(ForeignFailure) {
        let credentials = try json.list(item["credentials"], required: "a list of credentials")
        for credential in credentials where !credential.isObject { throw .damaged("a credential is not an object") }
        // In drafts of the standard, each login lists its own addresses.
        for login in credentials where type(login) == "basic-auth" {
            for address in try texts(login["urls"]) where !record.addresses.contains(address) {
                record.addresses.append(address)
            }
        }
        var user: String?
        for login in credentials where user == nil && type(login) == "basic-auth" { user = try userName(of: login) }
        let extensions = try json.list(item["extensions"])
        let others = extensions.filter { json.text($0["name"]) != ExportName.item }
        collector.leaveOut("extension of another program", others.count)
        for other in others { json.skip(other) }
        if let own = extensions.first(where: { json.text($0["name"]) == ExportName.item }) {
            let isLogin = credentials.contains { type($0) == "basic-auth" }
            record.returned = returned(own, id, title, isLogin ? user ?? "" : nil, record)
            json.skip(own)
        }
        // The logins come first, since the others belong to the first of them.
        for login in credentials where type(login) == "basic-auth" {
            try record.addLogin(user: userName(of: login), password: secret(of: login["password"]))
            for member in login.members where !json.isEmpty(member.value) {
                if ["type", "username", "password", "urls"].contains(member.name) { continue }
                try record.addField(member.name, json.source(member.value))
            }
        }
        for credential in credentials where type(credential) != "basic-auth" {
            try part(credential, type(credential), of: record) { () throws(ForeignFailure) in
                try add(credential, record, isWhole: user == nil)
            }
        }
        try record.addUnread(of: item, in: json)
        if isCounted(credentials) { try record.addAddresses() } else { try record.finish() }
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

    func type(_ credential: ForeignJSON.Value) -> String {
        CXF.typeName(json.text(credential["type"]) ?? "")
    }

    /// The value of a field that is not a secret; in drafts it is not wrapped in an object.
    private func text(of field: ForeignJSON.Value?) throws(ForeignFailure) -> String? {
        try text(value(of: field))
    }

    /// The value of a field.
    func secret(of field: ForeignJSON.Value?) throws(ForeignFailure) -> SecretBytes? {
        try secret(value(of: field))
    }

    private func value(of field: ForeignJSON.Value?) -> ForeignJSON.Value? {
        guard let field, field.isObject else { return field }
        json.skip("id", "fieldType", "label", of: field)
        return field["value"]
    }

    private func add(_ credential: ForeignJSON.Value, _ record: RecordWriter, isWhole: Bool) throws(ForeignFailure) {
        let type = type(credential)
        switch type {
        case "totp":
            guard let address = try oneTimePassword(credential) else {
                throw .damaged("a one-time password has no seed")
            }
            try record.addOneTimePassword(address)
        case "passkey":
            try addPasskey(credential, record)
        case "note":
            guard let content = try secret(of: credential["content"]) else { throw .damaged("a note has no content") }
            try record.addNote(content, isWhole: isWhole)
        case "ssh-key":
            guard let encoded = json.secret(credential["privateKey"]), let key = CXF.decode(encoded) else {
                throw .damaged("a key is not base64")
            }
            if try text(credential["keyComment"])?.isEmpty == false { collector.leaveOut("comment of a key") }
            let details = ["creationDate", "expiryDate", "keyGenerationSource"].compactMap { credential[$0] }
            collector.leaveOut("detail of a key", details.count { !$0.isNull })
            for detail in details { json.skip(detail) }
            // The key itself says what it is.
            json.skip("keyType", of: credential)
            try record.addPrivateKey(key)
        case "wifi": try addNetwork(credential, record)
        case "custom-fields":
            let group = try text(credential["label"])
            json.skip("id", of: credential)
            for field in try json.list(credential["fields"], required: "a list of fields") {
                let name = RecordWriter.fieldName(try text(field["label"]) ?? "", in: group)
                try part(field, name, of: record) { () throws(ForeignFailure) in
                    guard let value = try secret(of: field) else { throw .damaged("it has no value") }
                    try record.addField(name, value)
                }
            }
            try leaveOut("extension of another program", each: credential["extensions"])
        case "generated-password":
            guard let password = try secret(of: credential["password"]) else { throw .damaged("a password is missing") }
            try record.addField("generated password", password)
        case "file": try addFile(credential, record)
        case "item-reference":
            collector.leaveOut("reference to another item")
            json.skip(credential)
        default:
            guard let kind = CXF.objects.first(where: { $0.type.exact == type.exact })?.kind else {
                collector.remark("credentials of unknown kinds are kept as JSON")
                return try record.addObject("other", json.source(credential))
            }
            try record.addObject(kind, withoutType(credential))
        }
    }

    private func addPasskey(_ credential: ForeignJSON.Value, _ record: RecordWriter) throws(ForeignFailure) {
        let passkey = Passkey(credential, in: json)
        switch consume passkey {
        case .some(let passkey):
            json.skip(credential)
            try record.addPasskey(passkey)
        case .none:
            guard let host = json.text(credential["rpId"]) else { throw .damaged("a passkey has no host") }
            let user = try text(credential["username"])
            try record.addPasskey(host: host, user: user, withoutType(credential))
        }
    }

    func withoutType(_ credential: ForeignJSON.Value) -> SecretBytes {
        var object = SecretJSON()
        for member in credential.members where member.name != "type" {
            object.add(member.name, json: json.source(member.value))
        }
        return object.finish()
    }

    /// The `otpauth:` address of a one-time password; nil without a seed.
    func oneTimePassword(_ credential: ForeignJSON.Value) throws(ForeignFailure) -> SecretBytes? {
        guard let seed = try secret(credential["secret"]) else { return nil }
        func encoded(_ name: String) throws(ForeignFailure) -> String? {
            let text = try text(credential[name])
            return text.flatMap { $0.isEmpty ? nil : OneTimePasswordAddress.encoded($0) }
        }
        let issuer = try encoded("issuer")
        let name = [issuer, try encoded("username")].compactMap { $0 }.joined(separator: ":")
        var address = SecretBytes(copying: "otpauth://totp/\(name)?secret=".utf8)
        seed.withBytes { address.append($0) }
        if let issuer { address.append(utf8: "&issuer=\(issuer)") }
        let period = try json.optionalInteger(credential["period"]) ?? 30
        let digits = try json.optionalInteger(credential["digits"]) ?? 6
        let algorithm = (try text(credential["algorithm"]) ?? "sha1").uppercased()
        if period != 30 { address.append(utf8: "&period=\(period)") }
        if digits != 6 { address.append(utf8: "&digits=\(digits)") }
        if algorithm != "SHA1" { address.append(utf8: "&algorithm=\(OneTimePasswordAddress.encoded(algorithm))") }
        return address
    }

    private func addNetwork(_ credential: ForeignJSON.Value, _ record: RecordWriter) throws(ForeignFailure) {
        let outer = record.extra
        for name in ["networkSecurityType", "hidden"] {
            record.describe(name, try text(of: credential[name]))
        }
        let name = try text(of: credential["ssid"]) ?? record.title
        try record.addNetwork(name, secret(of: credential["passphrase"]))
        record.extra = outer
    }
}
