internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// Reads the records of a database.
struct PasswordSafeReader {
    private typealias Field = PasswordSafeSeal.Opened.Field

    private let opened: PasswordSafeSeal.Opened
    private let collector: RecordCollector
    private var ids: Set<[UInt8]> = []
    /// The positions of the passwords, by the ID of the record.
    private var passwords: [[UInt8]: Range<Int>] = [:]

    /// The types of fields.
    private enum Kind {
        static let id: UInt8 = 0x01
        static let group: UInt8 = 0x02
        static let title: UInt8 = 0x03
        static let user: UInt8 = 0x04
        static let notes: UInt8 = 0x05
        static let password: UInt8 = 0x06
        static let created: UInt8 = 0x07
        static let passwordChanged: UInt8 = 0x08
        static let modified: UInt8 = 0x0c
        static let address: UInt8 = 0x0d
        static let history: UInt8 = 0x0f
        static let email: UInt8 = 0x14
        static let seed: UInt8 = 0x1b
        static let end: UInt8 = 0xff

        /// Fields that are text of the user, and become fields.
        static let texts: [(type: UInt8, name: String)] = [
            (0x0e, "Autotype"), (0x12, "Run Command"), (0x1c, "Credit Card Number"), (0x1d, "Credit Card Expiration"),
            (0x1e, "Credit Card Verification Value"), (0x1f, "Credit Card PIN"), (0x20, "QR Code"),
        ]
        /// Fields that have no place in a keychain, and are counted.
        static let others: [(type: UInt8, kind: String)] = [
            (0x09, "date of last use"), (0x0a, "expiry date of a password"), (0x10, "rule for new passwords"),
            (0x11, "expiry interval of a password"), (0x16, "rule for new passwords"),
            (0x18, "rule for new passwords"), (0x15, "mark that protects a record"),
        ]
        /// Fields that say what the program does at a click or a key.
        static let settings: Set<UInt8> = [0x13, 0x17, 0x19]
        /// How a one-time password is computed: its algorithm, digits, period and start.
        static let seedParameters: ClosedRange<UInt8> = 0x21...0x24
    }

    init(_ opened: PasswordSafeSeal.Opened, _ collector: RecordCollector) {
        self.opened = opened
        self.collector = collector
    }

    /// Adds all records.
    ///
    /// - Throws: as `RecordCollector.add`.
    mutating func read() throws(ForeignFailure) {
        // The first group holds settings of the database.
        let records = opened.groups.dropFirst()
        for record in records {
            guard let id = record.first(where: { $0.type == Kind.id }), let password = last(Kind.password, record)
            else { continue }
            // A further record with the same ID is damaged.
            let key = array(id.range)
            if passwords[key] == nil { passwords[key] = password.range }
        }
        for (index, record) in records.enumerated() {
            let title = last(Kind.title, record).flatMap { text($0) } ?? ""
            try collector.record(title.isEmpty ? "record \(index + 1)" : title) { () throws(ForeignFailure) in
                try add(record)
            }
        }
    }

    private mutating func add(_ fields: [Field]) throws(ForeignFailure) {
        guard let id = last(Kind.id, fields).map({ array($0.range) }), id.count == 16,
            let uuid = ItemUUID(bytes: id.span)
        else { throw .damaged("it has no ID") }
        guard ids.insert(id).inserted else { throw .damaged("another record has the same ID") }
        for type in [Kind.id, Kind.title, Kind.user, Kind.password] where fields.count(where: { $0.type == type }) > 1 {
            throw .damaged("a field occurs twice")
        }
        let title = last(Kind.title, fields).flatMap { text($0) } ?? ""
        func string(_ type: UInt8, _ name: String) -> String? {
            guard let field = last(type, fields), !field.range.isEmpty else { return nil }
            let text = text(field)
            if text == nil { collector.refuse(name, of: title, Self.notUTF8) }
            return text
        }
        _ = string(Kind.title, "title")
        let record = RecordWriter(collector, identity: uuid.description, title: title)
        record.id = uuid.description
        record.folder = string(Kind.group, "group")
        if let address = string(Kind.address, "address") { record.addresses = [address] }
        record.created = date(last(Kind.created, fields))
        record.modified = date(last(Kind.modified, fields)) ?? date(last(Kind.passwordChanged, fields))
        let user = string(Kind.user, "user name")
        let others = string(Kind.email, "email").map { [ExtraAttribute(name: "email", value: $0)] } ?? []
        if let password = last(Kind.password, fields), !password.range.isEmpty {
            try record.addLogin(user: user, others: others, password: secret(resolved(password.range)))
        } else if user != nil || !record.addresses.isEmpty {
            try record.addLogin(user: user, others: others, password: nil)
        } else {
            try record.addUser(user, others: others)
        }
        if let seed = last(Kind.seed, fields), !seed.range.isEmpty { try addSeed(seed, fields, record) }
        for field in fields where field.type == Kind.notes && !field.range.isEmpty {
            try collector.part("note", of: title) { () throws(ForeignFailure) in
                try record.addNote(try requireText(field), isWhole: last(Kind.password, fields) == nil)
            }
        }
        for field in fields { try addRest(field, record) }
        try record.finish()
    }

