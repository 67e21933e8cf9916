package import KCByteStreams
package import KCKeychainModel

/// Builds a file for another program from the items that it is given.
package protocol ExportWriter: AnyObject {
    /// Adds an item; `secret` is empty if the item has none.
    ///
    /// - Returns: nil; or why the format cannot hold the item, and then the file contains nothing of it.
    /// - Throws: `CryptographyFailure`.
    func add(_ item: Item, secret: borrowing SecretBytes) throws -> ExportProblem?

    /// True if `passOver` should be called also for items that were not asked for.
    var notesOthers: Bool { get }

    /// Takes note of an item that is not in the file, of whose record other items may be.
    func passOver(_ item: Item)

    /// The attributes of the item's unique key that an import of the file does not restore.
    func lost(of item: Item) -> [AttributeCode]

    /// The number of cells that a spreadsheet would interpret as formulas.
    var formulas: Int { get }

    /// What the user should know of the file once it is complete; one sentence each, without a period.
    var remarks: [String] { get }
}

extension ExportWriter {
    package var notesOthers: Bool { false }
    package func passOver(_ item: Item) {}
    package func lost(of item: Item) -> [AttributeCode] { [] }
    package var formulas: Int { 0 }
    package var remarks: [String] { [] }
}

/// A writer of a format that is not encrypted.
package protocol PlainExportWriter: ExportWriter {
    /// The bytes of the file.
    ///
    /// - Throws: `CryptographyFailure`.
    func finish() throws -> SecretBytes
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
    /// The item is a passkey, which the format stores in another way.
    case passkey
    /// The format has rules for names, and the item's name violates one.
    case noName = "no-name"
    /// Another item has the same name in the file, or says otherwise what the two have in common.
    case sameName = "same-name"
    /// It is larger than the format allows, alone or with others.
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
        case .passkey: "the format has no place for a passkey"
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
    /// The number of these that were imported as parts of one record with another exported item.
    package var separated: Int { separatedByID + unidentified.separated }
    private var separatedByID = 0
    /// The format and the ID of the records of which exported items are.
    private var records: Set<[String]> = []
    private var unidentified = UnidentifiedRecords()
    /// Exported items whose unique key the file does not hold completely, with the missing attributes.
    package private(set) var altered: [(item: Item, lost: [AttributeCode])] = []
    /// Items that may not be exported.
    package private(set) var staying: [(item: Item, reason: Departure.Reason)] = []
    /// Items that the format cannot hold.
    package private(set) var unheld: [(item: Item, problem: ExportProblem)] = []
    /// Items that cannot be read; nil if not even their attributes can be read.
    package private(set) var damaged: [Item?] = []

    /// The number of items that could not be read when the archive was made, some of which may have been asked for.
    package var unreadCount = 0

    /// Starts an export.
    ///
    /// - Parameters:
    ///   - filter: the items to export; nil for all.
    ///   - step: called once per item.
    package init(to writer: any ExportWriter, filter: ItemFilter?, step: @escaping () -> Void = {}) {
        self.writer = writer
        self.filter = filter
        self.step = step
    }

    /// The number of items that were asked for.
    package var selected: Int { exported.total + staying.count + unheld.count + damaged.count }

    /// True if all items that were asked for, or may have been, cannot be read.
    package var isUnreadable: Bool {
        guard let filter, selected == damaged.count else { return false }
        return !damaged.contains { item in item.map { filter.matches($0) } ?? false }
    }

    /// True if every item that was asked for is in the file.
    package var isComplete: Bool { staying.isEmpty && unheld.isEmpty && damaged.isEmpty && unreadCount == 0 }

    package func wants(_ item: Item) -> Bool {
        step()
        guard filter?.matches(item) ?? true else {
            writer.passOver(item)
            return false
        }
        switch Departure.decide(item) {
        case .leaves: return true
        case .stays(let reason):
            staying.append((item, reason))
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
        if let problem = try writer.add(item, secret: secret) {
            unheld.append((item, problem))
        } else {
            exported[item.itemClass] += 1
            if item.constraint != nil { asking += 1 }
            addToRecord(item)
            let lost = writer.lost(of: item)
            if !lost.isEmpty { altered.append((item, lost)) }
        }
    }

    private func addToRecord(_ item: Item) {
        func source(_ name: String) -> String? { item.extra.first { $0.name.exact == name.exact }?.value }
        guard let format = source("source.format") else { return }
        if let id = source("source.id") {
            if !records.insert([format, id]).inserted { separatedByID += 1 }
        } else if let part = source("source.part"), let title = item.attributes.text(.labl) {
            unidentified.add(part, format: format, title: title)
        }
    }

    /// Records an item that the archive does not hand out.
    package func leave(_ item: Item) {
        writer.passOver(item)
        switch Departure.decide(item) {
        case .stays(let reason): staying.append((item, reason))
        // It could leave, and only the archive keeps it back; it must not disappear from the report.
        case .leaves: damaged.append(item)
        }
    }

    package func skip(damaged item: Item?) {
        // An unreadable item may be one that was asked for.
        damaged.append(item)
        if let item { writer.passOver(item) }
    }
}

/// The parts of records that have no ID, as those of a table.
private struct UnidentifiedRecords {
    /// The number of items of each part, by format and title.
    private var counts: [[ExactText]: [ExactText: Int]] = [:]

    mutating func add(_ part: String, format: String, title: String) {
        counts[[format.exact, title.exact], default: [:]][part.exact, default: 0] += 1
    }

    /// The number of items beside the first one of their record; those with the same part are of several records.
    var separated: Int {
        counts.values.reduce(0) { sum, parts in sum + parts.values.reduce(0, +) - (parts.values.max() ?? 0) }
    }
}
