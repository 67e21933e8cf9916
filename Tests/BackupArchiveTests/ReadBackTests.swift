import AgeEncryption
import BackupArchive
import ByteStreams
import Cryptography
import DeviceIdentity
import KeychainModel
import TestSupport
import Testing

@Suite("What a finished archive holds is compared with what was added")
struct ReadBackTests {
    private let folder: TemporaryFolder
    private let device: DeviceKey

    init() throws {
        folder = try TemporaryFolder()
        device = try DeviceKey.generate()
    }

    @Test("many items, some of them large, are read back over several batches")
    func manyItems() throws {
        let items = try Self.items(2_000)
        var writer = try writer()
        for (index, item) in items.enumerated() { try append(item, to: &writer, secret: Self.secret(index)) }
        let finished = try writer.finish(omitted: 0, damaged: 0, created: .reference, tool: "test")
        #expect(finished.contents.counts.total == items.count)
    }

    @Test("a line that is not an item's in its one spelling is found", arguments: ["", " ", "{}", "x"])
    func malformedLine(_ suffix: String) throws {
        let items = try Self.items(600)
        var writer = try writer()
        for (index, item) in items.enumerated() {
            let isBad = index == 500
            try append(item, to: &writer, secret: Self.secret(index)) { line in
                if isBad { suffix.isEmpty ? line.removeLast(1) : line.append(Array(suffix.utf8).span) }
            }
        }
        try expectRefusal(of: writer, naming: "line 502 of the metadata")
    }

    @Test("a line of another item beside a secret is found")
    func otherLine() throws {
        let items = try Self.items(3)
        var writer = try writer()
        for (index, item) in items.enumerated() {
            let other = index == 1 ? try Self.item(1, uuid: ItemUUID()) : item
            try append(item, to: &writer, secret: Self.secret(index)) { line in
                line.removeAll()
                ItemLine.encode(other, into: &line)
            }
        }
        try expectRefusal(of: writer, naming: "a secret belongs to another item")
    }

    @Test("other secrets, changed places and moved borders make another content; the same make the same")
    func fingerprints() throws {
        let first = try code([("one", "a"), ("two", "bc")])
        #expect(try code([("one", "a"), ("two", "bc")]) == first)
        let others = [
            [("one", "bc"), ("two", "a")], [("one", "ab"), ("two", "c")], [("one", "a"), ("two", "bd")],
            [("onet", "a"), ("wo", "bc")], [("one", "a")], [("two", "bc"), ("one", "a")],
            [("one", "a"), ("two", "bc"), ("", "")],
        ]
        for other in others { #expect(try code(other) != first) }
    }

    @Test("secrets that are longer than what is gathered count like short ones")
    func longSecrets() throws {
        let long = String(repeating: "s", count: 40_000)
        let first = try code([("one", "a"), ("two", long), ("three", "b")])
        #expect(try code([("one", "a"), ("two", long), ("three", "b")]) == first)
        #expect(try code([("one", "a"), ("two", long + "s"), ("three", "b")]) != first)
        #expect(try code([("one", long), ("two", "a"), ("three", "b")]) != first)
    }

    private func code(_ items: [(line: String, secret: String)]) throws -> [UInt8] {
        var fingerprint = try ContentFingerprint(device, .encrypted)
        for item in items {
            try fingerprint.add(Array(item.line.utf8).span, SecretBytes(copying: item.secret.utf8))
        }
        return try fingerprint.finish()
    }

    private func writer() throws -> ArchiveWriter {
        try ArchiveWriter(
            .encrypted(ArchiveKeys(recipients: [X25519Identity.generate().recipient])),
            of: ArchiveSource(kind: ArchiveSource.keychain, name: "login"), device: device, folder: folder.path)
    }

    private func append(
        _ item: Item, to writer: inout ArchiveWriter, secret: String,
        _ change: (inout SecretBytes) -> Void = { _ in }
    ) throws {
        var line = SecretBytes(capacity: 1024)
        ItemLine.encode(item, into: &line)
        change(&line)
        try line.withBytes { span in
            try writer.append(item, line: span, secret: SecretBytes(copying: secret.utf8))
        }
    }

    private func expectRefusal(of writer: consuming ArchiveWriter, naming text: String) throws {
        let rule: String
        do {
            _ = try writer.finish(omitted: 0, damaged: 0, created: .reference, tool: "test")
            rule = "none"
        } catch {
            rule = "\(error)"
        }
        #expect(rule.contains(text))
        #expect(try folder.list().isEmpty)
    }

    private static func items(_ count: Int) throws -> [Item] {
        try (0..<count).map { try item($0) }
    }

    private static func item(_ number: Int, uuid: ItemUUID = ItemUUID()) throws -> Item {
        var attributes = Attributes()
        attributes[.acct] = .text("account \(number + 10_000)")
        attributes[.icmt] = .text(String(repeating: "c", count: number % 100 == 0 ? 3_000 : 3))
        attributes[.pdmn] = .text(number % 10 == 0 ? "aku" : "ak")
        let draft = ItemDraft(itemClass: .genericPassword, uuid: uuid, attributes: attributes)
        return try draft.completed(now: .reference, secretSize: secret(number).utf8.count)
    }

    private static func secret(_ number: Int) -> String {
        String(repeating: "secret", count: number % 300 == 0 ? 5_000 : 2)
    }
}
