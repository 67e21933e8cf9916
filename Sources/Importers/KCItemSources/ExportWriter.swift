package import KCByteStreams
package import KCKeychainModel

/// Builds a file for another program from the items that it is given.
package protocol ExportWriter: AnyObject {
    /// Adds a record; the file contains nothing of the parts that it does not hold.
    ///
    /// - Throws: `CryptographyFailure`; `FileFailure` and `StreamFailure` where the file waits in another one.
    func add(_ record: ExportedRecord) throws -> ExportOutcome

    /// True if the items of one record are added together.
    var joins: Bool { get }

    /// True if `passOver` should be called also for items that were not asked for.
    var notesOthers: Bool { get }

    /// Takes note of an item that is not in the file, of whose record other items may be.
    func passOver(_ item: Item)

    /// The number of cells that a spreadsheet would interpret as formulas.
    var formulas: Int { get }

    /// The remarks for the user once the file is complete; one sentence each, without a period.
    var remarks: [String] { get }
}

extension ExportWriter {
    package var joins: Bool { true }
    package var notesOthers: Bool { false }
    package func passOver(_ item: Item) {}
    package var formulas: Int { 0 }
    package var remarks: [String] { [] }
}

/// The parts of a record that a file holds, and those that it does not.
package struct ExportOutcome {
    /// The parts that the format cannot hold.
    package var unheld: [(part: ExportedPart, problem: ExportProblem)] = []
    /// The parts that the record has no room for, each of which becomes a record of its own.
    package var apart: [ExportedPart] = []
    /// The parts that an import of the file does not restore completely, with these attributes of their unique keys.
    package var lost: [(part: ExportedPart, codes: [AttributeCode])] = []

    /// Begins with the whole record.
    package init() {}

    /// True if the part is in the file, with others of its record.
    package func holds(_ part: ExportedPart) -> Bool {
        !unheld.contains { $0.part === part } && !apart.contains { $0 === part }
    }
}

/// A writer of a format that is not encrypted.
package protocol PlainExportWriter: ExportWriter {
    /// Passes the bytes of the file to `output`, piece by piece.
    ///
    /// - Throws: as `add`, and what `output` throws.
    func finish(to output: (borrowing Span<UInt8>) throws -> Void) throws
}

/// A writer of a format that is encrypted with a password.
package protocol ProtectedExportWriter: ExportWriter {
    /// Passes the bytes of the file to `output`, piece by piece.
    ///
    /// - Throws: `CryptographyFailure`, and what `output` throws.
    func finish(password: borrowing SecretBytes, to output: (borrowing Span<UInt8>) throws -> Void) throws
}

/// A file that was started, with the writer that finishes it.
package enum StartedExport {
    case plain(any PlainExportWriter)
    case protected(any ProtectedExportWriter)

    package var writer: any ExportWriter {
        switch self {
        case .plain(let writer): writer
        case .protected(let writer): writer
        }
    }
}

/// Why a format cannot hold an item.
package enum ExportProblem: String, Error, CaseIterable, Hashable, Sendable {
    /// The format has no place for items of this class.
    case noPlace = "no-place"
    /// The format holds only text, and the secret is not text.
    case secretNotText = "secret-not-text"
    /// The format holds only text, and an account or a name is not text.
    case nameNotText = "name-not-text"
    /// The format cannot distinguish a missing secret from an empty one.
    case noSecret = "no-secret"
    /// The secret is empty, which the format cannot distinguish from a missing one.
    case emptySecret = "empty-secret"
    /// The format cannot hold a zero byte.
    case zeroByte = "zero-byte"
    /// A text is longer than an import of the file accepts.
    case tooLong = "too-long"
    /// The format has rules for names, and the item's name violates one.
    case noName = "no-name"
    /// Another item has the same name in the file, or says otherwise what the two have in common.
    case sameName = "same-name"
    /// The item is larger than the format allows, alone or with others.
    case tooLarge = "too-large"

    /// The reason, to follow "not exported: ".
    package var words: String {
        switch self {
        case .noPlace: "the format has no place for it"
        case .secretNotText: "the format holds text, and the secret is bytes"
        case .nameNotText: "the format holds text, and its name or account is bytes"
        case .noSecret: "it has no secret, which the format cannot tell from an empty one"
        case .emptySecret: "its secret is empty, which the format cannot tell from a missing one"
        case .zeroByte: "it has a zero byte, which the format cannot hold"
        case .tooLong: "it has a longer text than an import of the file accepts"
        case .noName: "its name is none that the format allows"
        case .sameName: "another item has its name, or differs in what the two have in common"
        case .tooLarge: "it would be larger than the format allows"
        }
    }
}

