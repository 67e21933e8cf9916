internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel

/// Makes keychain items from the decrypted content of a KeePass 1 database.
final class KDBEntries {
    private let header: KDBHeader
    private let collector: RecordCollector
    /// The paths of groups, by their numbers.
    private var folders: [Int: String] = [:]
    private var identities: Set<[UInt8]> = []

    /// The numbers of the fields of a group.
    private enum GroupField {
        static let id: UInt16 = 1
        static let name: UInt16 = 2
        static let level: UInt16 = 8
        static let known: ClosedRange<UInt16> = 1...9
    }

    /// The numbers of the fields of an entry.
    private enum Field {
        static let id: UInt16 = 1
        static let group: UInt16 = 2
        static let title: UInt16 = 4
        static let address: UInt16 = 5
        static let user: UInt16 = 6
        static let password: UInt16 = 7
        static let notes: UInt16 = 8
        static let created: UInt16 = 9
        static let modified: UInt16 = 10
        static let expires: UInt16 = 12
        static let attachmentName: UInt16 = 13
        static let attachment: UInt16 = 14
        static let known: ClosedRange<UInt16> = 1...14
    }

    // A field of each record at least: its number and its size.
    private static let smallestRecord = 6
    private static let levelLimit = 64
    // The year of the date that stands for "never".
    private static let neverExpires = "2999"

    init(_ header: KDBHeader, _ collector: RecordCollector) {
        self.header = header
        self.collector = collector
    }

    func read(_ content: borrowing SecretBytes) throws(ForeignFailure) {
        try content.withBytes { bytes throws(ForeignFailure) in
            var cursor = try ByteCursor(of: bytes, .littleEndian)
            guard header.groupCount + header.entryCount <= cursor.left / Self.smallestRecord else {
                throw ByteCursor.early
            }
            var path: [String] = []
            for _ in 0..<header.groupCount { try addGroup(KDBRecord(&cursor, bytes), &path, bytes) }
            for number in 0..<header.entryCount {
                let entry = try KDBRecord(&cursor, bytes)
                let title = entry.secret(Field.title, in: bytes)?.withBytes { $0.utf8Text }
                try collector.record((title ?? nil) ?? "entry \(number + 1)") { () throws(ForeignFailure) in
                    try add(entry, bytes)
                }
            }
            guard cursor.left == 0 else { throw .damaged("data follows its last entry") }
        }
    }

    private func addGroup(
        _ group: KDBRecord, _ path: inout [String], _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) {
        guard let id = try group.number(GroupField.id, in: bytes) else { throw .damaged("a group has no number") }
        let level = try group.number(GroupField.level, in: bytes) ?? 0
        guard level <= path.count, level < Self.levelLimit else { throw .damaged("a group is not in its place") }
        path.removeSubrange(level...)
        path.append(try group.text(GroupField.name, in: bytes) ?? "")
        guard folders.updateValue(path.joined(separator: "/"), forKey: id) == nil else {
            throw .damaged("two groups have the same number")
        }
        collector.leaveOut(unknown: group.others(than: GroupField.known).map { "group field \($0)" })
    }

    private func add(_ entry: KDBRecord, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        let title = try entry.text(Field.title, in: bytes) ?? ""
        let user = try entry.text(Field.user, in: bytes)
        let address = try entry.text(Field.address, in: bytes)
        let attachmentName = try entry.text(Field.attachmentName, in: bytes)
        // How programs keep their settings, as KeePass itself asks them to.
        if title == "Meta-Info", user == "SYSTEM", address == "$", attachmentName == "bin-stream" {
            return collector.leaveOut("setting of another program")
        }
        guard let id = entry.bytes(Field.id, in: bytes)?.withBytes({ $0.array($0.indices) }), id.count == 16,
            identities.insert(id).inserted
        else { throw .damaged("its ID is missing, or another entry has it") }
        guard let group = try entry.number(Field.group, in: bytes), let folder = folders[group] else {
            throw .damaged("its group is missing")
        }
        let record = RecordWriter(collector, identity: Hexadecimal.encode(id), title: title)
        record.id = Hexadecimal.encode(id)
        record.folder = folder
        if let address { record.addresses = [address] }
        record.created = try date(entry, Field.created, bytes)
        record.modified = try date(entry, Field.modified, bytes)
        if let expires = try date(entry, Field.expires, bytes)?.description, !expires.exact.hasPrefix(Self.neverExpires)
        {
            record.describe("expires", expires)
        }
        collector.leaveOut(unknown: entry.others(than: Field.known).map { "entry field \($0)" })
        let password = entry.secret(Field.password, in: bytes)
        let isNote = password.isNone && user == nil && address == nil
        if !isNote { try record.addLogin(user: user, password: password) }
        if let notes = entry.secret(Field.notes, in: bytes) { try record.addNote(notes, isWhole: isNote) }
        if let attachment = entry.bytes(Field.attachment, in: bytes), !attachment.isEmpty {
            try record.addAttachment(attachmentName ?? "", attachment)
        }
        try record.finish()
    }

    /// A date in 5 bytes: 6 zero bits, then year, month, day, hour, minute and second.
    private func date(
        _ entry: KDBRecord, _ field: UInt16, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> Timestamp? {
        guard let packed = entry.bytes(field, in: bytes)?.withBytes({ $0.array($0.indices) }) else { return nil }
        guard packed.count == 5 else { throw .damaged("a date has the wrong size") }
        let number = packed.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        func part(_ shift: UInt64, _ bits: UInt64) -> Int { Int(number >> shift & (1 << bits - 1)) }
        let date = Timestamp(
            year: part(26, 12), month: part(22, 4), day: part(17, 5), hour: part(12, 5), minute: part(6, 6),
            second: part(0, 6), microsecond: 0)
        if date == nil { collector.leaveOut("unreadable date") }
        return date
    }
}

extension Optional where Wrapped: ~Copyable {
    /// True if there is no value.
    fileprivate var isNone: Bool {
        switch self {
        case .none: true
        case .some: false
        }
    }
}
