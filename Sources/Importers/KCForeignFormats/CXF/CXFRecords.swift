internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// Makes keychain items from the items of one account.
struct CXFRecords {
    let document: ForeignJSON
    private let account: ForeignJSON.Value
    private let format: String
    private let accountID: String
    /// The collection of each item, by the item's ID.
    private var folders: [ExactText: String] = [:]
    /// The number of collections that items are in beside their first one.
    private var furtherFolders = 0

    // The kinds of credentials that become a single JSON object, with their names in messages.
    private static let objects = [
        "address": "address", "credit-card": "card", "drivers-license": "driver's licence",
        "identity-document": "identity document", "passport": "passport", "person-name": "name", "api-key": "API key",
    ]

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
                if folders[id.exact] == nil {
                    folders[id.exact] = path.joined(separator: "/")
                } else {
                    furtherFolders += 1
                }
                document.skip("account", of: item)
            }
            document.skip("id", "creationAt", "modifiedAt", of: collection)
            try collect(document.list(collection["subCollections"]), in: path)
        }
    }

    func add(to collector: inout RecordCollector) throws(ForeignFailure) {
        var seen: Set<[UInt8]> = []
        let items = try document.list(account["items"], required: "a list of items")
        for (index, item) in items.enumerated() {
            try document.record(item, title: item["title"], number: index + 1, in: &collector) {
                collector throws(ForeignFailure) in
                guard item.isObject, let id = document.text(item["id"]) else { throw .damaged("it has no ID") }
                guard seen.insert(Array(id.utf8)).inserted else { throw .damaged("another item has the same ID") }
                try add(item, id, to: &collector)
            }
        }
        collector.leaveOut("further folder of an item", furtherFolders)
        // Whose items they are.
        document.skip("username", "email", "fullName", of: account)
        let extensions = try document.list(account["extensions"])
        collector.leaveOut("extension of another program", extensions.count)
        document.skip("extensions", of: account)
    }

    private func add(
        _ item: ForeignJSON.Value, _ id: String, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        let title = try document.optionalText(item["title"]) ?? ""
        var record = RecordWriter(format: format, identity: "\(accountID)\n\(id)", title: title)
        record.id = id
        record.folder = folders[id.exact]
        record.created = ForeignDate.seconds(document.integer(item["creationAt"]))
        record.modified = ForeignDate.seconds(document.integer(item["modifiedAt"]))
        let scope = try document.object(item["scope"])
        record.addresses = try texts(scope?["urls"])
        for app in try document.list(scope?["androidApps"]) {
            if let bundle = try document.optionalText(document.object(app)?["bundleId"]) {
                record.addresses.append("androidapp://" + bundle)
            }
            if app["name"]?.isString == true || app["certificate"]?.isObject == true {
                collector.leaveOut("detail of an app")
            }
            document.skip("name", "certificate", of: app)
        }
        let tags = try texts(item["tags"]).filter { !$0.isEmpty }
        if !tags.isEmpty { record.extra.append(ExtraAttribute(name: "tags", value: tags.joined(separator: ";"))) }
        if document.flag(item["favorite"]) == true { collector.leaveOut("favorite mark") }
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
        let others = extensions.filter { document.text($0["name"]) != ExportName.item }
        collector.leaveOut("extension of another program", others.count)
        for other in others { document.skip(other) }
        if let own = extensions.first(where: { document.text($0["name"]) == ExportName.item }),
            let returned = returned(own, id, title, user, record)
        {
            let secret = try takeSecret(returned, own, &credentials)
            try collector.add(
                RecordPart(
                    "item", returned.draft, secret: secret, record: "\(accountID)\n\(id)", part: "item",
                    name: record.title))
            record.omitLogin(of: user)
            document.skip(own)
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

    func type(_ credential: ForeignJSON.Value) -> String {
        CXF.typeName(document.text(credential["type"]) ?? "")
    }

    /// The value of a field that is not a secret; in drafts it is not wrapped in an object.
    private func text(of field: ForeignJSON.Value?) throws(ForeignFailure) -> String? {
        try document.optionalText(value(of: field))
    }

    /// The value of a field.
    func secret(of field: ForeignJSON.Value?) throws(ForeignFailure) -> SecretBytes? {
        try document.optionalSecret(value(of: field))
    }

    private func value(of field: ForeignJSON.Value?) -> ForeignJSON.Value? {
        guard let field, field.isObject else { return field }
        document.skip("id", "fieldType", of: field)
        return field["value"]
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
            let details = ["creationDate", "expiryDate", "keyGenerationSource"].compactMap { credential[$0] }
            collector.leaveOut("detail of a key", details.count { !$0.isNull })
            for detail in details { document.skip(detail) }
            // The key itself says what it is.
            document.skip("keyType", of: credential)
            try record.addPrivateKey(key, to: &collector)
        case "wifi": try addNetwork(credential, &record, to: &collector)
        case "custom-fields":
            let group = try document.optionalText(credential["label"])
            document.skip("id", of: credential)
            for field in try document.list(credential["fields"], required: "a list of fields") {
                let name = RecordWriter.fieldName(try document.optionalText(field["label"]) ?? "", in: group)
                guard let value = try secret(of: field) else { throw .damaged("a field has no value") }
                try record.addField(name, value, to: &collector)
            }
            let extensions = try document.list(credential["extensions"])
            collector.leaveOut("extension of another program", extensions.count)
            document.skip("extensions", of: credential)
        case "generated-password":
            guard let password = try secret(of: credential["password"]) else { throw .damaged("a password is missing") }
            try record.addField("generated password", password, to: &collector)
        case "file":
            collector.leaveOut("file beside the JSON")
            document.skip(credential)
        case "item-reference":
            collector.leaveOut("reference to another item")
            document.skip(credential)
        default:
            if Self.objects[type] == nil { collector.remark("credentials of unknown kinds are kept as JSON") }
            try record.addObject(Self.objects[type] ?? "other", withoutType(credential), to: &collector)
        }
    }

    func withoutType(_ credential: ForeignJSON.Value) -> SecretBytes {
        var object = SecretJSON()
        for member in credential.members where member.name != "type" {
            object.add(member.name, json: document.source(member.value))
        }
        return object.finish()
    }

    /// The `otpauth:` address of a one-time password; nil without a seed.
    func oneTimePassword(_ credential: ForeignJSON.Value) throws(ForeignFailure) -> SecretBytes? {
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
