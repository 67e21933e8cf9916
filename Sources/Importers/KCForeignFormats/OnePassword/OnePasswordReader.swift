internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// Reads the records of a 1PUX file.
struct OnePasswordReader: JSONRecords {
    let json: ForeignJSON
    let zip: ForeignZip
    let collector: RecordCollector
    var ids: Set<ExactText> = []
    /// The number of records so far.
    var number = 0

    /// Adds the records of a vault.
    ///
    /// - Throws: as `RecordCollector.add`, `ForeignFailure.damaged`.
    mutating func add(_ vault: ForeignJSON.Value) throws(ForeignFailure) {
        let attributes = try json.object(vault["attrs"])
        let name = try text(attributes?["name"])
        leaveOut("description of a vault", attributes?["desc"])
        json.skip("attrs", of: vault)
        for item in try json.list(vault["items"], required: "a list of items") {
            // Earlier versions wrap each item in an object.
            let record = item["item"] ?? item
            number += 1
            try collector.record(item, of: json, title: record["overview"]?["title"], number: number) {
                () throws(ForeignFailure) in try add(record, of: name)
            }
        }
    }

    private mutating func add(_ item: ForeignJSON.Value, of vault: String?) throws(ForeignFailure) {
        guard item.isObject, let id = json.text(item["uuid"]), let details = item["details"], details.isObject else {
            throw .damaged("it has no ID or no details")
        }
        guard ids.insert(id.exact).inserted else { throw .damaged("another record has the same ID") }
        guard try text(item["state"]) ?? "active" == "active" else {
            collector.leaveOut("archived record")
            return json.skip(item)
        }
        if let index = json.integer(item["favIndex"]), index != 0 { collector.leaveOut("favorite mark") }
        try leaveOut("earlier password", each: details["passwordHistory"])
        let overview = try json.object(item["overview"])
        let record = RecordWriter(collector, identity: id, title: try text(overview?["title"]) ?? "")
        record.id = id
        record.folder = vault
        record.created = collector.date(item["createdAt"], of: json)
        record.modified = collector.date(item["updatedAt"], of: json)
        for url in try json.list(overview?["urls"]) {
            if let address = try text(json.object(url)?["url"]), !address.isEmpty { record.addresses.append(address) }
            // 1Password names addresses by itself.
            if let label = try text(url["label"]), !["", "website"].contains(label) {
                collector.leaveOut("label of an address")
            }
        }
        // Values that 1Password makes of the user name, and its judgment of the password.
        json.skip("subtitle", "ps", "pbe", "pgrng", of: overview)
        leaveOut("icon", overview?["icons"])
        if let address = try text(overview?["url"]), !address.isEmpty, !record.addresses.contains(address) {
            record.addresses.insert(address, at: 0)
        }
        let tags = try texts(overview?["tags"])
        if !tags.isEmpty { record.describe("tags", tags.joined(separator: ", ")) }
        try addDetails(details, try text(item["categoryUuid"]) ?? "", record)
        try record.addUnread(of: item, in: json)
    }

    private func addDetails(
        _ details: ForeignJSON.Value, _ category: String, _ record: RecordWriter
    ) throws(ForeignFailure) {
        let logins = try LoginFields(json.list(details["loginFields"]), json)
        if let kind = ["002": "card", "004": "identity", "101": "bank account"][category] {
            try record.addUser(logins.user)
            try record.addObject(kind, json.source(details))
            _ = try addFiles(of: details, record)
            return
        }
        // The form in which 1Password shows a field, and its place in the form of a web page.
        for field in try json.list(details["loginFields"]) {
            json.skip("id", "fieldType", "designation", of: field)
            if logins.isPaired(field) { json.skip("name", of: field) }
        }
        let hasPassword = try logins.add(to: record, json)
        if hasPassword {
            // The login that the record's own password belongs to has a password.
        } else if let password = try fieldSecret(details["password"]), !password.isEmpty {
            try record.addLogin(user: logins.user, password: password)
        } else if category == "001", logins.user != nil || !record.addresses.isEmpty {
            try record.addLogin(user: logins.user, password: nil)
        } else {
            try record.addUser(logins.user)
        }
        for field in logins.others {
            guard let value = try fieldSecret(field["value"]) else { continue }
            try record.addField(try first(field["name"], field["id"], field["designation"]), value)
        }
        if hasPassword, let password = try fieldSecret(details["password"]), !password.isEmpty {
            try record.addField("password", password)
        }
        if let note = try fieldSecret(details["notesPlain"]), !note.isEmpty {
            try record.addNote(note, isWhole: category == "003")
        }
        for section in try json.list(details["sections"]) {
            let title = try text(section["title"])
            json.skip("name", "hideAddAnotherField", of: section)
            for field in try json.list(section["fields"]) {
                let name = json.text(field["title"]) ?? "field"
                try part(field, name, of: record) { () throws(ForeignFailure) in
                    try addField(field, in: title, record)
                }
            }
        }
        try addUnknown(of: details, record)
        if try addFiles(of: details, record) { try record.finish() } else { try record.addAddresses() }
    }

    /// Adds a field of a section; its value is an object with one member, whose name is the kind of the field.
    private func addField(
        _ field: ForeignJSON.Value, in section: String?, _ record: RecordWriter
    ) throws(ForeignFailure) {
        let name = RecordWriter.fieldName(try first(field["title"], field["id"]), in: section)
        // The form in which 1Password shows a field.
        json.skip(
            "id", "indexAtSource", "guarded", "multiline", "dontGenerate", "placeholder", "inputTraits",
            "clipboardFilter",
            of: field)
        for member in try json.object(field["value"])?.members ?? [] where !member.value.isNull {
            try addField(name, member, record)
        }
    }

