internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel
internal import KCKeychainStore

/// The logins in a database of Chromium.
///
/// Source: `components/password_manager/core/browser/password_store/login_database.cc` of Chromium.
struct ChromiumLogins {
    private let keys: ChromiumKeys
    private let collector: RecordCollector
    /// The number of passwords that were decrypted, and of those whose key was not found.
    private(set) var openedCount = 0
    private(set) var lockedCount = 0

    // Far more than anybody has.
    private static let rowLimit = 1_000_000

    init(keys: ChromiumKeys, collector: RecordCollector) {
        self.keys = keys
        self.collector = collector
    }

    /// A row of the table of logins, by the names of its columns.
    private struct Row {
        let columns: [ExactText: Int]
        let values: [DatabaseImage.Value]

        /// The columns that every version has.
        static let required = ["origin_url", "signon_realm", "username_value", "password_value", "blacklisted_by_user"]
        /// The other columns that are read, and those that say only how the browser fills in forms and keeps its records.
        static let known = Set(
            (required + [
                "date_created", "date_password_modified", "date_last_used", "scheme", "federation_url", "display_name",
                "sender_email", "action_url", "username_element", "password_element", "submit_element", "password_type",
                "times_used", "form_data", "icon_url", "skip_zero_click", "generation_upload_status",
                "possible_username_pairs", "id", "moving_blocked_for", "sender_name", "date_received",
                "sharing_notification_displayed", "keychain_identifier", "sender_profile_image_url", "date_last_filled",
                "actor_login_approved", "preferred", "ssl_valid",
            ]).map(\.exact))

        subscript(_ column: String) -> DatabaseImage.Value { columns[column.exact].map { values[$0 + 1] } ?? .null }

        /// The number by which the tables of notes name a login.
        var id: Int64? { values[0].number }

        /// The columns whose meaning is not known and that hold something.
        var unknown: [String] {
            let names = columns.filter { !Self.known.contains($0.key) }.sorted { $0.value < $1.value }
            return names.filter { ![.null, .number(0), .bytes([])].contains(values[$0.value + 1]) }.map(\.key.string)
        }

        /// A text that has content; nil for an empty one.
        ///
        /// - Throws: `ForeignFailure.damaged` for anything but UTF-8.
        func filled(_ column: String) throws(ForeignFailure) -> String? {
            guard let bytes = self[column].bytes, !bytes.isEmpty else { return nil }
            guard let text = self[column].text else { throw .damaged("one of its texts is not UTF-8") }
            return text
        }
    }

    /// Adds the logins of a database.
    ///
    /// - Throws: `ForeignFailure`, `CryptographyFailure`, and what asking for secrets throws.
    mutating func read(_ file: ForeignFile) throws {
        let database = try ForeignDatabase(file.bytes.copy(), "Login Data")
        let names = try database.columns(of: "logins")
        guard Row.required.allSatisfy({ names.contains($0.exact) }) else {
            throw ForeignFailure.unknownVariant("a table of logins with other columns")
        }
        let columns = Dictionary(names.enumerated().map { ($1, $0) }) { one, _ in one }
        let rows = try database.rows("SELECT rowid, * FROM logins ORDER BY rowid", limit: Self.rowLimit)
        var notes = try notes(in: database)
        for (index, values) in rows.enumerated() {
            let row = Row(columns: columns, values: values)
            let own = row.id.flatMap { notes.removeValue(forKey: $0) } ?? []
            let realm = row["signon_realm"].text ?? ""
            try collector.record(realm.isEmpty ? "login \(index + 1)" : realm) { try add(row, own) }
        }
        collector.leaveOut("note of no login", notes.values.reduce(0) { $0 + $1.count })
        if try !database.columns(of: "insecure_credentials").isEmpty {
            let count = try database.rows("SELECT count(*) FROM insecure_credentials", limit: 1)
            collector.leaveOut("record of a leaked password", Int(clamping: count[0][0].number ?? 0))
        }
    }

