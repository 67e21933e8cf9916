import Foundation
import AgeEncryption
import BackupArchive
import ByteStreams
import DeviceIdentity
import KeychainKeys
import KeychainModel
import KeychainStore
import TestSupport
import Testing

@testable import BackupEngine

/// A genuine archive of a keychain with one item of each accessibility, each named after it.
final class GenuineArchive: Sendable {
    let path: String
    let mode: ArchiveMode
    let local: LocalIdentity
    let identity: X25519Identity
    private let folder: TemporaryFolder

    static let passphrase = "horse"
    var device: DeviceKey { local.device }

    init(_ machine: Machine, _ mode: ArchiveMode, to identity: X25519Identity, withPassphrase: Bool = false) throws {
        self.mode = mode
        self.identity = identity
        local = machine.local
        folder = machine.folder
        let name = "\(ItemUUID()).kcb"
        let keychain = try machine.makeKeychain("\(ItemUUID())")
        for accessibility in Accessibility.allCases {
            try keychain.add(accessibility.rawValue, "secret of \(accessibility.rawValue)", accessibility)
        }
        switch mode {
        case .encrypted:
            try machine.backUp(
                keychain, as: name, to: [identity.recipient], passphrase: withPassphrase ? Self.passphrase : nil)
        case .unencrypted: try machine.backUpUnencrypted(keychain, as: name)
        }
        path = machine.folder.path(name)
    }
}

/// The archives that hostile ones are made from.
struct Genuine: Sendable {
    let encrypted: GenuineArchive
    /// Another one of the same device, to the same identity.
    let second: GenuineArchive
    let unencrypted: GenuineArchive
    let withPassphrase: GenuineArchive
    let secondWithPassphrase: GenuineArchive
    let ofOtherDevice: GenuineArchive

    static let all = Result { try Genuine() }

    private init() throws {
        let (machine, other) = (try Machine(), try Machine())
        let identity = try X25519Identity.generate()
        encrypted = try GenuineArchive(machine, .encrypted, to: identity)
        second = try GenuineArchive(machine, .encrypted, to: identity)
        unencrypted = try GenuineArchive(machine, .unencrypted, to: identity)
        withPassphrase = try GenuineArchive(machine, .encrypted, to: identity, withPassphrase: true)
        secondWithPassphrase = try GenuineArchive(machine, .encrypted, to: identity, withPassphrase: true)
        ofOtherDevice = try GenuineArchive(other, .encrypted, to: identity)
    }

    /// The local identity of the device that made all but one of them.
    var local: LocalIdentity { encrypted.local }
    var identity: X25519Identity { encrypted.identity }

    /// What verifying and restoring `bytes` on that device end with; both must end alike, and nothing be written.
    func outcome(
        of bytes: [UInt8], acceptingOrigin: Bool = true, passphrase: String? = nil
    ) throws -> (error: (any Error)?, written: Int) {
        let folder = try TemporaryFolder()
        let path = try folder.write("hostile.kcb", bytes)
        let target = RecordingTarget()
        func open() throws -> ProvenArchive {
            let file = try ArchiveFile(path: path)
            let genuine = try file.prove()
            if file.header.mode == .unencrypted { return try ProvenArchive(genuine.open(), local: local) }
            guard let passphrase else {
                return try ProvenArchive(genuine.open(identities: [identity]), local: local)
            }
            return try ProvenArchive(genuine.open(passphrase: SecretBytes(copying: passphrase.utf8)), local: local)
        }
        let verifying = failure { _ = try open().verify() }
        let restoring = failure {
            let archive = try open()
            var options = RestoreOptions()
            if acceptingOrigin { options.acceptedOrigin = archive.header.device }
            _ = try RestoreBackup(archive, options: options).run(into: target)
        }
        if let archiveFailure = restoring as? ArchiveFailure {
            #expect(verifying as? ArchiveFailure == archiveFailure)
        }
        return (restoring, target.written)
    }
}

/// What `body` throws.
func failure(_ body: () throws -> Void) -> (any Error)? {
    do {
        try body()
        return nil
    } catch {
        return error
    }
}

/// A target without items that counts what is written to it.
final class RecordingTarget: StoredItemTarget, ItemWriter {
    private(set) var written = 0
    /// Called when planning is over, by a restore that replaces local items.
    var beforeWriting: () throws -> Void = {}

    func form(ofSecretsUnder keybag: ArchivedKeybag) -> SecretForm { .stored }
    func readItems<Result>(_ body: (any ExistingItems) throws -> Result) throws -> Result { try body(self) }
    func writeItems<Result>(_ body: (any ItemWriter) throws -> Result) throws -> Result { try body(self) }
    func item(withKeyOf item: Item) throws -> Item? { nil }
    func item(withUUID uuid: ItemUUID) throws -> Item? { nil }
    func secret(of existing: Item, equals secret: borrowing SecretBytes, in form: SecretForm) throws -> Bool { false }
    func localItems(_ body: (Item) throws -> Void) throws {}
    func removeLocalItems() throws -> Int {
        try beforeWriting()
        return 0
    }

    func put(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, in form: SecretForm, replacing: Item?
    ) throws {
        written += 1
    }
}

extension TemporaryFolder {
    /// Replaces the bytes of a file that others may have open.
    func overwrite(_ name: String, _ bytes: [UInt8]) throws {
        let file = try #require(FileHandle(forWritingAtPath: path(name)))
        try file.write(contentsOf: bytes)
        try file.close()
    }
}
