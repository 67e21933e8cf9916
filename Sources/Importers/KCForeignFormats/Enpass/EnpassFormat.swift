internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// Enpass's JSON export.
///
/// Source: exports of Enpass 6, and what other programs expect of them.
package struct EnpassFormat: ForeignFormat {
    package let kind = ForeignKind.enpass

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        let names = file.bytes.withBytes {
            JSONHead.names(["items", "folders", "template_type", "parent_uuid"], in: $0)
        }
        return names.isSuperset(of: ["items".exact, "template_type".exact])
            || names.isSuperset(of: ["folders".exact, "parent_uuid".exact])
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let json = try ForeignJSON(file)
        let collector = RecordCollector(format: name, date: file.modified)
        var reader = try EnpassReader(json, collector)
        for (index, item) in try json.list(json.root["items"], required: "its list of items").enumerated() {
            try collector.record(item, of: json, title: item["title"], number: index + 1) {
                () throws(ForeignFailure) in try reader.add(item)
            }
        }
        collector.leaveOut(unknown: json.unread)
        return try collector.finish(details: "", isPlaintext: true)
    }
}

/// Reads the records of an Enpass export.
private struct EnpassReader: JSONRecords {
    let json: ForeignJSON
    let collector: RecordCollector
    /// The names of folders, by ID.
    private var folders: [ExactText: String] = [:]
    private var ids: Set<ExactText> = []

    /// The categories of records that are kept as a whole, and their kinds.
    private static let objects: [(category: String, kind: String)] = [
        ("creditcard", "card"), ("identity", "identity"), ("finance", "bank account"),
        ("license", "identity document"), ("travel", "identity document"),
    ]

    /// How deeply folders may be nested.
    private static let depthLimit = 32

    init(_ json: ForeignJSON, _ collector: RecordCollector) throws(ForeignFailure) {
        self.json = json
        self.collector = collector
        var found: [ExactText: (name: String, parent: String)] = [:]
        for folder in try json.list(json.root["folders"]) {
            guard let id = try text(json.object(folder)?["uuid"]), let name = try text(folder["title"]) else {
                continue
            }
            found[id.exact] = (name, try text(folder["parent_uuid"]) ?? "")
            json.skip("icon", "updated_at", of: folder)
        }
        for (id, folder) in found {
            var names = [folder.name]
            var parent = folder.parent
            while names.count < Self.depthLimit, let next = found[parent.exact] {
                names.insert(next.name, at: 0)
                parent = next.parent
            }
            folders[id] = names.joined(separator: "/")
        }
    }

    mutating func add(_ item: ForeignJSON.Value) throws(ForeignFailure) {
        guard item.isObject, let id = try text(item["uuid"]), !id.isEmpty else { throw .damaged("it has no ID") }
        guard ids.insert(id.exact).inserted else { throw .damaged("another record has the same ID") }
        for (member, kind) in [("trashed", "record in the trash"), ("archived", "archived record")]
        where isSet(item[member]) {
            collector.leaveOut(kind)
            return json.skip(item)
        }
        if isSet(item["favorite"]) { collector.leaveOut("favorite mark") }
        leaveOut("icon", item["icon"]?["uuid"])
        // How Enpass shows a record and fills a form.
        json.skip("icon", "subtitle", "auto_submit", "trashed", "archived", "favorite", of: item)
        let fields = try json.list(item["fields"]).filter { isSet($0["deleted"]) == false }
        try leaveOutHistory(of: item)
        let record = RecordWriter(collector, identity: id, title: try text(item["title"]) ?? "")
        record.id = id
        record.created = collector.date(item["createdAt"], of: json)
        record.modified = collector.date(item["updated_at"], of: json)
        record.folder = try folder(of: item)
        for field in fields { if let address = try address(field) { record.addresses.append(address) } }
        let category = try text(item["category"]) ?? ""
        try add(fields, category, record)
        // The template type says more exactly what the category says.
        json.skip("template_type", of: item)
        if let note = try filled(item["note"]) { try record.addNote(note, isWhole: category == "note") }
        for attachment in try json.list(item["attachments"]) {
            let name = json.text(attachment["name"]) ?? "attachment"
            try part(attachment, name, of: record) { () throws(ForeignFailure) in
                try add(attachment: attachment, record)
            }
        }
        try record.addUnread(of: item, in: json)
        try record.finish()
    }

