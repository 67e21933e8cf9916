internal import ByteStreams
internal import ItemSources
internal import KeychainModel

/// A row of a table, and what it becomes.
struct CSVRecord {
    let row: CSVReader.Row
    /// What the columns mean; nil for one that nobody named.
    let roles: [CSVRole?]
    /// The names of the columns.
    let names: [CSVReader.Cell]
    let product: CSVProduct?

    /// Adds the items of the row.
    ///
    /// - Parameter ordinals: how many rows of the same title, address and user came before; they have no other ID.
    /// - Throws: as `RecordCollector.add`.
    mutating func add(
        to collector: inout RecordCollector, _ bytes: borrowing Span<UInt8>, format: String,
        _ ordinals: inout [[String]: Int]
    ) throws(ForeignFailure) {
        if leavesOut(&collector, bytes) { return }
        let addresses = addresses(bytes)
        let user = text(.username, bytes) ?? text(.email, bytes)
        let title = text(.title, bytes) ?? ""
        let key = [title, addresses.joined(separator: " "), user ?? ""]
        let ordinal = ordinals[key, default: 0]
        ordinals[key] = ordinal + 1
        let id = text(.id, bytes)
        var record = RecordWriter(
            format: format,
            identity: RecordWriter.identity(of: id.map { [$0] } ?? key),
            ordinal: id == nil ? ordinal : 0,
            title: title)
        record.id = id
        record.addresses = addresses
        record.user = user
        record.folder = text(.folder, bytes)
        record.authentication = authentication(bytes)
        record.created = date(.createdMilliseconds, .createdSeconds, .created, &collector, bytes)
        record.modified = date(.changedMilliseconds, .changedSeconds, .changed, &collector, bytes)
        let others: [(CSVRole, String)] = [(.secondUser, "username.2"), (.thirdUser, "username.3"), (.tags, "tags")]
        for (role, name) in others {
            if let text = text(role, bytes) { record.extra.append(ExtraAttribute(name: name, value: text)) }
        }
        if let email = text(.email, bytes), email != user {
            record.extra.append(ExtraAttribute(name: "email", value: email))
        }
        try addParts(of: &record, to: &collector, bytes)
    }

    private func addParts(
        of record: inout RecordWriter, to collector: inout RecordCollector, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) {
        var isSomething = false
        let type = text(.type, bytes)?.lowercased() ?? "login"
        let isNote = ["note", "securenote"].contains(type) || record.addresses == ["http://sn"]
        if isNote { record.addresses = [] }
        // Where quotation marks tell the two apart, an empty password is one.
        let tellsNull = product?.tellsNull == true
        let password = cell(.password).flatMap { (tellsNull ? $0.isNull : $0.isEmpty) ? nil : $0 }
        if let password {
            try record.addLogin(password.secret(in: bytes), to: &collector)
            isSomething = true
        } else if !isNote, record.user != nil || !record.addresses.isEmpty {
            try record.addLogin(nil, to: &collector)
            isSomething = true
        }
        if let cell = cell(.totp), !cell.isEmpty {
            try record.addOneTimePassword(cell.secret(in: bytes), to: &collector)
            isSomething = true
        }
        if let cell = cell(.notes), !cell.isEmpty {
            if ["creditcard", "identity", "custom", "sshkey", "wifi"].contains(type) {
                try record.addObject(type == "creditcard" ? "card" : type, cell.secret(in: bytes), to: &collector)
            } else {
                try record.addNote(cell.secret(in: bytes), isWhole: !isSomething, to: &collector)
            }
            isSomething = true
        }
        if let cell = cell(.fields), !cell.isEmpty {
            try addFields(cell.secret(in: bytes), of: &record, to: &collector)
            isSomething = true
        }
        for (index, role) in roles.enumerated() where role == nil && !row.cells[index].isEmpty {
            try record.addField(names[index].text(in: bytes), row.cells[index].secret(in: bytes), to: &collector)
            isSomething = true
        }
        if !isSomething { collector.leaveOut("record without a secret") }
    }

