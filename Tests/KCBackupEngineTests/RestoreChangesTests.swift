import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCBackupEngine

@Suite("What a restore names")
struct RestoreChangesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func item(_ number: Int) throws -> Item {
        var draft = ItemDraft(itemClass: .genericPassword, attributes: Attributes())
        draft.attributes[.acct] = .text("\(1_000 + number)")
        draft.attributes[.icmt] = .text(String(repeating: "a", count: 65_000))
        return try draft.completed(now: .reference, secretSize: 5)
    }

    @Test("Large items wait in a file and not in memory, come back whole and in archive order, and for names are short")
    func large() throws {
        for isForNames in [false, true] {
            let changes = RestoreChanges(
                namesCreated: true, namesSame: true, limit: .max, isForNames: isForNames, spoolingIn: folder.path)
            for number in (0..<100).reversed() { try changes.add(item(number), .create) }
            let created = try changes.finish().created
            #expect(created.isHeld == isForNames)
            var found: [Item] = []
            try created.forEach { item, _ in found.append(item) }
            #expect(found.map { $0.attributes.text(.acct) } == (0..<100).map { "\(1_000 + $0)" })
            #expect(found.allSatisfy { $0.attributes.text(.icmt)?.utf8.count == (isForNames ? 1_024 : 65_000) })
        }
    }

    @Test("No more items are taken than will be shown")
    func limit() throws {
        let changes = RestoreChanges(namesCreated: true, namesSame: false, limit: 3, spoolingIn: folder.path)
        for number in 0..<9 { try changes.add(item(number), number % 2 == 0 ? .create : .same) }
        let lists = try changes.finish()
        #expect(lists.created.count == 3 && lists.same.isEmpty)
    }
}
