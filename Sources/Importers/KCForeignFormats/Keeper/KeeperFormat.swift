internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// Keeper's JSON export.
///
/// Source: Keeper's documentation of its JSON import and export.
package struct KeeperFormat: ForeignFormat {
    package let kind = ForeignKind.keeper

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        let members = ["login", "login_url", "custom_fields", "$type"]
        let names = file.bytes.withBytes {
            JSONHead.names(["shared_folders", "path", "records", "title"] + members, in: $0)
        }
        if names.isSuperset(of: ["shared_folders".exact, "path".exact]) { return true }
        guard names.contains("records".exact) else { return false }
        return names.contains("shared_folders".exact)
            || names.contains("title".exact) && !names.isDisjoint(with: members.map(\.exact))
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let json = try ForeignJSON(file)
        let collector = RecordCollector(format: name, date: file.modified)
        let reader = KeeperReader(json: json, collector: collector)
        var ids: Set<ExactText> = []
        for (index, record) in try json.list(json.root["records"], required: "its list of records").enumerated() {
            try collector.record(record, of: json, title: record["title"], number: index + 1) {
                () throws(ForeignFailure) in try reader.add(record, &ids)
            }
        }
        for folder in try json.list(json.root["shared_folders"]) {
            try reader.leaveOut("right in a shared folder", each: folder["permissions"])
        }
        // Records name their folders themselves.
        json.skip("shared_folders", of: json.root)
        try reader.leaveOut("team", each: json.root["teams"])
        collector.leaveOut(unknown: json.unread)
        return try collector.finish(details: "", isPlaintext: true)
    }
}

/// Reads the records of a Keeper export.
private struct KeeperReader: JSONRecords {
    let json: ForeignJSON
    let collector: RecordCollector

    /// The types of records that are kept as a whole, and their kinds.
    private static let objects: [(type: String, kind: String)] = [
        ("bankCard", "card"), ("bankAccount", "bank account"), ("contact", "identity"), ("ssnCard", "identity"),
        ("address", "address"), ("passport", "identity document"), ("driverLicense", "identity document"),
        ("birthCertificate", "identity document"), ("healthInsurance", "insurance"), ("membership", "membership"),
    ]

    /// The members of a record that have a meaning of their own.
    private static let known: Set<ExactText> = [
        "uid", "title", "login", "password", "login_url", "notes", "custom_fields", "folders", "$type", "schema",
        "references", "last_modified", "attachments",
    ]

    /// A custom field, whose name has the form `$type:label:number`; old versions write the label alone.
    private struct Field {
        /// Empty if it is not stated.
        let type: String
        let label: String
        let value: ForeignJSON.Value

        /// The name that the user sees.
        var name: String { label.isEmpty ? type : label }

        init(_ member: ForeignJSON.Member) {
            value = member.value
            guard let rest = member.name.exact.removingPrefix("$") else {
                (type, label) = ("", member.name)
                return
            }
            let parts = rest.exact.split(separator: ":", omittingEmptySubsequences: false)
            type = parts[0]
            // The number tells fields of one name apart; the label may have colons.
            let isNumbered = parts.count > 2 && Int(parts[parts.count - 1]) != nil
            label = parts.dropFirst().dropLast(isNumbered ? 1 : 0).joined(separator: ":")
        }
    }