/// Passes the items that may be exported to a writer, and records those that are not exported.
package final class ItemExport: ItemVisitor {
    private let writer: any ExportWriter
    private let filter: ItemFilter?
    private let step: () -> Void
    /// The number of items that are in the file.
    package private(set) var exported = ItemCounts()
    /// The number of these that have a constraint.
    package private(set) var asking = 0
    /// The items of records of which there may be more; packed, since secrets of their own would be too many mappings of memory.
    private var waiting = PackedItems()
    /// The IDs of the records in the file.
    private var ids: Set<ItemUUID> = []
    private var places: [RecordKey: [PackedItems.Place]] = [:]
    /// The keys of these records, in the order of their first items.
    private var order: [RecordKey] = []
    private let logs: (staying: ItemLog, unheld: ItemLog, altered: ItemLog)
    /// Items that cannot be read; nil if not even their attributes can be read.
    package private(set) var damaged: [Item?] = []

    /// The number of items that could not be read when the archive was made, some of which may have been asked for.
    package var unreadCount = 0

    /// Starts an export.
    ///
    /// - Parameters:
    ///   - filter: the items to export; nil for all.
    ///   - folder: where items wait that are too many or too large for the memory.
    ///   - step: called once per item.
    package init(
        to writer: any ExportWriter, filter: ItemFilter?, spoolingIn folder: String, step: @escaping () -> Void = {}
    ) {
        logs = (ItemLog(spoolingIn: folder), ItemLog(spoolingIn: folder), ItemLog(spoolingIn: folder))
        self.writer = writer
        self.filter = filter
        self.step = step
    }

    /// The number of items that were asked for.
    package var selected: Int {
        exported.total + leftOut + logs.staying.count + logs.unheld.count + damaged.count
    }

    /// The number of items in the lists that were handed out.
    private var leftOut = 0

    /// True if all items that were asked for, or may have been, cannot be read.
    package var isUnreadable: Bool {
        guard let filter, selected == damaged.count else { return false }
        return !damaged.contains { item in item.map { filter.matches($0) } ?? false }
    }

    /// True if every item that was asked for is in the file.
    package var isComplete: Bool { selected == exported.total && unreadCount == 0 }

    package func wants(_ item: Item) throws -> Bool {
        step()
        guard filter?.matches(item) ?? true else {
            writer.passOver(item)
            return false
        }
        switch Departure.decide(item) {
        case .leaves: return true
        case .stays(let reason):
            try leave(item, reason)
            writer.passOver(item)
            return false
        }
    }

    /// Passes the writer an item that was not asked for, of a source that offers only those that were; nil if it needs none.
    package var others: ((Item) -> Void)? {
        guard let filter, writer.notesOthers else { return nil }
        return { [writer] item in if !filter.matches(item) { writer.passOver(item) } }
    }

    package func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        guard writer.joins, let key = RecordKey(item) else {
            return try add(ExportedRecord(ExportedPart(item, secret.copy())))
        }
        let packed = PackedItem.key(of: item)
        let place = waiting.append(item, number: 0, key: packed, secret: item.secretSize == nil ? nil : secret.copy())
        if places[key] == nil { order.append(key) }
        places[key, default: []].append(place)
    }

    /// Adds the records whose items have waited for each other, once all items were visited.
    ///
    /// - Throws: as `ExportWriter.add`, and as `ItemLog.add`.
    package func joinRecords() throws {
        for key in order {
            let parts = places[key, default: []].map { place in
                waiting.withBytes(of: place) { bytes in
                    var builder = AttributesBuilder()
                    let (item, secret) = PackedItem.decode(bytes, &builder)
                    return ExportedPart(item, SecretBytes(bytes.extracting(secret)))
                }
            }
            try add(ExportedRecord(parts, key: key))
        }
        order = []
        places = [:]
        waiting = PackedItems()
    }

    private func add(_ record: ExportedRecord) throws {
        var record = record
        // Records of two programs may have the same ID, and a record that of an item by itself.
        while !ids.insert(record.uuid).inserted, record.isJoined { record = record.renamed }
        let outcome = try writer.add(record)
        for (part, problem) in outcome.unheld {
            try logs.unheld.add(part.item, number: ExportProblem.allCases.firstIndex(of: problem) ?? 0)
        }
        for part in record.parts where outcome.holds(part) {
            exported[part.item.itemClass] += 1
            if part.item.constraint != nil { asking += 1 }
        }
        for (part, codes) in outcome.lost { try logs.altered.add(part.item, number: ExportLists.number(of: codes)) }
        for part in outcome.apart { try add(ExportedRecord(part, apartFrom: record)) }
    }

    /// Records an item that the archive does not hand out.
    ///
    /// - Throws: as `ItemLog.add`.
    package func leave(_ item: Item) throws {
        writer.passOver(item)
        switch Departure.decide(item) {
        case .stays(let reason): try leave(item, reason)
        // The item could leave, and only the archive keeps it back; it must not disappear from the report.
        case .leaves: damaged.append(item)
        }
    }

    private func leave(_ item: Item, _ reason: Departure.Reason) throws {
        try logs.staying.add(item, number: Departure.Reason.allCases.firstIndex(of: reason) ?? 0)
    }

    /// The items that are not in the file, or not completely; they are asked for once, at the end.
    ///
    /// - Throws: as `ItemLog.finish`.
    package func lists() throws -> ExportLists {
        leftOut += logs.staying.count + logs.unheld.count
        return ExportLists(
            staying: try logs.staying.finish(), unheld: try logs.unheld.finish(), altered: try logs.altered.finish())
    }

    package func skip(damaged item: Item?) {
        // An unreadable item may be one that was asked for.
        damaged.append(item)
        if let item { writer.passOver(item) }
    }
}