    /// Counts fields that were deleted and values that were replaced.
    private func leaveOutHistory(of item: ForeignJSON.Value) throws(ForeignFailure) {
        for field in try json.list(item["fields"]) {
            guard field.isObject else { throw .damaged("a field is not an object") }
            try leaveOut("earlier value of a field", each: field["history"])
            json.skip("deleted", "order", "uid", "updated_at", "value_updated_at", "sensitive", of: field)
            guard isSet(field["deleted"]) else { continue }
            leaveOut("deleted field", field["value"])
            json.skip(field)
        }
    }

    private func add(
        _ fields: [ForeignJSON.Value], _ category: String, _ record: RecordWriter
    ) throws(ForeignFailure) {
        func first(_ type: String) throws(ForeignFailure) -> ForeignJSON.Value? {
            for field in fields where try text(field["type"])?.exact == type.exact {
                if try filled(field["value"]) != nil { return field }
            }
            return nil
        }
        let name = try first("username")
        let email = try first("email")
        let password = try first("password")
        let user = try text((name ?? email)?["value"])
        let others = try name == nil ? nil : text(email?["value"])
        let further = others.map { [ExtraAttribute(name: "email", value: $0)] } ?? []
        if let password, let secret = try secret(password["value"]) {
            try record.addLogin(user: user, others: further, password: secret)
        } else if category == "login", user != nil || !record.addresses.isEmpty {
            try record.addLogin(user: user, others: further, password: nil)
        } else {
            try record.addUser(user, others: further)
        }
        let kind = Self.objects.first { $0.category.exact == category.exact }?.kind
        var object = SecretJSON()
        var names: Set<ExactText> = []
        var section: String?
        let taken = Set([name, email, password].compactMap { $0?.index })
        for field in fields {
            let type = try text(field["type"]) ?? ""
            let label = try text(field["label"]) ?? ""
            if type == "section" {
                section = label
                json.skip(field)
                continue
            }
            guard !taken.contains(field.index), try address(field) == nil, let value = try filled(field["value"])
            else { continue }
            let name = RecordWriter.fieldName(label, in: section)
            if type == "totp" {
                try record.addOneTimePassword(value)
            } else if kind != nil, names.insert(name.exact).inserted {
                object.add(name, text: value)
            } else {
                try record.addField(name, value)
            }
        }
        if let kind, !names.isEmpty { try record.addObject(kind, object.finish()) }
    }

    /// The address in a field; nil if it has none.
    private func address(_ field: ForeignJSON.Value) throws(ForeignFailure) -> String? {
        guard let type = try text(field["type"]), ["url", ".Android#"].contains(type),
            let address = try text(field["value"]), !address.isEmpty
        else { return nil }
        return type == "url" || address.exact.contains("://") ? address : "androidapp://" + address
    }

    private func add(attachment: ForeignJSON.Value, _ record: RecordWriter) throws(ForeignFailure) {
        guard let data = try secret(json.object(attachment)?["data"]) else {
            throw .damaged("its content is missing")
        }
        var bytes = SecretBytes(capacity: data.count)
        guard data.withBytes({ Base64.decode($0, into: &bytes) }) else { throw .damaged("it is not base64") }
        try record.addAttachment(try text(attachment["name"]) ?? "", bytes)
        // The bytes themselves say what they are.
        json.skip("kind", "order", "uuid", "updated_at", "createdAt", of: attachment)
    }

    private func folder(of item: ForeignJSON.Value) throws(ForeignFailure) -> String? {
        let names = try texts(item["folders"]).compactMap { id in
            if folders[id.exact] == nil { collector.leaveOut("folder without a name") }
            return folders[id.exact]
        }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// True for a number that is not 0, and for true.
    private func isSet(_ value: ForeignJSON.Value?) -> Bool {
        json.integer(value).map { $0 != 0 } ?? json.flag(value) ?? false
    }
}
