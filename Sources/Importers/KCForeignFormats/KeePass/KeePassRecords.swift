internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// Makes keychain items from the entries of a KeePass database.
final class KeePassRecords {
    let database: KDBXDatabase
    private let collector: RecordCollector
    private(set) var entries: [KeePassEntry] = []
    /// The indices of entries, by their UUIDs.
    private(set) var places: [ItemUUID: Int] = [:]
    /// The indices of entries that references by other fields lead to; nil for those that lead nowhere.
    var found: [KeePassReference: Int?] = [:]
    /// The number of bytes that searches for references have visited, and the cost of each visit.
    var visits = 0
    private var groups: [KeePassGroup] = []
    /// The names of entries that cannot be read, and why.
    private var failures: [(name: String, rule: String)] = []
    private var unresolved = UnresolvedReferences()
    private var trashed = 0

    // The maximum length of a chain of references between entries.
    private static let referenceDepth = 10
    /// The maximum number of bytes that searches for references visit, so that many of them end in seconds.
    static let visitLimit = 2_000_000_000
    /// The cost of the visit of a value, in bytes.
    static let visitCost = 16

    /// The form of a database, by its name in messages.
    enum Form: String {
        case kdbx3 = "KDBX 3"
        case kdbx4 = "KDBX 4"
        case xml = "XML"
    }

    init(_ database: KDBXDatabase, _ collector: RecordCollector) {
        self.database = database
        self.collector = collector
    }

    /// - Throws: `ForeignFailure` (`damaged`, `limit`), `StreamFailure` (`interrupted`).
    func read(_ form: Form) throws -> ForeignContents {
        let document = database.document
        let (roots, metas) = (
            document.children("Root", of: document.root), document.children("Meta", of: document.root)
        )
        guard roots.count == 1, metas.count <= 1 else {
            throw ForeignFailure.damaged("its XML has not exactly one root")
        }
        let tops = document.children("Group", of: roots[0])
        if tops.isEmpty { throw ForeignFailure.damaged("its XML has no groups") }
        let meta = metas.isEmpty ? nil : metas[0]
        let bin = database.text("RecycleBinUUID", of: meta)
        let isBinUsed = database.text("RecycleBinEnabled", of: meta).map { $0.lowercased() == "true" } ?? true
        for top in tops {
            // The topmost group is the database itself; if there are several, their names tell them apart.
            let path = tops.count == 1 ? [] : [database.text("Name", of: top) ?? ""]
            try collect(top, path: path, bin: isBinUsed ? bin : nil, isTrashed: false)
        }

        for entry in entries { try collector.record(name(of: entry)) { try add(entry) } }
        for (name, rule) in failures {
            try collector.record(name) { () throws(ForeignFailure) in throw .damaged(rule) }
        }
        try add(groups)
        collector.leaveOut("trashed entry", trashed)
        if database.text("DatabaseDescription", of: meta).map({ !$0.isEmpty }) == true {
            collector.leaveOut("description of the database")
        }
        for deleted in document.children("DeletedObjects", of: roots[0]) {
            collector.leaveOut("record of a deletion", document.children("DeletedObject", of: deleted).count)
            database.skip(deleted)
        }
        let name = database.text("DatabaseName", of: meta) ?? ""
        if let meta {
            collector.leaveOut("setting of another program", KeePassEntry.otherDataCount(of: meta, in: database))
        }
        database.skip(Self.settings, of: meta)
        collector.leaveOut("attachment of no current entry", database.untakenBinaries)
        collector.leaveOut(unknown: database.unread)
        unresolved.tell(collector)
        if form == .kdbx3 {
            collector.remark("this version of KDBX does not protect the file against changes; KDBX 4 does")
        }
        return try collector.finish(
            details: form.rawValue + (name.isEmpty ? "" : " '\(name)'"), isPlaintext: form == .xml)
    }

    // The elements that a database has beside its records.
    private static let settings = [
        "Generator", "HeaderHash", "SettingsChanged", "DatabaseNameChanged", "DatabaseDescriptionChanged",
        "DefaultUserName", "DefaultUserNameChanged", "MaintenanceHistoryDays", "Color", "MasterKeyChanged",
        "MasterKeyChangeRec", "MasterKeyChangeForce", "MasterKeyChangeForceOnce", "MemoryProtection", "CustomIcons",
        "RecycleBinChanged", "EntryTemplatesGroup", "EntryTemplatesGroupChanged", "HistoryMaxItems", "HistoryMaxSize",
        "LastSelectedGroup", "LastTopVisibleGroup", "Binaries", "CustomData",
    ]

