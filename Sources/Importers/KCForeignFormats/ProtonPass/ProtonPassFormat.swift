internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// Proton Pass's export: a zip file with JSON.
///
/// Source: ProtonMail/WebClients, `packages/pass/lib/export`.
package struct ProtonPassFormat: ForeignFormat {
    package let kind = ForeignKind.protonPass

    package init() {}

    private static let member = "Proton Pass/data.json"

    package func recognises(_ input: ForeignInput) throws -> Bool {
        if let names = try ForeignZip.names(in: input) { return names.contains(Self.member.exact) }
        return input.file?.bytes.withBytes { JSONHead.names(["encrypted", "vaults"], in: $0).count == 2 } ?? false
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let json: ForeignJSON
        var zip: ForeignZip?
        if try ForeignZip.names(in: input) != nil {
            let opened = try ForeignZip(file) { $0 == Self.member }
            json = try opened.json(Self.member)
            zip = opened
        } else {
            json = try ForeignJSON(file)
        }
        if json.flag(json.root["encrypted"]) == true {
            throw ForeignFailure.refused(
                title: "an encrypted Proton Pass export", hint: "export it again as ZIP, or as CSV")
        }
        guard let vaults = json.root["vaults"], vaults.isObject else {
            throw ForeignFailure.damaged("its vaults are missing")
        }
        let collector = RecordCollector(format: name, date: file.modified)
        var reader = ProtonPassReader(json: json, collector: collector)
        var number = 0
        for vault in vaults.members {
            for item in try json.list(vault.value["items"], required: "a list of items") {
                number += 1
                let title = item["data"]?["metadata"]?["name"]
                try collector.record(item, of: json, title: title, number: number) { () throws(ForeignFailure) in
                    try reader.add(item, of: vault)
                }
            }
            reader.leaveOut("description of a vault", vault.value["description"])
            json.skip("name", "display", of: vault.value)
        }
        // They describe the export, not records.
        json.skip("version", "userId", of: json.root)
        collector.leaveOut(unknown: json.unread)
        zip?.countRest(in: collector)
        return try collector.finish(details: "", isPlaintext: true)
    }
}

/// Reads the records of a Proton Pass export.
private struct ProtonPassReader: JSONRecords {
    let json: ForeignJSON
    let collector: RecordCollector
    var ids: Set<[String]> = []

    mutating func add(_ item: ForeignJSON.Value, of vault: ForeignJSON.Member) throws(ForeignFailure) {
        guard let id = json.text(item["itemId"]), let data = item["data"], let type = json.text(data["type"]) else {
            throw .damaged("it has no ID or no type")
        }
        guard ids.insert([vault.name, id]).inserted else { throw .damaged("another record has the same ID") }
        // 1 is active, 2 in the trash.
        guard json.integer(item["state"]) ?? 1 == 1 else {
            collector.leaveOut("record in the trash")
            return json.skip(item)
        }
        try leaveOut(of: item, data)
        let content = try json.object(data["content"])
        let metadata = try json.object(data["metadata"])
        let identity = RecordWriter.identity(of: [vault.name, id])
        let record = RecordWriter(collector, identity: identity, title: try text(metadata?["name"]) ?? "")
        record.id = id
        record.folder = try text(vault.value["name"])
        record.created = collector.date(item["createTime"], of: json)
        record.modified = collector.date(item["modifyTime"], of: json)
        switch type {
        case "login": try addLogin(content, record)
        case "note": break
        case "alias":
            record.describe("email", try text(item["aliasEmail"]))
            collector.leaveOut("alias of an address")
        case "sshKey":
            record.describe("publicKey", try text(content?["publicKey"]))
            if let key = try secret(content?["privateKey"]) { try record.addPrivateKey(key) }
            for section in try json.list(content?["sections"]) {
                let name = try text(json.object(section)?["sectionName"])
                for field in try json.list(section["sectionFields"]) {
                    let label = json.text(field["fieldName"]) ?? "field"
                    try part(field, label, of: record) { () throws(ForeignFailure) in
                        try addField(field, in: name, record)
                    }
                }
            }
            try addUnknown(of: content, except: ["privateKey", "publicKey", "sections"], record)
        default:
            // Cards, identities, networks, and types that are not known here.
            if let content, content.isObject, !json.isEmpty(content) {
                try record.addObject(Self.kind(type), json.source(content))
            }
        }
        if let note = try filled(metadata?["note"]) { try record.addNote(note, isWhole: type == "note") }
        for field in try json.list(data["extraFields"]) {
            let name = json.text(field["fieldName"]) ?? "field"
            try part(field, name, of: record) { () throws(ForeignFailure) in try addField(field, record) }
        }
        try record.addUnread(of: item, in: json)
        if type == "alias" { try record.addAddresses() } else { try record.finish() }
    }

