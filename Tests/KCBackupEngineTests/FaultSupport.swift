import KCBackupArchive
import KCByteStreams
import KCKeychainModel
import KCKeychainStore

@testable import KCBackupEngine

/// The error that a faulty part throws.
struct Fault: Error, Equatable {}

/// A source of given items that calls `before` with the ordinal of each item before delivering it.
struct ListedSource: ItemSource {
    let items: [Item]
    var secret: [UInt8] = Array("tulip".utf8)
    var before: (Int) throws -> Void = { _ in }

    func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        for (ordinal, item) in items.enumerated() {
            try before(ordinal)
            guard try visitor.wants(item) else { continue }
            var line = SecretBytes(capacity: 1024)
            ItemLine.encode(item, into: &line)
            try line.withBytes { span in
                try visitor.take(item, line: span, secret: SecretBytes(copying: secret))
            }
        }
    }

    /// Generic passwords with ascending names, each with a secret of `size` bytes.
    static func items(_ count: Int, size: Int = 5) throws -> [Item] {
        try (0..<count).map { number in
            var attributes = Attributes()
            attributes[.acct] = .text(String(1_000 + number))
            return try ItemDraft(itemClass: .genericPassword, attributes: attributes)
                .completed(now: moment(1), secretSize: size)
        }
    }
}

/// A target that forwards everything to a keychain and calls `before` with the ordinal of each item before writing it.
final class FaultyTarget: ItemTarget {
    private let keychain: Keychain
    private let before: (Int) throws -> Void

    init(_ keychain: Keychain, before: @escaping (Int) throws -> Void) {
        self.keychain = keychain
        self.before = before
    }

    func readItems<Result>(_ body: (any ExistingItems) throws -> Result) throws -> Result {
        try keychain.readItems(body)
    }

    func writeItems<Result>(_ body: (any ItemWriter) throws -> Result) throws -> Result {
        try keychain.writeItems { writer in try body(FaultyWriter(writer, before)) }
    }
}

private final class FaultyWriter: ItemWriter {
    private let writer: any ItemWriter
    private let before: (Int) throws -> Void
    private var count = 0

    init(_ writer: any ItemWriter, _ before: @escaping (Int) throws -> Void) {
        self.writer = writer
        self.before = before
    }

    func put(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, in form: SecretForm, replacing: Item?
    ) throws {
        try before(count)
        count += 1
        try writer.put(item, line: line, secret: secret, in: form, replacing: replacing)
    }

    func removeLocalItems(_ local: LocalItems, except staying: Set<ItemUUID>) throws -> Int {
        try writer.removeLocalItems(local, except: staying)
    }
    func item(withKeyOf item: Item) throws -> Item? { try writer.item(withKeyOf: item) }
    func item(withUUID uuid: ItemUUID) throws -> Item? { try writer.item(withUUID: uuid) }
    func localItems(_ local: LocalItems, _ body: (Item) throws -> Void) throws -> Int {
        try writer.localItems(local, body)
    }
    func secret(of existing: Item, equals secret: borrowing SecretBytes, in form: SecretForm) throws -> Bool {
        try writer.secret(of: existing, equals: secret, in: form)
    }
}