    private func collect(
        _ group: XMLDocument.Element, path: [String], bin: String?, isTrashed: Bool
    ) throws(ForeignFailure) {
        let document = database.document
        let uuid = database.text("UUID", of: group)
        let isTrashed = isTrashed || uuid != nil && uuid == bin
        groups.append(KeePassGroup(group, in: database, path: path, isTrashed: isTrashed))
        for element in document.children("Entry", of: group) {
            if isTrashed {
                trashed += 1
                database.skip(element)
                continue
            }
            do throws(ForeignFailure) {
                let entry = try KeePassEntry(element, in: database, folder: path.joined(separator: "/"))
                if places[entry.uuid] != nil { throw .damaged("another entry has the same ID") }
                places[entry.uuid] = entries.count
                entries.append(entry)
            } catch {
                guard case .damaged(let rule) = error else { throw error }
                failures.append((database.title(of: element) ?? "an entry", rule))
                database.skip(element)
            }
        }
        for child in document.children("Group", of: group) {
            let name = database.text("Name", of: child) ?? ""
            try collect(child, path: path + [name], bin: bin, isTrashed: isTrashed)
        }
    }

    /// The name of an entry in messages.
    private func name(of entry: KeePassEntry) -> String {
        let title = entry.value("Title").map { database.withValue($0) { $0.utf8Text ?? "" } } ?? ""
        return title.isEmpty ? "an entry" : title
    }

    private func add(_ entry: KeePassEntry) throws {
        collector.leaveOut("older version of an entry", entry.historyCount)
        collector.leaveOut("unreadable date", entry.unreadableDates)
        collector.leaveOut("auto-type setting", entry.autoTypeCount)
        collector.leaveOut("setting of another program", entry.otherDataCount)
        if entry.hasOverride { collector.leaveOut("override of an address") }
        if entry.hasIcon { collector.leaveOut("icon") }
        if entry.hasColor { collector.leaveOut("color") }
        if entry.hasUseDate { collector.leaveOut("date of last use") }
        if ["Title", "UserName", "URL"].contains(where: { entry.isProtected($0, in: database) }) {
            collector.remark("protected titles, user names or addresses become attributes, which are not secret")
        }
        let title = try resolved(entry, "Title") ?? ""
        let record = RecordWriter(collector, identity: entry.digits, title: title)
        record.id = entry.uuid.description
        record.folder = entry.folder
        var user = try resolved(entry, "UserName")
        if user?.isEmpty == true { user = nil }
        for key in entry.addressKeys {
            if let address = try resolved(entry, key), !address.isEmpty { record.addresses.append(address) }
        }
        record.created = entry.created
        record.modified = entry.modified
        record.describe("tags", entry.tags)
        record.describe("expires", entry.expires)

        var rest = KeePassEntry.Rest(entry)
        record.returned = returned(entry, &rest, title: title, user, record)
        let isNote = try !addLogin(entry, &rest, user, record)
        try addOthers(entry, &rest, record, isNote: isNote)
    }

    /// - Returns: false if the entry is not a login.
    private func addLogin(
        _ entry: KeePassEntry, _ rest: inout KeePassEntry.Rest, _ user: String?, _ record: RecordWriter
    ) throws -> Bool {
        let element = rest.take("Password")
        let isEmpty = element.map { database.value($0).isEmpty } ?? true
        if isEmpty, user == nil, record.addresses.isEmpty, record.returned?.has(.login) != true {
            // Every entry has a password, which is empty if the entry is a note.
            if !rest.hasContent(in: database) { collector.leaveOut("empty entry") }
            return false
        }
        guard let element else {
            try record.addLogin(user: user, password: nil)
            return true
        }
        try record.addLogin(user: user, password: followed(database.value(element), in: entry))
        return true
    }