    /// Lines of `name: value`; one that is none belongs to the value before it.
    private func addFields(
        _ text: borrowing SecretBytes, of record: inout RecordWriter, to collector: inout RecordCollector
    ) throws(ForeignFailure) {
        let fields = text.withBytes { bytes in
            var fields: [(name: Range<Int>, value: Range<Int>)] = []
            var start = 0
            while start <= bytes.count {
                let end = (start..<bytes.count).first { bytes[$0] == UInt8(ascii: "\n") } ?? bytes.count
                let colon = (start..<end).first {
                    bytes[$0] == UInt8(ascii: ":") && ($0 + 1 == end || bytes[$0 + 1] == UInt8(ascii: " "))
                }
                if let colon {
                    fields.append((start..<colon, min(colon + 2, end)..<end))
                } else if let last = fields.popLast() {
                    fields.append((last.name, last.value.lowerBound..<end))
                } else if start < end {
                    fields.append((start..<start, start..<end))
                }
                start = end + 1
            }
            return fields
        }
        for field in fields {
            let name = text.withBytes { bytes in String(decoding: field.name.map { bytes[$0] }, as: UTF8.self) }
            let value = text.withBytes { bytes in SecretBytes(bytes.extracting(field.value)) }
            try record.addField(name, value, to: &collector)
        }
    }

    /// Counts what stays behind: archived records, and the browser's own keys.
    private func leavesOut(_ collector: inout RecordCollector, _ bytes: borrowing Span<UInt8>) -> Bool {
        if isSet(.archived, bytes) {
            collector.leaveOut("archived record")
            return true
        }
        if text(.url, bytes)?.hasPrefix("chrome://FirefoxAccounts") == true {
            collector.leaveOut("key of a Firefox account")
            return true
        }
        if isSet(.favorite, bytes) { collector.leaveOut("mark of a favorite") }
        return false
    }

    private func addresses(_ bytes: borrowing Span<UInt8>) -> [String] {
        if let address = text(.url, bytes) { return [address] }
        guard let joined = text(.urls, bytes) else { return [] }
        var addresses: [String] = []
        for piece in joined.split(separator: ",", omittingEmptySubsequences: false) {
            let trimmed = String(piece.drop { $0 == " " })
            // A comma may be part of an address.
            if let last = addresses.last, WebAddress(trimmed) == nil, !trimmed.contains("://") {
                addresses[addresses.count - 1] = last + "," + piece
            } else {
                addresses.append(trimmed)
            }
        }
        return addresses
    }

    private func authentication(_ bytes: borrowing Span<UInt8>) -> RecordWriter.Authentication {
        guard let realm = cell(.realm) else { return .unknown }
        return realm.isNull ? .form : .http(realm: realm.text(in: bytes))
    }

    private func date(
        _ milliseconds: CSVRole, _ seconds: CSVRole, _ iso: CSVRole, _ collector: inout RecordCollector,
        _ bytes: borrowing Span<UInt8>
    ) -> Timestamp? {
        var found: (text: String, date: Timestamp?)?
        if let text = text(milliseconds, bytes) { found = (text, ForeignDate.milliseconds(Int64(text))) }
        if let text = text(seconds, bytes) { found = (text, ForeignDate.seconds(Int64(text))) }
        if let text = text(iso, bytes) { found = (text, ForeignDate.iso(text)) }
        guard let found else { return nil }
        if found.date == nil { collector.leaveOut("date that cannot be read") }
        return found.date
    }

    private func isSet(_ role: CSVRole, _ bytes: borrowing Span<UInt8>) -> Bool {
        text(role, bytes).map { !["0", "false"].contains($0.lowercased()) } ?? false
    }

    private func cell(_ role: CSVRole) -> CSVReader.Cell? {
        roles.firstIndex(of: role).map { row.cells[$0] }
    }

    /// The text of a cell that is no secret; nil where it is empty.
    private func text(_ role: CSVRole, _ bytes: borrowing Span<UInt8>) -> String? {
        cell(role).flatMap { $0.isEmpty ? nil : $0.text(in: bytes) }
    }
}
