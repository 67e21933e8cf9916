import KCAgeEncryption
import KCBackupArchive
import KCByteStreams
import KCDeviceIdentity
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCBackupEngine

@Suite("Restoring items that are in no archive")
struct RestoredItemsTests {
    private let device: DeviceKey

    init() throws { device = try DeviceKey.generate() }

    /// An item for each accessibility, with this secret.
    private func items(
        _ accessibilities: [Accessibility] = [.whenUnlocked, .whenUnlockedThisDeviceOnly], secret: String = "x"
    ) throws -> CollectedItems {
        var collection = ItemCollection(date: moment(0))
        for accessibility in accessibilities {
            var draft = ItemDraft(itemClass: .genericPassword)
            draft.attributes[.svce] = .text(accessibility.rawValue)
            draft.attributes[.pdmn] = .text(accessibility.rawValue)
            try collection.add(draft, secret: SecretBytes(copying: secret.utf8))
        }
        return try collection.finish()
    }

    private func identity(of items: some ItemSource, on device: DeviceKey?) throws -> [UInt8]? {
        try RestoreSource.items(items).identity(on: device)
    }

    @Test("A restore that was broken off is known again by its items and secrets, on this device alone")
    func identity() throws {
        let known = try #require(try identity(of: items(), on: device))
        #expect(try identity(of: items(), on: device) == known)
        #expect(try identity(of: items(secret: "y"), on: device) != known)
        #expect(try identity(of: items([.whenUnlocked]), on: device) != known)
        #expect(try identity(of: items(), on: DeviceKey.generate()) != known)
        #expect(try identity(of: items(), on: nil) == nil)
    }

    @Test("The identity is the fingerprint of an archive of the items, by which earlier versions knew them")
    func fingerprint() throws {
        let machine = try Machine()
        let destination = FingerprintDestination(machine.folder.path)
        let all = try items(Accessibility.allCases)
        _ = try CreateBackup(
            of: ArchiveSource(kind: ArchiveSource.items, name: "a"), device: device, tool: "test", to: destination,
            now: moment(0)
        ).encrypted(all, with: ArchiveKeys(recipients: [X25519Identity.generate().recipient], inspectors: []))
        #expect(try identity(of: all, on: device) == destination.fingerprint)
    }

    @Test("The rules of an archive of this device decide, and what is in no archive or cannot be read is counted")
    func rules() throws {
        let source = DamagedItems(
            items: try items([.whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly]))
        var options = RestoreOptions()
        options.isDryRun = true
        let report = try Bring(.items(source), options: options).run(into: EmptyKeyring())
        #expect(report.counts.create == 1 && report.stayingBehind.map(\.reason) == [.notBoundThere])
        #expect(report.contents.counts.total == 2)
        #expect(report.contents.omitted == 1 && report.contents.damaged == 1)
    }
}

/// Items, after which there is one that cannot be read.
private struct DamagedItems: ItemSource {
    let items: CollectedItems

    func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        try items.visitItems(&visitor)
        try visitor.skip(damaged: nil)
    }
}

/// A keyring without items, for a dry run.
private struct EmptyKeyring: ItemTarget, ExistingItems {
    var kind: Passage.Target { .desktopKeyring }

    func readItems<Result>(_ body: (any ExistingItems) throws -> Result) throws -> Result { try body(self) }

    func writeItems<Result>(_ body: (any ItemWriter) throws -> Result) throws -> Result {
        preconditionFailure("a dry run writes nothing")
    }

    func item(withKeyOf item: Item) -> Item? { nil }

    func item(withUUID uuid: ItemUUID) -> Item? { nil }

    func secret(of existing: Item, equals secret: borrowing SecretBytes, in form: SecretForm) -> Bool { false }

    func localItems(_ local: LocalItems, _ body: (Item) throws -> Void) -> Int { 0 }
}