    /// Counts what a record has that is neither a secret nor a name.
    private func leaveOut(of item: ForeignJSON.Value, _ data: ForeignJSON.Value) throws(ForeignFailure) {
        if json.flag(item["pinned"]) == true { collector.leaveOut("favorite mark") }
        try leaveOut("attachment outside the export", each: item["files"])
        leaveOut("rule for matching an app", data["platformSpecific"])
        // Versions of the form, and the record's IDs and shares on the server.
        json.skip("shareId", "contentFormatVersion", "shareCount", of: item)
        json.skip("itemUuid", of: data["metadata"])
    }

    /// Adds an extra field; a value of an unknown kind is kept as JSON.
    private func addField(
        _ field: ForeignJSON.Value, in section: String? = nil, _ record: RecordWriter
    ) throws(ForeignFailure) {
        let name = RecordWriter.fieldName(try text(field["fieldName"]) ?? "", in: section)
        // The members of the value say what it is.
        json.skip("type", of: field)
        var isEmpty = true
        var others = SecretJSON()
        for member in try json.object(field["data"])?.members ?? [] where !json.isEmpty(member.value) {
            if !["totpUri", "content"].contains(member.name) {
                others.add(member.name, json: json.source(member.value))
            } else if let value = try secret(member.value) {
                isEmpty = false
                try member.name == "content"
                    ? record.addField(name, value) : record.addOneTimePassword(value)
            }
        }
        let rest = others.finish()
        if rest.count > "{}".utf8.count {
            try record.addField(name, rest)
        } else if isEmpty {
            collector.leaveOut("field without a value")
        }
    }

    private func addLogin(_ login: ForeignJSON.Value?, _ record: RecordWriter) throws(ForeignFailure) {
        guard let login else { throw .damaged("a login has no content") }
        for url in try json.list(login["urls"]) {
            if let address = try text(url), !address.isEmpty { record.addresses.append(address) }
        }
        // Versions before 1.18 have the user name under another key.
        let names = [try text(login["itemUsername"]), try text(login["username"]), try text(login["itemEmail"])]
            .compactMap { $0 }.filter { !$0.isEmpty }
        let others = names.dropFirst().prefix(1).map { ExtraAttribute(name: "email", value: $0) }
        let passkeys = try json.list(login["passkeys"])
        if let password = try filled(login["password"]) {
            try record.addLogin(user: names.first, others: others, password: password)
        } else if !names.isEmpty || passkeys.isEmpty && !record.addresses.isEmpty {
            try record.addLogin(user: names.first, others: others, password: nil)
        }
        if let seed = try filled(login["totpUri"]) { try record.addOneTimePassword(seed) }
        for passkey in passkeys {
            try part(passkey, "passkey", of: record) { () throws(ForeignFailure) in
                let (id, domain) = (try text(passkey["rpId"]), try text(passkey["domain"]))
                guard let host = id ?? domain else { throw .damaged("it has no host") }
                try record.addPasskey(host: host, user: try text(passkey["userName"]), json.source(passkey))
            }
        }
        let known: Set<ExactText> = [
            "itemUsername", "username", "itemEmail", "urls", "passkeys", "password", "totpUri",
        ]
        try addUnknown(of: login, except: known, record)
    }

    /// Adds unknown members as fields, so that nothing is lost.
    private func addUnknown(
        of content: ForeignJSON.Value?, except known: Set<ExactText>, _ record: RecordWriter
    ) throws(ForeignFailure) {
        for member in content?.members ?? [] where !known.contains(member.name.exact) && !json.isEmpty(member.value) {
            let value = try member.value.isString ? secret(member.value) : json.source(member.value)
            if let value { try record.addField(member.name, value) }
        }
    }

    /// The kind of a record of a type, for people.
    private static func kind(_ type: String) -> String {
        switch type {
        case "creditCard": "card"
        case "identity": "identity"
        case "wifi": "Wi-Fi network"
        case "custom": "record of its own kind"
        default: "record of another type"
        }
    }
}
