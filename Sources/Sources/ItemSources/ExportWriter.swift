package import ByteStreams
package import KeychainModel

/// Makes a file for another program of the items that it is given.
package protocol ExportWriter: AnyObject {
    /// Adds an item, whose secret is empty where it has none.
    ///
    /// - Returns: nil; or why the format cannot hold it, and then nothing of it is in the file.
    /// - Throws: `CryptographyFailure`.
    func add(_ item: Item, secret: borrowing SecretBytes) throws -> ExportProblem?

    /// The attributes by which the item is told from others, and that do not come back from the file.
    func lost(of item: Item) -> [AttributeCode]

    /// The bytes of the file.
    ///
    /// - Parameter password: what opens a format that takes one; not used by others.
    /// - Throws: `CryptographyFailure`.
    func finish(password: borrowing SecretBytes) throws -> SecretBytes
}

extension ExportWriter {
    package func lost(of item: Item) -> [AttributeCode] { [] }
}

/// Why a format cannot hold an item.
package enum ExportProblem: String, Error, CaseIterable, Hashable, Sendable {
    /// It has no place for items of the class.
    case noPlace = "no-place"
    /// It holds text, and the secret is bytes.
    case secretNotText = "secret-not-text"
    /// It holds text, and an account or a name is bytes.
    case nameNotText = "name-not-text"
    /// It cannot tell a secret that is absent from one that is empty.
    case noSecret = "no-secret"
    /// It cannot hold a zero byte.
    case zeroByte = "zero-byte"
    /// A passkey, which the format keeps in another way.
    case passkey

    /// The reason, to follow "not exported: ".
    package var words: String {
        switch self {
        case .noPlace: "the format has no place for it"
        case .secretNotText: "the format holds text, and the secret is bytes"
        case .nameNotText: "the format holds text, and its name or account is bytes"
        case .noSecret: "it has no secret, which the format would take for an empty one"
        case .zeroByte: "it has a zero byte, which the format cannot hold"
        case .passkey: "the format has no place for a passkey"
        }
    }
}

/// Hands the items that may leave to a writer, and keeps in mind which do not.
package final class ItemExport: ItemVisitor {
    private let writer: any ExportWriter
    private let filter: ItemFilter?
    private let step: () -> Void
    /// The items that are in the file.
    package private(set) var exported: [Item] = []
    /// Those of them that come back with other names, and the attributes that the file does not have.
    package private(set) var altered: [(item: Item, lost: [AttributeCode])] = []
    /// Those that may not leave.
    package private(set) var staying: [(item: Item, reason: Departure.Reason)] = []
    /// Those that the format cannot hold.
    package private(set) var unheld: [(item: Item, problem: ExportProblem)] = []
    /// Those that cannot be read; nil where not even their attributes can.
    package private(set) var damaged: [Item?] = []

    /// Starts an export.
    ///
    /// - Parameters:
    ///   - filter: which items; nil for all.
    ///   - step: called once an item.
    package init(to writer: any ExportWriter, filter: ItemFilter?, step: @escaping () -> Void = {}) {
        self.writer = writer
        self.filter = filter
        self.step = step
    }

    /// How many items were asked for.
    package var selected: Int { exported.count + staying.count + unheld.count + damaged.count }

    /// True if every item that was asked for is in the file.
    package var isComplete: Bool { staying.isEmpty && unheld.isEmpty && damaged.isEmpty }

    package func wants(_ item: Item) -> Bool {
        step()
        guard filter?.matches(item) ?? true else { return false }
        switch Departure.decide(item) {
        case .leaves: return true
        case .stays(let reason):
            staying.append((item, reason))
            return false
        }
    }

    package func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        if let problem = try writer.add(item, secret: secret) {
            unheld.append((item, problem))
        } else {
            exported.append(item)
            let lost = writer.lost(of: item)
            if !lost.isEmpty { altered.append((item, lost)) }
        }
    }

    /// Names an item that an archive does not hand out here.
    package func leave(_ item: Item) {
        if case .stays(let reason) = Departure.decide(item) { staying.append((item, reason)) }
    }

    package func skip(damaged item: Item?) {
        // What cannot be named may be what was asked for.
        damaged.append(item)
    }
}
