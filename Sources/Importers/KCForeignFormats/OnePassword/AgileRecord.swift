internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// The secret part of a record in the formats of 1Password 4 to 7, which 1PIF and OPVault have in common.
struct AgileRecord: JSONRecords {
    let json: ForeignJSON
    let collector: RecordCollector

    /// The kinds of records, by their numbers in OPVault and their names in 1PIF.
    private static let objects: [(number: String, name: String, kind: String)] = [
        ("002", "wallet.financial.CreditCard", "card"), ("004", "identities.Identity", "identity"),
        ("101", "wallet.financial.BankAccountUS", "bank account"),
        ("103", "wallet.government.DriversLicense", "identity document"),
        ("106", "wallet.government.Passport", "identity document"),
        ("108", "wallet.government.SsnUS", "identity document"),
    ]
    private static let logins: Set<ExactText> = ["001", "webforms.WebForm"]
    private static let notes: Set<ExactText> = ["003", "securenotes.SecureNote"]

    /// The addresses in the secret part.
    func addresses(of details: ForeignJSON.Value?) throws(ForeignFailure) -> [String] {
        var addresses: [String] = []
        for url in try json.list(details?["URLs"]) {
            if let address = try text(json.object(url)?["url"]), !address.isEmpty { addresses.append(address) }
            // 1Password names addresses by itself.
            if let label = try text(url["label"]), !["", "website"].contains(label) {
                collector.leaveOut("label of an address")
            }
        }
        return addresses
    }

    /// Adds the parts of a record, whose addresses and dates are set.
    ///
    /// - Parameter type: the number or the name of what it is.
    func add(_ details: ForeignJSON.Value, _ type: String, to record: RecordWriter) throws(ForeignFailure) {
        try leaveOut("earlier password", each: details["passwordHistory"])
        let logins = try LoginFields(json.list(details["fields"]), json)
        let object = Self.objects.first { $0.number.exact == type.exact || $0.name.exact == type.exact }
        if let object {
            try record.addUser(logins.user)
            return try record.addObject(object.kind, json.source(details))
        }
        for field in try json.list(details["fields"]) {
            // The form in which 1Password shows a field, and its place in the form of a web page.
            json.skip("id", "type", "designation", of: field)
            if logins.isPaired(field) { json.skip("name", of: field) }
        }
        let hasPassword = try logins.add(to: record, json)
        try addPassword(value(details["password"]), type, logins.user, hasPassword: hasPassword, to: record)
        for field in logins.others {
            guard let value = try value(field["value"]) else { continue }
            try record.addField(try first(field["name"], field["id"], field["designation"]), value)
        }
        if let note = try value(details["notesPlain"]) {
            try record.addNote(note, isWhole: Self.notes.contains(type.exact))
        }
        for section in try json.list(details["sections"]) {
            guard section.isObject else { throw .damaged("a section is not an object") }
            let title = try text(section["title"])
            json.skip("name", of: section)
            for field in try json.list(section["fields"]) {
                let name = json.text(field["t"]) ?? "field"
                try part(field, name, of: record) { () throws(ForeignFailure) in
                    try addField(field, in: title, record)
                }
            }
        }
        try addRest(of: details, record)
    }

    /// Adds the password that a record has beside its login fields, as the login if they have none.
    private func addPassword(
        _ password: consuming SecretBytes?, _ type: String, _ user: String?, hasPassword: Bool,
        to record: RecordWriter
    ) throws(ForeignFailure) {
        switch consume password {
        case .some(let password) where hasPassword:
            try record.addUser(user)
            try record.addField("password", password)
        case .some(let password): try record.addLogin(user: user, password: password)
        case .none where !hasPassword && Self.logins.contains(type.exact) && (user != nil || !record.addresses.isEmpty):
            try record.addLogin(user: user, password: nil)
        case .none: try record.addUser(user)
        }
    }

    private func addField(
        _ field: ForeignJSON.Value, in section: String?, _ record: RecordWriter
    ) throws(ForeignFailure) {
        guard field.isObject else { throw .damaged("it is not an object") }
        let id = try text(field["n"]) ?? ""
        let name = RecordWriter.fieldName(try first(field["t"], field["n"]), in: section)
        // The form in which 1Password shows a field.
        json.skip("a", "inputTraits", of: field)
        let kind = try text(field["k"])
        if kind == "reference" { return leaveOut("reference to another record", field["v"]) }
        guard let value = try value(field["v"]) else { return }
        if id.exact.hasPrefix("TOTP_") {
            try record.addOneTimePassword(value)
        } else {
            try record.addField(name, value)
        }
    }

    /// Adds what has no place of its own as fields, so that nothing is lost.
    private func addRest(of details: ForeignJSON.Value, _ record: RecordWriter) throws(ForeignFailure) {
        let known: Set<ExactText> = ["fields", "notesPlain", "sections", "password", "passwordHistory", "URLs"]
        for member in details.members where !known.contains(member.name.exact) {
            if member.name.exact.hasPrefix("html") {
                leaveOut("form of a web page", member.value)
            } else if let value = try value(member.value) {
                try record.addField(member.name, value)
            }
        }
    }

    /// The text of a string, or the JSON of any other value; nil if it is null or empty.
    private func value(_ value: ForeignJSON.Value?) throws(ForeignFailure) -> SecretBytes? {
        guard let value, !json.isEmpty(value) else { return nil }
        return value.isString ? json.secret(value) : json.source(value)
    }

    /// The first text that is present and not empty; empty if there is none.
    private func first(_ values: ForeignJSON.Value?...) throws(ForeignFailure) -> String {
        for value in values { if let text = try text(value), !text.isEmpty { return text } }
        return ""
    }
}
