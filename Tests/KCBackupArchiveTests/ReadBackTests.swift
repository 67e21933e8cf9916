import KCAgeEncryption
import KCBackupArchive
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@Suite("Comparison of a finished archive with what was added to it")
struct ReadBackTests {
    private let folder: TemporaryFolder
    private let device: DeviceKey

    init() throws {
        folder = try TemporaryFolder()
        device = try DeviceKey.generate()
    }

    @Test("Many items, some of them large, are read back in several batches")
    func manyItems() throws {
        let finished = try archive(try Self.items(2_000))
        #expect(finished.contents.counts.total == 2_000)
    }

    @Test("A line that is not the canonical encoding of its item is detected", arguments: ["", " ", "{}", "x"])
    func malformedLine(_ suffix: String) throws {
        let refused = rule {
            try archive(try Self.items(600)) { index, line in
                guard index == 500 else { return }
                if suffix.isEmpty { line.removeLast(1) } else { line.append(Array(suffix.utf8).span) }
            }
        }
        #expect(refused?.contains("line 502 of the metadata") == true)
        #expect(try folder.list().isEmpty)
    }

    @Test("The line of another item next to a secret is detected")
    func otherLine() throws {
        let other = try Self.item(1)
        let refused = rule {
            try archive(try Self.items(3)) { index, line in
                guard index == 1 else { return }
                line.removeAll()
                ItemLine.encode(other, into: &line)
            }
        }
        #expect(refused?.contains("a secret belongs to another item") == true)
        #expect(try folder.list().isEmpty)
    }

    @Test("Different, reordered or differently split content changes the fingerprint; equal content does not")
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

    @Test("Secrets longer than the buffer are fingerprinted like short ones")
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

    /// Archives items, whose lines `change` can modify first.
    private func archive(
        _ items: [Item], _ change: (Int, inout SecretBytes) -> Void = { _, _ in }
    ) throws -> FinishedArchive {
        var writer = try ArchiveWriter(
            .encrypted(ArchiveKeys(recipients: [NativeIdentity.generate(.x25519).recipient])),
            of: ArchiveSource(kind: ArchiveSource.keychain, name: "login"), device: device, folder: folder.path)
        for (index, item) in items.enumerated() {
            var line = SecretBytes(capacity: 1024)
            ItemLine.encode(item, into: &line)
            change(index, &line)
            let secret = SecretBytes(copying: Self.secret(index).utf8)
            try line.withBytes { span in try writer.append(item, line: span, secret: secret) }
        }
        return try writer.finish(omitted: 0, damaged: 0, created: .reference, tool: "test")
    }

    /// The rule that `body` reports as broken, or nil if it succeeds.
    private func rule(_ body: () throws -> FinishedArchive) -> String? {
        do {
            _ = try body()
            return nil
        } catch ArchiveFailure.damaged(let rule) {
            return rule
        } catch {
            return "\(error)"
        }
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
