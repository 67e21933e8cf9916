import Foundation
import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

/// Reads files of other programs in tests.
enum ForeignReading {
    /// Reads `text` as a file of a format, which must recognize it unless it is damaged.
    static func read(
        _ text: String, as format: any ForeignFormat, password: String? = nil, name: String = "file"
    ) throws -> ForeignContents {
        try read(Array(text.utf8), as: format, password: password, name: name)
    }

    /// Reads `bytes` as a file of a format.
    static func read(
        _ bytes: [UInt8], as format: any ForeignFormat, password: String? = nil, name: String = "file"
    ) throws -> ForeignContents {
        try format.read(input(bytes, name: name), GivenSecrets(text: password))
    }

    /// A file in `Fixtures`.
    static func fixture(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: Project.path("Tests/KCForeignFormatsTests/Fixtures/" + name))))
    }

    /// A file that came through a pipe, on a fixed date.
    static func input(_ bytes: [UInt8], name: String = "file") -> ForeignInput {
        let file = ForeignFile(name: name, SecretBytes(copying: bytes), modified: .reference)
        return ForeignInput(path: "-", .file(file))
    }
}

/// A password that is tried once; nil for a file that must not ask for one.
struct GivenSecrets: ForeignSecrets {
    let text: String?
    var key: ForeignFile?
    var isPasswordGiven: Bool { text != nil }

    /// No password was expected to be needed.
    struct Unexpected: Error {}

    func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {
        guard let text else { throw Unexpected() }
        try use(SecretBytes(copying: text.utf8))
    }

    func keyFile() throws -> ForeignFile? { key }
}

extension ForeignContents {
    /// The items with their secrets.
    private var visited: ListingVisitor {
        get throws {
            var visitor = ListingVisitor()
            try items.visitItems(&visitor)
            return visitor
        }
    }

    /// The items' UUIDs, in archive order.
    var uuids: [ItemUUID] { get throws { try visited.items.map(\.uuid) } }

    /// A line per item: the class, the identifying attributes, and the secret as text.
    var listing: [String] {
        get throws {
            let visited = try visited
            return zip(visited.items, visited.secrets).map { item, secret in
                let names = [AttributeCode.svce, .srvr, .acct, .desc, .sdmn].compactMap { code in
                    item.attributes.text(code).map { " \(code.code)=\($0)" }
                }
                return item.itemClass.rawValue + names.joined() + ": "
                    + (item.secretSize == nil ? "no secret" : secret)
            }.sorted()
        }
    }

    /// The items, with their secrets as bytes.
    var entries: [(item: Item, secret: [UInt8]?)] {
        get throws {
            var visitor = ByteVisitor()
            try items.visitItems(&visitor)
            return visitor.entries
        }
    }

    /// The secrets of items that have labels, by label.
    var secretsByLabel: [String: [UInt8]] {
        get throws {
            Dictionary(try entries.map { ($0.item.attributes.text(.labl) ?? "", $0.secret ?? []) }) { one, _ in one }
        }
    }
}

/// Keeps items with their secrets.
private struct ByteVisitor: ItemVisitor {
    var entries: [(item: Item, secret: [UInt8]?)] = []

    func wants(_ item: Item) -> Bool { true }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {
        entries.append((item, item.secretSize == nil ? nil : secret.bytesForTest()))
    }

    func skip(damaged item: Item?) { Issue.record("nothing is damaged") }
}

extension Item {
    /// The value of an attribute without a code.
    func extraValue(_ name: String) -> String? { extra.first { $0.name == name }?.value }
}

extension [UInt8] {
    /// A copy in which one byte is replaced.
    func replacing(at index: Int, with byte: UInt8) -> [UInt8] {
        var copy = self
        copy[index] = byte
        return copy
    }
}