    private func addOthers(
        _ entry: KeePassEntry, _ rest: inout KeePassEntry.Rest, _ record: RecordWriter, isNote: Bool
    ) throws {
        if let code = rest.takeOneTimePassword(in: database) { try record.addOneTimePassword(code) }
        if let code = rest.takeCounterPassword(in: database) { try record.addOneTimePassword(code) }
        let passkey = rest.takePasskey(in: database)
        switch consume passkey {
        case .some(let passkey): try record.addPasskey(passkey)
        case .none where rest.hasTornPasskey:
            collector.refuse(record.title, .kept("its passkey has no private key"), kind: RecordPlace.passkey("").kind)
        case .none: break
        }
        if let element = rest.take("Notes") {
            let notes = try followed(database.value(element), in: entry)
            if !notes.isEmpty || record.returned?.has(.note) == true { try record.addNote(notes, isWhole: isNote) }
        }
        for (key, element) in rest.takeAll() {
            let value = database.value(element)
            if value.isEmpty, KeePassEntry.standardKeys.contains(key) { continue }
            try record.addField(key, followed(value, in: entry))
        }
        for (name, value) in rest.binaries {
            guard let bytes = try database.attachment(value) else {
                collector.refuse(
                    name, of: record.title, "the attachment is missing in the file",
                    kind: RecordPlace.attachment(name).kind)
                continue
            }
            if name == "KeeAgent.settings" {
                collector.leaveOut("setting of KeeAgent")
                continue
            }
            guard bytes.count <= ItemLimits.secretSize else {
                collector.refuse(
                    record.title, .item(.secretTooLarge(bytes.count)), kind: RecordPlace.attachment(name).kind)
                continue
            }
            try record.addAttachment(name, bytes)
        }
        try record.addAddresses()
    }

    /// Adds the notes of groups.
    private func add(_ groups: [KeePassGroup]) throws(ForeignFailure) {
        for group in groups {
            if !group.isTrashed { group.leaveOut(in: collector) }
            guard let notes = group.notes, !isEmpty(notes) else { continue }
            if group.isTrashed {
                collector.leaveOut("note of a trashed group")
                database.skip(notes)
                continue
            }
            let identity = "group \(group.id)"
            let record = RecordWriter(
                collector, identity: identity, ordinal: collector.ordinal(of: identity), title: group.name)
            record.folder = group.folder
            record.modified = group.modified
            try record.addNote(database.value(notes), isWhole: true)
        }
    }

    private func isEmpty(_ element: XMLDocument.Element) -> Bool { database.withValue(element) { $0.isEmpty } }

    /// The items of which kcbackup's export made this entry; nil for an ordinary entry.
    private func returned(
        _ entry: KeePassEntry, _ rest: inout KeePassEntry.Rest, title: String, _ user: String?, _ record: RecordWriter
    ) -> ReturnedRecord? {
        guard let element = entry.exported else { return nil }
        let value = database.value(element)
        var text = SecretBytes(capacity: value.count)
        if value.withBytes({ !$0.isEmpty && $0[0] == UInt8(ascii: "{") }) {
            value.withBytes { text.append($0) }
        } else {
            guard value.withBytes({ Base64.decode($0, into: &text) }) else { return nil }
        }
        do throws(ForeignFailure) {
            let json = try ForeignJSON(text)
            guard let returned = ReturnedRecord(json.root, in: json) else { return nil }
            // A copy of the entry has an ID of its own.
            guard "\(entry.uuid)" == returned.id else { return nil }
            rest.takeOwnSecrets(of: returned, in: database)
            returned.compare(
                title: title, account: user ?? "", addresses: record.addresses, modified: entry.modified,
                marks: [entry.folder, entry.tags ?? "", entry.expires ?? ""])
            return returned
        } catch {
            // The value only has the exporter's name.
            return nil
        }
    }

    /// The text of a string that is a name, with references resolved.
    private func resolved(_ entry: KeePassEntry, _ key: String) throws -> String? {
        guard let element = entry.value(key) else { return nil }
        let value = try followed(database.value(element), in: entry, isReadable: true)
        return value.withBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }

    /// The value that a reference to another entry leads to; any other value is returned unchanged.
    ///
    /// - Parameter isReadable: true for a value that becomes an attribute, which must not be another entry's secret.
    private func followed(
        _ value: consuming SecretBytes, in entry: KeePassEntry, isReadable: Bool = false
    ) throws -> SecretBytes {
        var value = value
        for _ in 0..<Self.referenceDepth {
            guard let reference = KeePassReference(value) else {
                if KeePassReference.isMentioned(in: value) {
                    unresolved.add(.within, name(of: entry))
                }
                return value
            }
            if isReadable, !reference.wanted.isReadable {
                unresolved.add(.secret, name(of: entry))
                return value
            }
            let place = try place(of: reference)
            if let place, reference.wanted == .id {
                return SecretBytes(copying: entries[place].digits.uppercased().utf8)
            }
            guard let place, let element = reference.wanted.key.flatMap({ entries[place].value($0) }) else {
                unresolved.add(.missing, name(of: entry))
                return value
            }
            value = database.value(element)
        }
        unresolved.add(.circular, name(of: entry))
        return value
    }
}
