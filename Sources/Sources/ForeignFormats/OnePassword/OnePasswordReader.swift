internal import ByteStreams
internal import ItemSources
internal import KeychainModel

/// Reads the records of a 1PUX file.
struct OnePasswordReader {
    let json: ForeignJSON
    let zip: ForeignZip
    let format: String
    private var ids: Set<String> = []

    init(json: ForeignJSON, zip: ForeignZip, format: String) {
        self.json = json
        self.zip = zip
        self.format = format
    }

    /// Adds the items of one record.
    ///
    /// - Throws: as `RecordCollector.add`, `ForeignFailure.damaged`.
    mutating func add(
        _ item: ForeignJSON.Value, of vault: ForeignJSON.Value, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        guard item.isObject, let id = json.text(item["uuid"]), let details = item["details"] else {
            throw .damaged("a record has no ID or no details")
        }
        guard ids.insert(id).inserted else { throw .damaged("two records have one ID") }
        guard try text(item["state"]) ?? "active" == "active" else { return collector.leaveOut("archived record") }
        if let index = json.integer(item["favIndex"]), index != 0 { collector.leaveOut("mark of a favorite") }
        collector.leaveOut("earlier password", details["passwordHistory"]?.values.count ?? 0)
        let overview = item["overview"]
        var record = RecordWriter(format: format, identity: id, title: try text(overview?["title"]) ?? "")
        record.id = id
        record.folder = try text(vault["attrs"]?["name"])
        record.created = ForeignDate.seconds(json.integer(item["createdAt"]))
        record.modified = ForeignDate.seconds(json.integer(item["updatedAt"]))
        for url in overview?["urls"]?.values ?? [] {
            if let address = try text(url["url"]), !address.isEmpty { record.addresses.append(address) }
        }
        if let address = try text(overview?["url"]), !address.isEmpty, !record.addresses.contains(address) {
            record.addresses.insert(address, at: 0)
        }
        let tags = try texts(overview?["tags"])
        if !tags.isEmpty { record.extra.append(ExtraAttribute(name: "tags", value: tags.joined(separator: ", "))) }
        try addDetails(details, try text(item["categoryUuid"]) ?? "", &record, to: &collector)
    }

    private func addDetails(
        _ details: ForeignJSON.Value, _ category: String, _ record: inout RecordWriter,
        to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        for field in details["loginFields"]?.values ?? [] where try text(field["designation"]) == "username" {
            if let user = try text(field["value"]), !user.isEmpty { record.user = user }
        }
        if let kind = ["002": "card", "004": "identity", "101": "bank account"][category] {
            try record.addObject(kind, json.source(details), to: &collector)
            return try addFiles(of: details, &record, to: &collector)
        }
        var hasPassword = false
        for field in details["loginFields"]?.values ?? [] {
            let designation = try text(field["designation"])
            if designation == "username" { continue }
            guard let value = try fieldSecret(field["value"]), !value.isEmpty else { continue }
            if designation == "password", !hasPassword {
                try record.addLogin(value, to: &collector)
                hasPassword = true
            } else {
                let name = try first(field["name"], field["id"])
                try record.addField(name, value, to: &collector)
            }
        }
        if let password = try fieldSecret(details["password"]), !password.isEmpty {
            try hasPassword
                ? record.addField("password", password, to: &collector) : record.addLogin(password, to: &collector)
            hasPassword = true
        }
        if !hasPassword, category == "001", record.user != nil || !record.addresses.isEmpty {
            try record.addLogin(nil, to: &collector)
        }
        if let note = try fieldSecret(details["notesPlain"]), !note.isEmpty {
            try record.addNote(note, isWhole: category == "003", to: &collector)
        }
        for section in details["sections"]?.values ?? [] {
            for field in section["fields"]?.values ?? [] {
                try addField(field, &record, to: &collector)
            }
        }
        try addFiles(of: details, &record, to: &collector)
        try addUnknown(of: details, &record, to: &collector)
    }

    /// Adds a field of a section; its value is an object with one member, whose name is the kind of the field.
    private func addField(
        _ field: ForeignJSON.Value, _ record: inout RecordWriter, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        guard let member = field["value"]?.members.first, !member.value.isNull else { return }
        let name = try first(field["title"], field["id"])
        switch member.name {
        case "totp":
            if let seed = try fieldSecret(member.value), !seed.isEmpty {
                try record.addOneTimePassword(seed, to: &collector)
            }
        case "sshKey":
            guard let key = try fieldSecret(member.value["privateKey"]) else { throw .damaged("a key is not there") }
            try record.addPrivateKey(key, to: &collector)
        case "reference": collector.leaveOut("reference to another record")
        // `addFiles` adds it.
        case "file": return
        case "email" where member.value.isObject:
            if let address = try fieldSecret(member.value["email_address"]), !address.isEmpty {
                try record.addField(name, address, to: &collector)
            }
        default:
            if let value = try fieldSecret(member.value), !value.isEmpty {
                try record.addField(name, value, to: &collector)
            }
        }
    }

    /// Adds the files that a record refers to, which are stored beside the JSON.
    private func addFiles(
        of details: ForeignJSON.Value, _ record: inout RecordWriter, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        var files: [ForeignJSON.Value] = []
        if let document = details["documentAttributes"], document.isObject { files.append(document) }
        for section in details["sections"]?.values ?? [] {
            for field in section["fields"]?.values ?? [] {
                if let file = field["value"]?["file"], file.isObject { files.append(file) }
            }
        }
        for file in files {
            guard let name = try text(file["fileName"]), let id = try text(file["documentId"]) else {
                throw .damaged("an attachment has no name")
            }
            if let attachment = zip.take("files/\(id)__\(name)") {
                try record.addAttachment(name, attachment.bytes.copy(), to: &collector)
            } else {
                collector.refuse(record.title, .damaged("an attachment of it is not in the export"))
            }
        }
    }

    /// Adds unknown members as fields, so that nothing is lost.
    private func addUnknown(
        of details: ForeignJSON.Value, _ record: inout RecordWriter, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        let known: Set = [
            "loginFields", "notesPlain", "sections", "password", "passwordHistory", "documentAttributes",
        ]
        for member in details.members where !known.contains(member.name) {
            if member.name.hasPrefix("html") {
                collector.leaveOut("form of a web page")
            } else if let value = try fieldSecret(member.value), !value.isEmpty {
                try record.addField(member.name, value, to: &collector)
            }
        }
    }

    /// The text of a string, or the JSON of any other value; nil if it is null or empty.
    private func fieldSecret(_ value: ForeignJSON.Value?) throws(ForeignFailure) -> SecretBytes? {
        guard let value, !value.isNull else { return nil }
        if value.isString { return json.secret(value) }
        if value.isArray && value.values.isEmpty || value.isObject && value.members.isEmpty { return nil }
        return json.source(value)
    }

    private func text(_ value: ForeignJSON.Value?) throws(ForeignFailure) -> String? { try json.optionalText(value) }

    /// The first text that is present; empty if there is none.
    private func first(_ values: ForeignJSON.Value?...) throws(ForeignFailure) -> String {
        for value in values { if let text = try text(value) { return text } }
        return ""
    }

    private func texts(_ value: ForeignJSON.Value?) throws(ForeignFailure) -> [String] {
        var texts: [String] = []
        for value in value?.values ?? [] { if let text = try text(value) { texts.append(text) } }
        return texts
    }
}