    /// Adds a field that has no part of its own, or counts it.
    private func addRest(_ field: Field, _ record: RecordWriter) throws(ForeignFailure) {
        if field.range.isEmpty { return }
        let known: [UInt8] = [
            Kind.id, Kind.group, Kind.title, Kind.user, Kind.notes, Kind.password, Kind.created, Kind.passwordChanged,
            Kind.modified, Kind.address, Kind.email, Kind.seed, Kind.end,
        ]
        if known.contains(field.type) || Kind.settings.contains(field.type) { return }
        if Kind.seedParameters.contains(field.type) { return }
        if let name = Kind.texts.first(where: { $0.type == field.type })?.name {
            try collector.part(name, of: record.title) { () throws(ForeignFailure) in
                try record.addField(name, try requireText(field))
            }
        } else if let kind = Kind.others.first(where: { $0.type == field.type })?.kind {
            collector.leaveOut(kind)
        } else if field.type == Kind.history {
            // Without earlier passwords, it has only a head.
            if field.range.count > 5 { collector.leaveOut("list of earlier passwords") }
        } else {
            try record.addAttachment("field \(field.type)", secret(field.range))
            collector.remark("fields of unknown types, which may be of a newer version, became attachments")
        }
    }

    /// Adds a one-time password, whose seed is stored as bytes.
    private func addSeed(_ seed: Field, _ fields: [Field], _ record: RecordWriter) throws(ForeignFailure) {
        func number(_ type: UInt8) -> Int? {
            guard let field = last(type, fields), (1...5).contains(field.range.count) else { return nil }
            return array(field.range).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        guard
            let parameters = OneTimePasswordParameters(
                .time(period: number(0x23) ?? OneTimePasswordParameters.standardPeriod),
                digits: number(0x22) ?? OneTimePasswordParameters.standardDigits)
        else {
            try record.addAttachment("Two-Factor Key", secret(seed.range))
            return collector.refuse(
                "one-time password", of: record.title,
                "its digits or its period are out of range; its seed is an attachment")
        }
        // No other algorithm and start has ever been written; an address cannot have them.
        guard number(0x21) ?? 0 == 0, number(0x24) ?? 0 == 0 else {
            return try record.addAttachment("Two-Factor Key", secret(seed.range))
        }
        let text = opened.bytes.withBytes { Base32.encode($0.extracting(seed.range)) }
        try record.addOneTimePassword(seed: text, parameters)
    }

    /// The password of the record that this one only names, by `[[ID]]` or `[~ID~]`; otherwise the range itself.
    private func resolved(_ range: Range<Int>) -> Range<Int> {
        guard range.count == 36 else { return range }
        return opened.bytes.withBytes { bytes in
            let isAlias =
                bytes.matches("[[".utf8, at: range.lowerBound) && bytes.matches("]]".utf8, at: range.upperBound - 2)
            let isShortcut =
                bytes.matches("[~".utf8, at: range.lowerBound) && bytes.matches("~]".utf8, at: range.upperBound - 2)
            guard isAlias || isShortcut, let id = bytes.bytes(ofHexadecimal: range.dropFirst(2).dropLast(2)) else {
                return range
            }
            return passwords[id.withBytes { $0.array(0..<$0.count) }] ?? range
        }
    }

    // MARK: Values

    private func last(_ type: UInt8, _ fields: [Field]) -> Field? { fields.last { $0.type == type } }

    private func array(_ range: Range<Int>) -> [UInt8] { opened.bytes.withBytes { $0.array(range) } }

    private func secret(_ range: Range<Int>) -> SecretBytes {
        opened.bytes.withBytes { SecretBytes($0.extracting(range)) }
    }

    /// The text of a field that is not a secret.
    private func text(_ field: Field) -> String? { opened.bytes.withBytes { $0.text(field.range) } }

    private func requireText(_ field: Field) throws(ForeignFailure) -> SecretBytes {
        let value = secret(field.range)
        guard value.isUTF8 else { throw .damaged(Self.notUTF8) }
        return value
    }

    private static let notUTF8 = "it is not UTF-8"

    /// A date in seconds since 1970, of 4 or 8 bytes.
    private func date(_ field: Field?) -> Timestamp? {
        guard let field, !field.range.isEmpty else { return nil }
        guard [4, 5, 8].contains(field.range.count) else { return collector.counted(nil) }
        return collector.counted(
            ForeignDate.seconds(
                Int64(truncatingIfNeeded: array(field.range).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })))
    }
}
