internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// A row of a table, and the items that it becomes.
final class CSVRecord {
    let row: CSVReader.Row
    /// The meaning of each column; nil for columns without a role.
    let roles: [CSVRole?]
    /// The names of the columns.
    let names: [String]
    let product: CSVProduct?
    let collector: RecordCollector

    init(
        row: CSVReader.Row, roles: [CSVRole?], names: [String], product: CSVProduct?,
        collector: RecordCollector
    ) {
        self.row = row
        self.roles = roles
        self.names = names
        self.product = product
        self.collector = collector
    }

    /// Adds the items of the row.
    ///
    /// - Throws: as `RecordCollector.add`.
    func add(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        if leavesOut(bytes) { return }
        let addresses = addresses(bytes)
        let lines = loginLines(bytes)
        let user =
            lines.user ?? userName(bytes) ?? text(.email, bytes) ?? text(.secondUser, bytes)
            ?? text(.thirdUser, bytes)
        let title = text(.title, bytes) ?? ""
        let password = password(lines, bytes)
        let parsed = addresses.map { WebAddress($0) }
        let key = RecordWriter.identity(
            of: RecordWriter.names(title: title, addresses: parsed, user: user, password: password))
        // Rows without an ID are told apart by the number of earlier ones with the same title, address and user.
        let ordinal = collector.ordinal(of: key)
        let id = text(.id, bytes)
        let record = RecordWriter(
            collector, identity: id.map { RecordWriter.identity(of: [$0]) } ?? key, ordinal: id == nil ? ordinal : 0,
            title: title)
        record.id = id
        record.setAddresses(addresses, parsed: parsed)
        record.folder = text(.folder, bytes)
        record.authentication = authentication(bytes)
        record.created = date(.createdMilliseconds, .createdSeconds, .created, bytes)
        record.modified = date(.changedMilliseconds, .changedSeconds, .changed, bytes)
        record.describe("tags", text(.tags, bytes))
        record.describe("type", lines.type)
        let roles: [(CSVRole, String)] = [(.secondUser, "username.2"), (.thirdUser, "username.3"), (.email, "email")]
        let others = roles.compactMap { role, name in
            text(role, bytes).flatMap { $0 == user ? nil : ExtraAttribute(name: name, value: $0) }
        }
        try addParts(of: record, user, others, password, lines.rest, bytes)
    }

    private func userName(_ bytes: borrowing Span<UInt8>) -> String? {
        guard let name = text(.username, bytes) else { return nil }
        guard product?.hasApostrophes == true, Self.hasApostrophe(name.utf8.span) else { return name }
        return name.exact.removingPrefix("'") ?? name
    }

    /// True for text that RoboForm writes with an apostrophe before it, so that no spreadsheet takes it for a formula.
    private static func hasApostrophe(_ text: borrowing Span<UInt8>) -> Bool {
        text.starts(with: "'@") || text.starts(with: "''")
    }

    private func loginLines(_ bytes: borrowing Span<UInt8>) -> LoginLines {
        guard let cell = cell(.loginLines) else { return LoginLines(SecretBytes(capacity: 0)) }
        return LoginLines(cell.secret(in: bytes))
    }

    /// The password; nil if there is none.
    private func password(_ lines: borrowing LoginLines, _ bytes: borrowing Span<UInt8>) -> SecretBytes? {
        if !lines.password.isEmpty { return lines.password.copy() }
        // If the program quotes every value, an empty password differs from a missing one.
        guard let cell = cell(.password), product?.tellsNull == true ? !cell.isNull : !cell.isEmpty else { return nil }
        var password = cell.secret(in: bytes)
        if product?.hasApostrophes == true, password.withBytes({ Self.hasApostrophe($0) }) {
            password.removeFirst(1)
        }
        return password
    }

