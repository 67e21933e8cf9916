import KCKeychainModel
import Testing

@testable import KCBackupEngine

@Suite("What a restore names")
struct RestoreChangesTests {
    @Test("A list grows without being copied for each item, so that time is in proportion to the items")
    func growth() throws {
        let item = try ItemDraft(itemClass: .genericPassword, attributes: Attributes())
            .completed(now: .reference, secretSize: 5)
        var changes = RestoreChanges(namesCreated: true, namesSame: true, limit: .max)
        var (place, moves): (UInt, Int) = (0, 0)
        for _ in 0..<1000 {
            changes.add(item, .create)
            let current = unsafe changes.lists.created.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
            if current != place { moves += 1 }
            place = current
        }
        #expect(moves < 50)
        #expect(changes.created.count == 1000)
    }
}