    /// The encrypted notes by the numbers of their logins.
    private func notes(in database: ForeignDatabase) throws -> [Int64: [[UInt8]]] {
        guard try !database.columns(of: "password_notes").isEmpty else { return [:] }
        var notes: [Int64: [[UInt8]]] = [:]
        let rows = try database.rows(
            "SELECT parent_id, value FROM password_notes ORDER BY rowid", limit: Self.rowLimit)
        for row in rows {
            guard let value = row[1].bytes, !value.isEmpty else { continue }
            notes[row[0].number ?? 0, default: []].append(value)
        }
        return notes
    }

    private mutating func add(_ row: Row, _ notes: [[UInt8]]) throws {
        guard let realm = try row.filled("signon_realm") else { throw ForeignFailure.damaged("it has no address") }
        if row["blacklisted_by_user"].number != 0 { return collector.leaveOut("site whose passwords are never saved") }
        let address = try row.filled("origin_url") ?? realm
        let user = try row.filled("username_value")
        let password = try opened(row["password_value"].bytes ?? [], of: realm)
        if password.isLocked { return }
        let names = RecordWriter.identity(
            of: RecordWriter.names(title: "", addresses: [address], user: user, password: password.plain))
        let record = RecordWriter(collector, identity: names, ordinal: collector.ordinal(of: names), title: "")
        record.addresses = [address]
        record.authentication = Self.authentication(row["scheme"].number, realm: realm)
        record.created = date(row["date_created"])
        record.modified = date(row["date_password_modified"]) ?? record.created
        record.describe("federation", try row.filled("federation_url"))
        if row["date_last_used"].number ?? 0 != 0 { collector.leaveOut("date of last use") }
        if try row.filled("display_name") != nil { collector.leaveOut("display name") }
        collector.leaveOut(unknown: row.unknown)
        if try row.filled("sender_email") != nil { collector.leaveOut("sender of a shared password") }
        try record.addLogin(user: user, password: password.takePlain())
        for note in notes {
            try collector.part("note", of: realm) {
                let opened = try opened(note, of: realm)
                if let text = opened.takePlain() { try record.addNote(text) }
            }
        }
        try record.finish()
    }

    /// A date; none for 0.
    private func date(_ value: DatabaseImage.Value) -> Timestamp? {
        if [.null, .number(0)].contains(value) { return nil }
        return collector.counted(ForeignDate.microsecondsSince1601(value.number))
    }

    /// A value after the attempt to decrypt it.
    private final class Decrypted {
        private(set) var plain: SecretBytes?
        /// True if its key was not found, and the login was refused for it.
        let isLocked: Bool

        init(_ plain: consuming SecretBytes?, isLocked: Bool = false) {
            self.plain = plain
            self.isLocked = isLocked
        }

        func takePlain() -> SecretBytes? { plain.take() }
    }

    /// Decrypts a value; names its login if the key was not found.
    private mutating func opened(_ value: [UInt8], of realm: String) throws -> Decrypted {
        if value.isEmpty { return Decrypted(nil) }
        switch try keys.open(value) {
        case .plain(let plain):
            openedCount += 1
            return Decrypted(plain)
        case .noKey:
            lockedCount += 1
            collector.refuse(realm, .damaged("no key that was found opens it"))
            return Decrypted(nil, isLocked: true)
        case .damaged: throw ForeignFailure.damaged("it cannot be decrypted")
        }
    }

    /// How a server asks for the password; the realm of a server follows its address.
    private static func authentication(_ scheme: Int64?, realm: String) -> RecordWriter.Authentication {
        switch scheme {
        // A form, also one that asks for the name alone.
        case 0, 4: return .form
        // Basic and digest authentication.
        case 1, 2:
            let parts = realm.exact.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
            return parts.count == 4 ? .http(realm: parts[3]) : .unknown
        default: return .unknown
        }
    }
}
