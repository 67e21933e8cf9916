import Foundation
import KCAgeEncryption
import KCArchiveForgery
import KCBackupArchive
import KCByteStreams
import KCDeviceIdentity
import KCKeychainKeys
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

extension SampleArchive {
    /// Backs up a keychain with one item of each accessibility, named after it.
    fileprivate init(_ machine: Machine, _ mode: ArchiveMode, to identity: NativeIdentity) throws {
        let name = "\(ItemUUID()).kcb"
        let keychain = try machine.makeKeychain("\(ItemUUID())")
        for accessibility in Accessibility.allCases {
            try keychain.add(accessibility.rawValue, "secret of \(accessibility.rawValue)", accessibility)
        }
        switch mode {
        case .encrypted: try machine.backUp(keychain, as: name, to: [identity.recipient])
        case .unencrypted: try machine.backUpUnencrypted(keychain, as: name)
        }
        self.init(name, in: machine.folder, mode, by: machine.device, to: identity)
    }
}

extension HostileCase {
    /// Makes the archive, and expects that verify and restore refuse it in the same way and that nothing is written.
    func check() throws {
        let genuine = try Genuine.all.get()
        var forgery = try Forgery(genuine[mode])
        try change(&forgery)
        let outcome = try genuine.outcome(of: forgery.bytes())
        #expect(refusal.fits(outcome.restoring), "it ended with \(String(describing: outcome.restoring))")
        #expect(outcome.verifying as? ArchiveFailure == outcome.restoring as? ArchiveFailure)
        #expect(outcome.written == 0)
    }
}

/// The archives that hostile ones are made from.
struct Genuine: Sendable {
    let encrypted: SampleArchive
    let unencrypted: SampleArchive

    static let all = Result { try Genuine() }

    private init() throws {
        let machine = try Machine()
        let identity = try NativeIdentity.generate(.x25519)
        encrypted = try SampleArchive(machine, .encrypted, to: identity)
        unencrypted = try SampleArchive(machine, .unencrypted, to: identity)
    }

    subscript(mode: ArchiveMode) -> SampleArchive { mode == .encrypted ? encrypted : unencrypted }

    /// The local identity of the device that made them.
    var local: LocalIdentity { LocalIdentity(device: encrypted.device) }
    var identity: NativeIdentity { encrypted.identity }

    /// The errors of verifying and restoring `bytes` on that device, and how many items were written.
    func outcome(
        of bytes: [UInt8]
    ) throws -> (verifying: (any Error)?, restoring: (any Error)?, written: Int) {
        let folder = try TemporaryFolder()
        let path = try folder.write("hostile.kcb", bytes)
        let target = RecordingTarget()
        func open() throws -> ProvenArchive {
            let file = try ArchiveFile(path: path)
            let genuine = try file.prove()
            let opened = try file.header.mode == .unencrypted ? genuine.open() : genuine.open(identities: [identity])
            return try ProvenArchive(opened, local: local)
        }
        let verifying = failure { _ = try open().verify() }
        let restoring = failure {
            let archive = try open()
            var options = RestoreOptions()
            options.acceptedOrigin = archive.header.device
            _ = try Bring(.archive(archive), options: options).run(into: target)
        }
        return (verifying, restoring, target.written)
    }
}

/// A target without items that counts what is written to it.
final class RecordingTarget: StoredItemTarget, ItemWriter {
    private(set) var written = 0
    /// The services of what was written.
    private(set) var services: [String] = []
    /// Called after planning, by a restore that replaces local items.
    var beforeWriting: () throws -> Void = {}

    func form(ofSecretsUnder keybag: ArchivedKeybag) -> SecretForm { .stored }
    func readItems<Result>(_ body: (any ExistingItems) throws -> Result) throws -> Result { try body(self) }
    func writeItems<Result>(_ body: (any ItemWriter) throws -> Result) throws -> Result { try body(self) }
    func item(withKeyOf item: Item) throws -> Item? { nil }
    func item(withUUID uuid: ItemUUID) throws -> Item? { nil }
    func secret(of existing: Item, equals secret: borrowing SecretBytes, in form: SecretForm) throws -> Bool { false }
    func localItems(_ local: LocalItems, _ body: (Item) throws -> Void) throws -> Int { 0 }
    func removeLocalItems(_ local: LocalItems, except staying: Set<ItemUUID>) throws -> Int {
        try beforeWriting()
        return 0
    }

    func put(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, in form: SecretForm, replacing: Item?
    ) throws {
        written += 1
        services.append(item.attributes.text(.svce) ?? "")
    }
}

extension TemporaryFolder {
    /// Overwrites a file in place, so that those who have it open see the change.
    func overwrite(_ name: String, _ bytes: [UInt8]) throws {
        let file = try #require(FileHandle(forWritingAtPath: path(name)))
        try file.write(contentsOf: bytes)
        try file.close()
    }
}