    private func addParts(
        of record: RecordWriter, _ user: String?, _ others: [ExtraAttribute], _ password: consuming SecretBytes?,
        _ rest: borrowing SecretBytes, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) {
        var isSomething = false
        let type = text(.type, bytes)?.lowercased() ?? "login"
        let isWebNote = product?.hasWebForms == true && record.addresses == ["http://sn"]
        let isNote = ["note", "securenote"].contains(type) || isWebNote
        if isWebNote { record.addresses = [] }
        let isAlias = product?.notesAreObjects == true && type == "alias"
        if isAlias { collector.leaveOut("alias of an address") }
        switch consume password {
        case .some(let password):
            try record.addLogin(user: user, others: others, password: password)
            isSomething = true
        case .none where !isNote && !isAlias && (user != nil || !record.addresses.isEmpty):
            try record.addLogin(user: user, others: others, password: nil)
            isSomething = true
        case .none: try record.addUser(user, others: others)
        }
        if product?.hasWebForms == true, cell(.password)?.contains("&amp;", in: bytes) == true {
            collector.remark("passwords have '&amp;' in them, which some versions of LastPass write for '&'")
        }
        if let cell = cell(.totp), !cell.isEmpty {
            try record.addOneTimePassword(cell.secret(in: bytes))
            isSomething = true
        }
        if let cell = cell(.notes), !cell.isEmpty {
            if product?.notesAreObjects == true, ["creditcard", "identity", "custom", "sshkey", "wifi"].contains(type) {
                try record.addObject(type == "creditcard" ? "card" : type, cell.secret(in: bytes))
            } else {
                try record.addNote(cell.secret(in: bytes), isWhole: !isSomething)
            }
            isSomething = true
        }
        if !rest.isEmpty {
            try record.addField("SecretData", rest.copy())
            isSomething = true
        }
        if let cell = cell(.fields), !cell.isEmpty {
            try addFields(cell.secret(in: bytes), of: record)
            isSomething = true
        }
        for (index, cell) in row.cells.enumerated() where !cell.isEmpty {
            // Extra cells belong to the last column.
            let column = min(index, names.count - 1)
            if roles[column] == nil || roles[column] == .urlList && furtherAddresses(bytes) == nil
                || isFurther(column, bytes)
            {
                try record.addField(names[column], cell.secret(in: bytes))
            } else if roles[column] == .formFields {
                try addFormField(cell.secret(in: bytes), of: record)
            } else {
                continue
            }
            isSomething = true
        }
        if isAlias { try record.addAddresses() } else { try record.finish() }
    }

    /// Adds a field of the form `name: value`, or `name:value` in Zoho's tables.
    ///
    /// A value may have several lines, and one of them may look like a field. Names are readable and values are secret,
    /// so the text is split only if it is a single line; otherwise it is kept as one secret.
    private func addFields(_ text: consuming SecretBytes, of record: RecordWriter) throws(ForeignFailure) {
        let blanks = product?.hasDenseFields == true ? 0 : 1
        if blanks == 0, text.withBytes({ $0[$0.count - 1] == UInt8(ascii: "\n") }) { text.removeLast(1) }
        let (isOne, colon) = text.withBytes { bytes in
            (
                bytes.firstIndex(of: UInt8(ascii: "\n")) == nil,
                bytes.indices.first { index in
                    bytes[index] == UInt8(ascii: ":")
                        && (blanks == 0 || index + 1 == bytes.count || bytes[index + 1] == UInt8(ascii: " "))
                }
            )
        }
        guard isOne, let colon, let name = text.withBytes({ $0.extracting(0..<colon).utf8Text }) else {
            return try record.addField("fields", text)
        }
        let value = text.withBytes { bytes in SecretBytes(bytes.extracting(min(colon + 1 + blanks, bytes.count)...)) }
        try record.addField(name, value)
    }

    /// Adds a field of the form `name,…,…,type,value`, as RoboForm writes the fields of a web form; old versions write
    /// `name:type:value`.
    private func addFormField(_ text: borrowing SecretBytes, of record: RecordWriter) throws(ForeignFailure) {
        func places(_ separator: UInt8, _ count: Int) -> [Int]? {
            let places = text.withBytes { bytes in
                Array(bytes.indices.filter { bytes[$0] == separator }.prefix(count))
            }
            let isName = places.first.map { end in
                text.withBytes { bytes in
                    if bytes.starts(with: "-no-name-,") { return true }
                    return bytes.extracting(0..<end).utf8Text?.exact.hasSuffix("$") ?? false
                }
            }
            return places.count == count && isName == true ? places : nil
        }
        guard let ends = places(UInt8(ascii: ","), 4) ?? places(UInt8(ascii: ":"), 2), let start = ends.last,
            let name = text.withBytes({ $0.extracting(0..<ends[0]).utf8Text })
        else { return try record.addField("field", text.copy()) }
        let value = text.withBytes { bytes in SecretBytes(bytes.extracting((start + 1)...)) }
        if value.isEmpty { return }
        switch name {
        case "TOTP KEY$": try record.addOneTimePassword(value)
        case "-no-name-": try record.addField("", value)
        default: try record.addField(name.exact.removingSuffix("$") ?? name, value)
        }
    }

    /// Counts what is left out, such as archived records and the browser's own keys; true if the whole record is.
    private func leavesOut(_ bytes: borrowing Span<UInt8>) -> Bool {
        if isSet(.archived, bytes) {
            collector.leaveOut("archived record")
            return true
        }
        if text(.url, bytes)?.exact.hasPrefix("chrome://FirefoxAccounts") == true {
            collector.leaveOut("key of a Firefox account")
            return true
        }
        if product?.hasWebForms == true, text(.url, bytes) == "http://group", text(.username, bytes) == nil,
            cell(.password)?.isEmpty == true
        {
            collector.leaveOut("empty folder")
            return true
        }
        if isSet(.favorite, bytes) { collector.leaveOut("favorite mark") }
        if isSet(.icon, bytes) { collector.leaveOut("icon") }
        if isSet(.lastUse, bytes) { collector.leaveOut("date of last use") }
        if isSet(.classification, bytes) { collector.leaveOut("classification") }
        if isSet(.reprompt, bytes) { collector.leaveOut("reprompt mark") }
        if text(.matching, bytes).map({ $0 != text(.url, bytes) }) == true {
            collector.leaveOut("rule for matching an address")
        }
        if let form = text(.formOrigin, bytes), form != text(.url, bytes) { collector.leaveOut("address of a form") }
        return false
    }

