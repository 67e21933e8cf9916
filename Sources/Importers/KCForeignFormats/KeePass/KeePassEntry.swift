internal import KCByteStreams
internal import KCCryptography
internal import KCExportFormats
internal import KCItemSources
internal import KCKeychainModel

/// An entry of a KeePass database, as stored in its XML.
struct KeePassEntry {
    let uuid: ItemUUID
    let folder: String
    /// Names with the elements of their values, in file order.
    let strings: [(key: String, value: XMLDocument.Element)]
    /// The indices of the strings by name, where there are many.
    private let places: [ExactText: Int]
    let binaries: [(name: String, value: XMLDocument.Element)]
    let created: Timestamp?
    let modified: Timestamp?
    let tags: String?
    /// The expiry date, if the entry expires.
    let expires: String?
    /// The number of dates that cannot be read.
    let unreadableDates: Int
    let historyCount: Int
    let autoTypeCount: Int
    let hasIcon: Bool
    let hasColor: Bool
    /// True if the entry opens something else than its address.
    let hasOverride: Bool
    /// True if the date of its last use is known.
    let hasUseDate: Bool
    /// The number of values that other programs keep in the entry for themselves.
    let otherDataCount: Int
    /// The attributes that kcbackup's export stored in the entry.
    let exported: XMLDocument.Element?

    static let standardKeys: Set = ["Title", "UserName", "Password", "URL", "Notes"]
    /// The maximum number of strings of an entry; real ones have tens.
    private static let stringLimit = 10_000
    /// The number of strings that are searched one by one, which takes less memory than a dictionary.
    private static let fewStrings = 16

    init(_ element: XMLDocument.Element, in database: KDBXDatabase, folder: String) throws(ForeignFailure) {
        let document = database.document
        func text(_ name: String) -> String? { database.text(name, of: element) }
        func isFilled(_ name: String) -> Bool { text(name).map { !$0.isEmpty } ?? false }
        self.folder = folder
        guard let uuid = Self.uuid(text("UUID")) else { throw .damaged("it has no ID") }
        self.uuid = uuid
        (strings, places) = try Self.strings(of: element, in: database)
        var binaries: [(name: String, value: XMLDocument.Element)] = []
        for binary in document.children("Binary", of: element) {
            guard let value = document.child("Value", of: binary) else { throw .damaged("an attachment is incomplete") }
            binaries.append((database.text("Key", of: binary) ?? "", value))
        }
        self.binaries = binaries
        let times = document.child("Times", of: element)
        let dates = ["CreationTime", "LastModificationTime"].map { database.text($0, of: times) }
        created = Self.date(dates[0])
        modified = Self.date(dates[1])
        tags = text("Tags").flatMap { $0.isEmpty ? nil : $0 }
        let isExpiring = database.text("Expires", of: times)?.lowercased() == "true"
        let expiry = database.text("ExpiryTime", of: times)
        expires = isExpiring ? Self.date(expiry)?.description : nil
        unreadableDates = (dates + (isExpiring ? [expiry] : [])).count { $0?.isEmpty == false && Self.date($0) == nil }
        let (used, changed) = (
            database.text("LastAccessTime", of: times), database.text("LastModificationTime", of: times)
        )
        database.skip(["LastAccessTime", "UsageCount", "LocationChanged"], of: times)
        historyCount = document.child("History", of: element).map { document.children("Entry", of: $0).count } ?? 0
        let autoType = document.child("AutoType", of: element)
        autoTypeCount =
            (autoType.map { document.children("Association", of: $0).count } ?? 0)
            + (database.text("DefaultSequence", of: autoType).map { $0.isEmpty ? 0 : 1 } ?? 0)
        hasIcon = isFilled("CustomIconUUID") || !["0", "", nil].contains(text("IconID"))
        hasColor = isFilled("ForegroundColor") || isFilled("BackgroundColor")
        hasOverride = document.child("OverrideURL", of: element).map { database.withValue($0) { !$0.isEmpty } } ?? false
        let items = document.child("CustomData", of: element).map { document.children("Item", of: $0) } ?? []
        let own = items.first { database.text("Key", of: $0) == ExportName.item }
            .flatMap { document.child("Value", of: $0) }
        exported = own
        // An export of kcbackup has the date of the last change there, since some programs require one.
        hasUseDate = used != nil && (own == nil || used != changed)
        let excluded = text("QualityCheck")?.lowercased() == "false" ? 1 : 0
        otherDataCount = Self.otherDataCount(of: element, in: database) + excluded
        // They are counted; where the entry was before says nothing about it.
        database.skip(["History", "AutoType", "OverrideURL", "CustomData", "PreviousParentGroup"], of: element)
    }