/// The items that an export does not hold, or not completely.
package struct ExportLists: Sendable {
    /// Items that may not be exported.
    package let staying: ListedItems
    /// Items that the format cannot hold.
    package let unheld: ListedItems
    /// Exported items whose unique key the file does not hold completely.
    package let altered: ListedItems

    /// Why an item of `staying` stays, by its number.
    package static func reason(_ number: Int) -> Departure.Reason { Departure.Reason.allCases[number] }

    /// Why an item of `unheld` is not held, by its number.
    package static func problem(_ number: Int) -> ExportProblem { ExportProblem.allCases[number] }

    /// The attributes that the file lacks of the key of an item of `altered`, by its number.
    package static func lost(_ number: Int) -> [AttributeCode] {
        keyCodes.indices.filter { number & 1 << $0 != 0 }.map { keyCodes[$0] }
    }

    fileprivate static func number(of lost: [AttributeCode]) -> Int {
        keyCodes.indices.reduce(0) { lost.contains(keyCodes[$1]) ? $0 | 1 << $1 : $0 }
    }

    /// The attributes of unique keys, each of which has a bit.
    private static let keyCodes = ItemClass.allCases.flatMap(\.uniqueKey).reduce(into: [AttributeCode]()) {
        codes, code in
        if !codes.contains(code) { codes.append(code) }
    }
}