    private func addField(_ name: String, _ member: ForeignJSON.Member, _ record: RecordWriter) throws(ForeignFailure) {
        switch member.name {
        case "totp":
            if let seed = try fieldSecret(member.value), !seed.isEmpty { try record.addOneTimePassword(seed) }
        case "sshKey":
            guard let key = try fieldSecret(member.value["privateKey"]) else { throw .damaged("its key is missing") }
            let about = member.value["metadata"]
            for (name, attribute) in [("publicKey", "publicKey"), ("fingerprint", "keyFingerprint")] {
                record.describe(attribute, try text(about?[name]))
            }
            // The key again, and what it says itself.
            json.skip("privateKey", "keyType", of: about)
            try record.addPrivateKey(key)
        case "reference":
            collector.leaveOut("reference to another record")
            json.skip(member.value)
        // `addFiles` adds it.
        case "file": return
        case "email" where member.value.isObject:
            if let address = try fieldSecret(member.value["email_address"]), !address.isEmpty {
                try record.addField(name, address)
            }
        default:
            if let value = try fieldSecret(member.value), !value.isEmpty { try record.addField(name, value) }
        }
    }

    /// Adds the files that a record refers to, which are stored beside the JSON; false if one is missing.
    private func addFiles(of details: ForeignJSON.Value, _ record: RecordWriter) throws(ForeignFailure) -> Bool {
        var files: [ForeignJSON.Value] = []
        if let document = details["documentAttributes"], document.isObject { files.append(document) }
        for section in try json.list(details["sections"]) {
            for field in try json.list(section["fields"]) {
                if let file = field["value"]?["file"], file.isObject { files.append(file) }
            }
        }
        var isComplete = true
        for file in files {
            json.skip("decryptedSize", of: file)
            guard let name = json.text(file["fileName"]), let id = json.text(file["documentId"]) else {
                collector.refuse("attachment", of: record.title, "it has no name")
                json.skip(file)
                isComplete = false
                continue
            }
            if let attachment = zip.take("files/\(id)__\(name)") {
                try record.addAttachment(name, attachment.bytes.copy())
            } else {
                collector.refuse(name, of: record.title, "it is missing from the export", kind: "attachment")
                isComplete = false
            }
        }
        return isComplete
    }

    /// Adds unknown members as fields, so that nothing is lost.
    private func addUnknown(of details: ForeignJSON.Value, _ record: RecordWriter) throws(ForeignFailure) {
        let known: Set = [
            "loginFields", "notesPlain", "sections", "password", "passwordHistory", "documentAttributes",
        ]
        for member in details.members where !known.contains(member.name) {
            if member.name.exact.hasPrefix("html") {
                collector.leaveOut("form of a web page")
                json.skip(member.value)
            } else if let value = try fieldSecret(member.value), !value.isEmpty {
                try record.addField(member.name, value)
            }
        }
    }

    /// The text of a string, or the JSON of any other value; nil if it is null or empty.
    private func fieldSecret(_ value: ForeignJSON.Value?) throws(ForeignFailure) -> SecretBytes? {
        guard let value, !value.isNull else { return nil }
        if value.isString { return json.secret(value) }
        return json.isEmpty(value) ? nil : json.source(value)
    }

    /// The first text that is present; empty if there is none.
    private func first(_ values: ForeignJSON.Value?...) throws(ForeignFailure) -> String {
        for value in values { if let text = try text(value) { return text } }
        return ""
    }
}

/// The login fields of a record, with each password beside its user name.
struct LoginFields {
    /// The logins with a password; the user name may be missing.
    private var pairs: [(user: String?, password: ForeignJSON.Value)] = []
    /// The fields that are neither, and user names without a password.
    private(set) var others: [ForeignJSON.Value] = []
    /// The user name of the first login.
    let user: String?
    /// The positions of `others` in the document.
    private let unpaired: Set<Int>

    /// True for a field that is a user name or a password of a login.
    func isPaired(_ field: ForeignJSON.Value) -> Bool { !unpaired.contains(field.index) }

    /// Adds the logins, and returns true if there is one.
    func add(to record: RecordWriter, _ json: ForeignJSON) throws(ForeignFailure) -> Bool {
        var hasPassword = false
        for login in pairs {
            guard let password = json.secret(login.password) else { continue }
            try record.addLogin(user: login.user, password: password)
            hasPassword = true
        }
        return hasPassword
    }

    init(_ fields: [ForeignJSON.Value], _ json: ForeignJSON) throws(ForeignFailure) {
        var (found, others): ([(user: ForeignJSON.Value?, password: ForeignJSON.Value?)], [ForeignJSON.Value]) = (
            [], []
        )
        for field in fields {
            guard let value = field["value"], !value.isNull else { continue }
            let designation = try json.optionalText(field["designation"])
            if json.secret(value)?.isEmpty == true { continue }
            let last = found.count - 1
            switch designation {
            case "username" where value.isString:
                if last >= 0, found[last].user == nil {
                    found[last].user = field
                } else {
                    found.append((field, nil))
                }
            case "password" where value.isString:
                if last >= 0, found[last].password == nil {
                    found[last].password = field
                } else {
                    found.append((nil, field))
                }
            default: others.append(field)
            }
        }
        let names = found.map { json.text($0.user?["value"]) }
        let first = found.firstIndex { $0.password != nil } ?? 0
        user = found.isEmpty ? nil : names[first]
        for (index, login) in found.enumerated() {
            if let value = login.password?["value"] {
                pairs.append((names[index], value))
            } else if index != first, let field = login.user {
                others.append(field)
            }
        }
        self.others = others
        unpaired = Set(others.map(\.index))
    }
}