    private static func strings(
        of element: XMLDocument.Element, in database: KDBXDatabase
    ) throws(ForeignFailure) -> (strings: [(key: String, value: XMLDocument.Element)], places: [ExactText: Int]) {
        var strings: [(key: String, value: XMLDocument.Element)] = []
        var places: [ExactText: Int] = [:]
        for string in database.document.children("String", of: element) {
            guard let key = database.text("Key", of: string), let value = database.document.child("Value", of: string)
            else { throw .damaged("a string of an entry is incomplete") }
            let isKnown =
                places.isEmpty ? strings.contains { $0.key.exact == key.exact } : places[key.exact] != nil
            if isKnown { throw .damaged("a string of an entry occurs twice") }
            if strings.count == fewStrings {
                for (index, string) in strings.enumerated() { places[string.key.exact] = index }
            }
            if !places.isEmpty { places[key.exact] = strings.count }
            guard strings.count < stringLimit else {
                throw .limit("strings of an entry", found: UInt64(stringLimit) + 1, allowed: UInt64(stringLimit))
            }
            strings.append((key, value))
        }
        return (strings, places)
    }

    /// The number of values in the custom data of an entry or a group, without those that only describe it.
    static func otherDataCount(of element: XMLDocument.Element, in database: KDBXDatabase) -> Int {
        let document = database.document
        let items = document.child("CustomData", of: element).map { document.children("Item", of: $0) } ?? []
        // KeePassXC dates all custom data.
        let own = [ExportName.item, "_LAST_MODIFIED"]
        return items.count { item in
            !(document.child("Key", of: item).map { own.contains(document.string(of: $0)) } ?? true)
        }
    }

    /// The value of the string with the given name; nil if there is none.
    func value(_ key: String) -> XMLDocument.Element? {
        if !places.isEmpty { return places[key.exact].map { strings[$0].value } }
        return strings.first { $0.key.exact == key.exact }?.value
    }

    /// The UUID in the form used by references.
    var digits: String { Hexadecimal.encode(uuid.bytes) }

    func isProtected(_ key: String, in database: KDBXDatabase) -> Bool {
        value(key).map { database.isProtected($0) } ?? false
    }

    /// The names of the strings that are addresses, the main one first.
    var addressKeys: [String] {
        let further = strings.map(\.key).filter { Self.isFurtherAddress($0) }
        func number(_ key: String) -> Int { key.exact.split(separator: "_").last.flatMap { Int($0) } ?? 0 }
        return ["URL"] + further.sorted { number($0) < number($1) }
    }

    static func isFurtherAddress(_ key: String) -> Bool {
        key.exact == "KP2A_URL" || key.exact.removingPrefix("KP2A_URL_")?.allSatisfy(\.isNumber) ?? false
    }

    private static func uuid(_ text: String?) -> ItemUUID? {
        guard let text else { return nil }
        var bytes: [UInt8] = []
        guard Base64.decode(text.utf8.span, into: &bytes) else { return nil }
        return ItemUUID(bytes: bytes.span)
    }

    /// Parses a date: ISO 8601 in version 3, base64 of the seconds since the year 1 in version 4.
    static func date(_ text: String?) -> Timestamp? {
        guard let text, !text.isEmpty else { return nil }
        if let date = ForeignDate.iso(text) { return date }
        var bytes: [UInt8] = []
        guard Base64.decode(text.utf8.span, into: &bytes), bytes.count == 8 else { return nil }
        let seconds = Int64(bitPattern: bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        let (since1970, overflow) = seconds.subtractingReportingOverflow(KDBX.secondsBefore1970)
        return overflow ? nil : ForeignDate.seconds(since1970)
    }
}