    private func addresses(_ bytes: borrowing Span<UInt8>) -> [String] {
        let given = roles.indices.filter { roles[$0] == .url && !row.cells[$0].isEmpty }
        if !given.isEmpty {
            var addresses: [String] = []
            for address in given.map({ row.cells[$0].text(in: bytes) }) + (furtherAddresses(bytes) ?? [])
            where !addresses.contains(where: { $0.exact == address.exact }) {
                addresses.append(address)
            }
            return addresses
        }
        guard let joined = text(.urls, bytes) else { return [] }
        var addresses: [String] = []
        /// The pieces since the last one with a scheme.
        var pieces: [String] = []
        func flush() {
            // A comma may be part of an address. If an '@' follows, it may be in a password, no part of which may look
            // like an address of its own.
            let isOne = pieces.dropFirst().contains { $0.utf8.contains(UInt8(ascii: "@")) }
            for (index, piece) in pieces.enumerated() {
                let trimmed = String(piece.drop { $0 == " " })
                if index > 0, isOne || WebAddress(trimmed) == nil {
                    addresses[addresses.count - 1] += "," + piece
                } else {
                    addresses.append(trimmed)
                }
            }
            pieces = []
        }
        for piece in joined.exact.split(separator: ",", omittingEmptySubsequences: false) {
            if piece.exact.contains("://") { flush() }
            pieces.append(piece)
        }
        flush()
        return addresses
    }

    /// The addresses in a list; nil if the cell is not such a list, and is imported as a field.
    private func furtherAddresses(_ bytes: borrowing Span<UInt8>) -> [String]? {
        guard text(.url, bytes) != nil, let cell = cell(.urlList), !cell.isEmpty else { return nil }
        do throws(ForeignFailure) {
            let list = try ForeignJSON(cell.secret(in: bytes))
            let addresses = list.root.values.compactMap { list.text($0) }
            return list.root.isArray && addresses.count == list.root.values.count ? addresses : nil
        } catch {
            return nil
        }
    }

    private func authentication(_ bytes: borrowing Span<UInt8>) -> RecordWriter.Authentication {
        guard let realm = cell(.realm) else { return .unknown }
        return realm.isNull ? .form : .http(realm: realm.text(in: bytes))
    }

    private func date(
        _ milliseconds: CSVRole, _ seconds: CSVRole, _ iso: CSVRole, _ bytes: borrowing Span<UInt8>
    ) -> Timestamp? {
        var found: (text: String, date: Timestamp?)?
        if let text = text(milliseconds, bytes) { found = (text, ForeignDate.milliseconds(Int64(text))) }
        if let text = text(seconds, bytes) { found = (text, ForeignDate.seconds(Int64(text))) }
        if let text = text(iso, bytes) { found = (text, ForeignDate.iso(text)) }
        guard let found else { return nil }
        if found.date == nil { collector.leaveOut("unreadable date") }
        return found.date
    }

    private func isSet(_ role: CSVRole, _ bytes: borrowing Span<UInt8>) -> Bool {
        text(role, bytes).map { !["0", "false"].contains($0.lowercased()) } ?? false
    }

    // Of several columns with one of these roles, each may hold something else.
    private static let distinct: Set<CSVRole> = [
        .title, .username, .password, .notes, .totp, .folder, .urls, .email, .secondUser, .thirdUser, .tags, .fields,
    ]

    /// True if another column has the same role and another value, which `cell` returns.
    private func isFurther(_ column: Int, _ bytes: borrowing Span<UInt8>) -> Bool {
        guard let role = roles[column], Self.distinct.contains(role), let first = cell(role) else { return false }
        return !first.secret(in: bytes).isEqual(to: row.cells[column].secret(in: bytes))
    }

    /// The cell with a role; of several, the first that is not empty.
    private func cell(_ role: CSVRole) -> CSVReader.Cell? {
        var empty: CSVReader.Cell?
        for index in roles.indices where roles[index] == role {
            if !row.cells[index].isEmpty { return row.cells[index] }
            empty = empty ?? row.cells[index]
        }
        return empty
    }

    /// The text of a cell that is not a secret; nil if it is empty.
    private func text(_ role: CSVRole, _ bytes: borrowing Span<UInt8>) -> String? {
        cell(role).flatMap { $0.isEmpty ? nil : $0.text(in: bytes) }
    }
}
