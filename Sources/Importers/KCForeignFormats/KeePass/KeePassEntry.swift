internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel
internal import KCXMLDocuments

/// An entry of a KeePass database, as stored in its XML.
struct KeePassEntry {
    let uuid: ItemUUID
    let folder: String
    /// Names with the elements of their values, in file order.
    let strings: [(key: String, value: XMLDocument.Element)]
    /// The indices of the strings, by name.
    private let places: [String: Int]
    let binaries: [(name: String, reference: String)]
    let created: Timestamp?
    let modified: Timestamp?
    let tags: String?
    /// The expiry date, if the entry expires.
    let expires: String?
    let historyCount: Int
    let autoTypeCount: Int
    let hasIcon: Bool
    /// True if the entry opens something else than its address.
    let hasOverride: Bool
    /// The number of values that other programs keep in the entry for themselves.
    let otherDataCount: Int
    /// The attributes that kcbackup's export stored in the entry.
    let exported: XMLDocument.Element?

    static let standardKeys: Set = ["Title", "UserName", "Password", "URL", "Notes"]
    /// The maximum number of strings of an entry; real ones have tens.
    private static let stringLimit = 10_000

    /// - Throws: `ForeignFailure` (`damaged`, `limit`).
    init(_ element: XMLDocument.Element, in database: KDBXDatabase, folder: String) throws(ForeignFailure) {
        let document = database.document
        func text(_ name: String, _ parent: XMLDocument.Element?) -> String? {
            parent.flatMap { document.child(name, of: $0) }.map { document.string(of: $0) }
        }
        self.folder = folder
        guard let uuid = Self.uuid(text("UUID", element)) else { throw .damaged("an entry has no ID") }
        self.uuid = uuid
        var strings: [(key: String, value: XMLDocument.Element)] = []
        var places: [String: Int] = [:]
        for string in document.children("String", of: element) {
            guard let key = text("Key", string), let value = document.child("Value", of: string) else {
                throw .damaged("a string of an entry is incomplete")
            }
            guard places.updateValue(strings.count, forKey: key) == nil else {
                throw .damaged("a string of an entry occurs twice")
            }
            guard strings.count < Self.stringLimit else {
                throw .limit(
                    "strings of an entry", found: UInt64(Self.stringLimit) + 1, allowed: UInt64(Self.stringLimit))
            }
            strings.append((key, value))
        }
        self.strings = strings
        self.places = places
        binaries = document.children("Binary", of: element).map { binary in
            let value = document.child("Value", of: binary)
            return (text("Key", binary) ?? "", value?.attributes["Ref"] ?? "")
        }
        let times = document.child("Times", of: element)
        created = Self.date(text("CreationTime", times))
        modified = Self.date(text("LastModificationTime", times))
        tags = text("Tags", element).flatMap { $0.isEmpty ? nil : $0 }
        let isExpiring = text("Expires", times)?.lowercased() == "true"
        expires = isExpiring ? Self.date(text("ExpiryTime", times))?.description : nil
        historyCount = document.child("History", of: element).map { document.children("Entry", of: $0).count } ?? 0
        autoTypeCount =
            document.child("AutoType", of: element).map { document.children("Association", of: $0).count } ?? 0
        hasIcon = document.child("CustomIconUUID", of: element) != nil
        hasOverride = document.child("OverrideURL", of: element).map { database.withValue($0) { !$0.isEmpty } } ?? false
        let items = document.child("CustomData", of: element).map { document.children("Item", of: $0) } ?? []
        exported = items.first { text("Key", $0) == ExportName.item }.flatMap { document.child("Value", of: $0) }
        otherDataCount = Self.otherDataCount(of: element, in: document)
    }

    /// The number of values in the custom data of an entry or a group, without those that only describe it.
    static func otherDataCount(of element: XMLDocument.Element, in document: XMLDocument) -> Int {
        let items = document.child("CustomData", of: element).map { document.children("Item", of: $0) } ?? []
        // KeePassXC dates all custom data.
        let own = [ExportName.item, "_LAST_MODIFIED"]
        return items.count { item in
            !(document.child("Key", of: item).map { own.contains(document.string(of: $0)) } ?? true)
        }
    }

    /// The value of the string with the given name; nil if there is none.
    func value(_ key: String) -> XMLDocument.Element? { places[key].map { strings[$0].value } }

    /// The UUID in the form used by references.
    var digits: String { Hexadecimal.encode(uuid.bytes) }

    func isProtected(_ key: String, in database: KDBXDatabase) -> Bool {
        value(key).map { database.isProtected($0) } ?? false
    }

    /// The names of the strings that are addresses, the main one first.
    var addressKeys: [String] {
        let further = strings.map(\.key).filter { Self.isFurtherAddress($0) }
        func number(_ key: String) -> Int { key.split(separator: "_").last.flatMap { Int($0) } ?? 0 }
        return ["URL"] + further.sorted { number($0) < number($1) }
    }

    static func isFurtherAddress(_ key: String) -> Bool {
        key == "KP2A_URL" || key.hasPrefix("KP2A_URL_") && key.dropFirst(9).allSatisfy(\.isNumber)
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

/// A group of a KeePass database.
struct KeePassGroup {
    let name: String
    /// The names of the groups around it.
    let folder: String
    /// Its UUID as written; empty if it has none.
    let id: String
    let notes: XMLDocument.Element?
    let modified: Timestamp?
    let otherDataCount: Int
    let isTrashed: Bool

    /// - Parameter path: the names of the groups down to this one, without the topmost.
    init(_ element: XMLDocument.Element, in database: KDBXDatabase, path: [String], isTrashed: Bool) {
        let document = database.document
        func text(_ name: String, _ parent: XMLDocument.Element?) -> String? {
            parent.flatMap { document.child(name, of: $0) }.map { document.string(of: $0) }
        }
        name = text("Name", element) ?? ""
        folder = path.dropLast().joined(separator: "/")
        id = text("UUID", element) ?? ""
        notes = document.child("Notes", of: element)
        modified = KeePassEntry.date(text("LastModificationTime", document.child("Times", of: element)))
        otherDataCount = KeePassEntry.otherDataCount(of: element, in: document)
        self.isTrashed = isTrashed
    }
}