    /// - Parameter ids: those of the records so far.
    func add(_ item: ForeignJSON.Value, _ ids: inout Set<ExactText>) throws(ForeignFailure) {
        guard item.isObject else { throw .damaged("it is not an object") }
        let fields = try json.object(item["custom_fields"])?.members.map { Field($0) } ?? []
        let user = try text(item["login"]).flatMap { $0.isEmpty ? nil : $0 }
        var addresses = [try text(item["login_url"])].compactMap(\.self).filter { !$0.isEmpty }
        for field in fields where field.type == "url" {
            for value in values(of: field) { if let address = try text(value) { addresses.append(address) } }
        }
        let title = try text(item["title"]) ?? ""
        let key = RecordWriter.identity(
            of: RecordWriter.names(
                title: title, addresses: addresses, user: user, password: try secret(item["password"])))
        let ordinal = collector.ordinal(of: key)
        let id = try id(of: item)
        if let id, !ids.insert(id.exact).inserted { throw .damaged("another record has the same ID") }
        let record = RecordWriter(collector, identity: id ?? key, ordinal: id == nil ? ordinal : 0, title: title)
        record.id = id
        record.addresses = addresses
        record.folder = try folder(of: item)
        record.modified = collector.date(item["last_modified"], of: json) {
            ForeignDate.seconds($0) ?? ForeignDate.milliseconds($0)
        }
        try addParts(of: item, fields, user, record)
        try leaveOut("attachment outside the export", each: item["attachments"])
        for reference in try json.object(item["references"])?.members ?? [] {
            leaveOut("reference to another record", reference.value)
        }
        // The form in which Keeper shows a record.
        json.skip("schema", of: item)
        for member in item.members where !Self.known.contains(member.name.exact) && !json.isEmpty(member.value) {
            let value = try member.value.isString ? secret(member.value) : json.source(member.value)
            if let value { try record.addField(member.name, value) }
        }
        try record.addUnread(of: item, in: json)
        try record.finish()
    }

    private func addParts(
        of item: ForeignJSON.Value, _ fields: [Field], _ user: String?, _ record: RecordWriter
    ) throws(ForeignFailure) {
        let type = try text(item["$type"]) ?? "login"
        if type != "login" { record.describe("type", type) }
        var fields = fields
        let network = fields.first { type == "wifiCredentials" && $0.label.exact == "SSID".exact }
        if let password = try filled(item["password"]) {
            if let network, let name = try text(network.value) {
                try record.addUser(user)
                try record.addNetwork(name, password)
                fields.removeAll { $0.value.index == network.value.index }
            } else {
                try record.addLogin(user: user, password: password)
            }
        } else if type == "login", user != nil || !record.addresses.isEmpty {
            try record.addLogin(user: user, password: nil)
        } else {
            try record.addUser(user)
        }
        if let notes = try filled(item["notes"]) { try record.addNote(notes, isWhole: type == "encryptedNotes") }
        if let kind = Self.objects.first(where: { $0.type.exact == type.exact })?.kind,
            let object = item["custom_fields"],
            !json.isEmpty(object)
        {
            return try record.addObject(kind, json.source(object))
        }
        for field in fields where field.type != "url" {
            for value in values(of: field) where !json.isEmpty(value) { try add(field, value, record) }
        }
    }

    private func add(_ field: Field, _ value: ForeignJSON.Value, _ record: RecordWriter) throws(ForeignFailure) {
        switch field.type {
        case "oneTimeCode",
            "" where field.type != "" || field.name == "TFC:Keeper":
            if let seed = try filled(value) { try record.addOneTimePassword(seed) }
        case "keyPair" where value.isObject:
            record.describe("publicKey", try text(value["publicKey"]).flatMap { $0.isEmpty ? nil : $0 })
            if let key = try filled(value["privateKey"]) { try record.addPrivateKey(key) }
        case "passkey" where value.isObject:
            try part(value, field.name, of: record) { () throws(ForeignFailure) in
                guard let host = try text(value["relyingParty"]) else { throw .damaged("it has no host") }
                try record.addPasskey(host: host, user: try text(value["username"]), json.source(value))
            }
        default:
            if let text = try value.isString ? secret(value) : json.source(value) {
                try record.addField(field.name, text)
            }
        }
    }

    /// The values of a field, which has a list if there are several.
    private func values(of field: Field) -> [ForeignJSON.Value] {
        field.value.isArray ? field.value.values : [field.value]
    }

    /// The ID of a record; nil for one that has a number, which is only its place in the export.
    private func id(of item: ForeignJSON.Value) throws(ForeignFailure) -> String? {
        if json.integer(item["uid"]) != nil { return nil }
        return try text(item["uid"]).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The folders of a record, of which shared ones have folders within.
    private func folder(of item: ForeignJSON.Value) throws(ForeignFailure) -> String? {
        var names: [String] = []
        for folder in try json.list(item["folders"]) {
            let parts = [try text(json.object(folder)?["shared_folder"]), try text(folder["folder"])]
            names.append(parts.compactMap { $0?.isEmpty == false ? $0 : nil }.joined(separator: "\\"))
            json.skip("can_edit", "can_share", of: folder)
        }
        names = names.filter { !$0.isEmpty }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }
}
