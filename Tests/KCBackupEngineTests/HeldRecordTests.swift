import KCBackupArchive
import KCByteStreams
import KCKeychainModel
import Testing

@testable import KCBackupEngine

@Suite("Records that are held from planning to writing")
struct HeldRecordTests {
    /// True if records with secrets of these sizes are all held.
    ///
    /// - Parameter extra: the number of attributes without a code that each item has.
    private func holds(
        _ sizes: [Int], extra: Int = 0, limit: Int = 1 << 20, secretLimit: Int = 1 << 20
    ) throws -> Bool {
        let records = HeldRecords(limit: limit, secretLimit: secretLimit)
        let attributes = (0..<extra).map { ExtraAttribute(name: String($0), value: "") }
        for size in sizes {
            let item = try ItemDraft(itemClass: .genericPassword, extra: attributes)
                .completed(now: moment(1), secretSize: size)
            var line = SecretBytes(capacity: 4_096)
            ItemLine.encode(item, into: &line)
            let secret = SecretBytes(copying: [UInt8](repeating: 7, count: size))
            line.withBytes { line in records.take(item, line: line, secret: secret, state: .open) }
        }
        return records.isComplete
    }

    @Test("Secrets are held only as far as a small limit on locked memory leaves room for them while they grow")
    func smallMemoryLock() throws {
        #expect(HeldRecords.secretLimit(lockable: .max) == 2 << 20)
        #expect(HeldRecords.secretLimit(lockable: 8 << 20) == 2 << 20)
        #expect(HeldRecords.secretLimit(lockable: 64 << 10) == 16 << 10)
        #expect(HeldRecords.secretLimit(lockable: 0) == 0)
        #expect(try holds([8_192, 8_192], secretLimit: 16_384))
        #expect(try !holds([8_192, 8_193], secretLimit: 16_384))
    }

    @Test("Attributes without a code count for the memory that they take, which is more than their text in a line")
    func manyShortAttributes() throws {
        #expect(try holds([4], limit: 4_000))
        #expect(try !holds([4], extra: 64, limit: 4_000))
        #expect(try holds([4], extra: 64, limit: 16_000))
    }
}
