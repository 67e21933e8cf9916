import KCBackupArchive
import KCBackupEngine
import KCByteStreams
import KCDeviceIdentity
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCItemStores

@Suite("An archive as a store of items")
struct ArchiveStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func store(ofLargeItems count: Int) throws -> ArchiveStore {
        var collection = ItemCollection(date: .reference)
        for number in 0..<count {
            var draft = ItemDraft(itemClass: .genericPassword)
            for code in [AttributeCode.labl, .icmt, .desc] {
                draft.attributes[code] = .text(String(repeating: "walnut ", count: 9_000))
            }
            draft.attributes[.acct] = .text("\(1_000 + number)")
            try collection.add(draft, secret: SecretBytes(copying: "secret \(number)".utf8))
        }
        let contents = try ForeignContents(items: collection.finish(), kind: "item", isPlaintext: true)
        let device = try DeviceKey.generate()
        _ = try CreateBackup(
            of: ArchiveSource(kind: ArchiveSource.items, name: "a"), device: device, tool: "test",
            to: FolderDestination(folder: folder.path, name: "a.kcb"), now: .reference
        ).unencrypted(FileItems(contents, identity: "a").stored(device))
        let opened = try ArchiveFile(path: folder.path("a.kcb")).prove().open()
        let archive = try ProvenArchive(opened, local: LocalIdentity(device: device))
        return try ArchiveStore(archive, RestoreOptions(), identity: "a", step: {}, openSecrets: {})
    }

    @Test(
        "What is found of large items waits in a file and not in memory, with secrets and without",
        arguments: [true, false])
    func large(withSecrets: Bool) throws {
        let store = try store(ofLargeItems: 50)
        #expect(try store.itemCount() == 50)
        let log = ItemLog(spoolingIn: folder.path, limit: 1 << 20)
        #expect(try store.list(ItemFilter(), withSecrets: withSecrets, in: log).isNone)
        let items = try log.finish()
        #expect(items.count == 50 && log.mostHeld < 3 << 19)
        var found: [String] = []
        try items.forEachSecret { item, number, secret in
            #expect(number == ListedSeal.whole.rawValue && item.attributes.text(.icmt)?.utf8.count == 63_000)
            found.append(String(decoding: Array(copying: secret), as: UTF8.self))
        }
        #expect(found == (0..<50).map { withSecrets ? "secret \($0)" : "" })
    }
}
