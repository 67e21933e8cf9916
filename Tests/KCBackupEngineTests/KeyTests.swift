import KCAgeEncryption
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Synchronization
import Testing

@testable import KCBackupArchive
@testable import KCBackupEngine

@Suite("The three kinds of key")
struct KeyTests {
    private func names(_ archive: ProvenArchive) throws -> [String] {
        var names: [String] = []
        _ = try archive.survey { names.append($0.attributes.text(.acct) ?? "?") }
        return names
    }

    private func makeArchive(
        on machine: Machine, to recipients: [NativeRecipient] = [], inspectors: [NativeRecipient] = [],
        passphrase: String? = nil
    ) throws -> String {
        let keychain = try machine.makeKeychain("\(ItemUUID())")
        try keychain.add("ann", "tulip")
        let name = "\(ItemUUID()).kcb"
        try machine.backUp(keychain, as: name, to: recipients, inspectors: inspectors, passphrase: passphrase)
        return machine.folder.path(name)
    }

    @Test("An inspect key opens the metadata but no secret")
    func inspector() throws {
        let machine = try Machine()
        let (restorer, inspector) = (try NativeIdentity.generate(.x25519), try NativeIdentity.generate(.x25519))
        let path = try makeArchive(on: machine, to: [restorer.recipient], inspectors: [inspector.recipient])
        let archive = try machine.open(path, with: inspector)
        #expect(try names(archive) == ["ann"])
        #expect(throws: ArchiveFailure.noMatchingIdentity(["X25519"], hasPassphrase: false)) { try archive.verify() }
        let target = RecordingTarget()
        #expect(throws: ArchiveFailure.noMatchingIdentity(["X25519"], hasPassphrase: false)) {
            try Bring(.archive(archive), options: RestoreOptions()).run(into: target)
        }
        #expect(target.written == 0)
        #expect(try names(machine.open(path, with: restorer)) == ["ann"])
        #expect(try machine.open(path, with: restorer).verify().opened == 1)
    }

    @Test("Whose the secrets are is told by their own header, without trying the key on the metadata")
    func secretsOf() throws {
        let machine = try Machine()
        let (restorer, inspector) = (try NativeIdentity.generate(.x25519), try NativeIdentity.generate(.x25519))
        let path = try makeArchive(on: machine, to: [restorer.recipient], inspectors: [inspector.recipient])
        let archive = try ArchiveFile(path: path).prove()
        for (identity, isOwner) in [(restorer, true), (inspector, false)] {
            let watched = WatchedIdentity(identity)
            #expect(try archive.hasSecrets(for: [watched]) == isOwner)
            #expect(watched.tried.withLock { $0 } == [1])
        }
    }

    /// Tries another identity, and keeps the number of recipients of each header that it is tried on.
    private final class WatchedIdentity: Identity {
        let identity: NativeIdentity
        let tried = Mutex<[Int]>([])

        init(_ identity: NativeIdentity) { self.identity = identity }

        func unwrap(_ stanzas: [Stanza]) throws(AgeFailure) -> SecretBytes? {
            tried.withLock { $0.append(stanzas.count) }
            return try identity.unwrap(stanzas)
        }
    }

    private struct CountingVisitor: RecordVisitor {
        var states: [SecretState] = []

        mutating func take(
            _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
        ) throws { states.append(state) }
    }

    @Test("Metadata that are opened alone are read without trying the key on the secrets, whatever it could open")
    func metadataAlone() throws {
        let machine = try Machine()
        let (restorer, inspector) = (try NativeIdentity.generate(.x25519), try NativeIdentity.generate(.x25519))
        let path = try makeArchive(on: machine, to: [restorer.recipient], inspectors: [inspector.recipient])
        for identity in [restorer, inspector] {
            let watched = WatchedIdentity(identity)
            let metadata = try ArchiveFile(path: path).prove().openMetadata(identities: [watched])
            try metadata.proveStreams()
            var visitor = CountingVisitor()
            _ = try metadata.read(&visitor)
            #expect(visitor.states == [.notRead])
            // The metadata have two recipients, and the secrets one.
            let tried = watched.tried.withLock(\.self)
            #expect(!tried.isEmpty && tried.allSatisfy { $0 == 2 })
            _ = try ArchiveFile(path: path).prove().open(identities: [watched])
            #expect(watched.tried.withLock(\.self).contains(1))
        }
        let other = try NativeIdentity.generate(.x25519)
        #expect(throws: ArchiveFailure.noMatchingIdentity(["X25519", "X25519"], hasPassphrase: false)) {
            try ArchiveFile(path: path).prove().openMetadata(identities: [other])
        }
        #expect(throws: ArchiveFailure.keyNeeded(passphraseOpens: false)) {
            try ArchiveFile(path: path).prove().openMetadata(identities: [])
        }
    }

    @Test("Each recipient and the passphrase open an archive on their own")
    func everyKey() throws {
        let machine = try Machine()
        let (first, second) = (try NativeIdentity.generate(.x25519), try NativeIdentity.generate(.x25519))
        let path = try makeArchive(on: machine, to: [first.recipient, second.recipient], passphrase: "horse")
        #expect(try machine.open(path, with: first).verify().opened == 1)
        #expect(try machine.open(path, with: second).verify().opened == 1)
        #expect(try machine.open(path, passphrase: "horse").verify().opened == 1)
    }

    @Test("A wrong passphrase, a foreign identity and a missing key are reported as such, and nothing is written")
    func wrongKeys() throws {
        let machine = try Machine()
        let recipient = try NativeIdentity.generate(.x25519).recipient
        let path = try makeArchive(on: machine, to: [recipient], passphrase: "horse")
        #expect(throws: ArchiveFailure.wrongPassphrase) { try machine.open(path, passphrase: "Horse") }
        #expect(throws: ArchiveFailure.wrongPassphrase) { try machine.open(path, passphrase: "") }
        #expect(throws: ArchiveFailure.noMatchingIdentity(["X25519", "X25519"], hasPassphrase: true)) {
            try machine.open(path, with: NativeIdentity.generate(.x25519))
        }
        let alone = try makeArchive(on: machine, passphrase: "horse")
        #expect(throws: ArchiveFailure.noMatchingIdentity(["X25519"], hasPassphrase: true)) {
            try machine.open(alone, with: NativeIdentity.generate(.x25519))
        }
        #expect(throws: ArchiveFailure.keyNeeded(passphraseOpens: true)) { try machine.open(path) }
        let public_ = try makeArchive(on: machine, to: [recipient])
        #expect(throws: ArchiveFailure.keyNeeded(passphraseOpens: false)) { try machine.open(public_) }
        #expect(throws: ArchiveFailure.noPassphraseSet) { try machine.open(public_, passphrase: "horse") }
    }

    @Test("A passphrase is compared by its bytes: the same letters in another normal form do not open the archive")
    func normalForms() throws {
        let machine = try Machine()
        let path = try makeArchive(on: machine, passphrase: "caf\u{e9}")
        #expect(try machine.open(path, passphrase: "caf\u{e9}").verify().opened == 1)
        #expect(throws: ArchiveFailure.wrongPassphrase) { try machine.open(path, passphrase: "cafe\u{301}") }
    }

    @Test("Without a key, an archive shows its header and its kinds of recipients")
    func outline() throws {
        let machine = try Machine()
        let (restorer, inspector) = (try NativeIdentity.generate(.x25519), try NativeIdentity.generate(.x25519))
        let path = try makeArchive(
            on: machine, to: [restorer.recipient], inspectors: [inspector.recipient], passphrase: "horse")
        let outline = try ArchiveOutline(ArchiveFile(path: path))
        #expect(outline.hasPassphrase)
        #expect(outline.metadataRecipients == ["X25519", "X25519", "X25519"])
        #expect(outline.secretsRecipients == ["X25519", "X25519"])
        #expect(outline.header.device == machine.device.id)
    }
}

@Suite("Archives checked without a key")
struct OutsideTests {
    @Test("A changed byte anywhere in an archive is detected as damage without a key", arguments: [true, false])
    func flippedByte(isEncrypted: Bool) throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain("login")
        try keychain.add("ann", "tulip")
        if isEncrypted {
            try machine.backUp(keychain, as: "a.kcb", to: [NativeIdentity.generate(.x25519).recipient])
        } else {
            try machine.backUpUnencrypted(keychain, as: "a.kcb")
        }
        let path = machine.folder.path("a.kcb")
        let bytes = try machine.folder.read("a.kcb")
        let outside = try ProvenOutside(ArchiveFile(path: path), local: nil)
        #expect(outside.origin == .unknown)
        #expect(outside.outline.header.device == machine.device.id)
        // A prime step, so that no field of the container is skipped systematically.
        for position in stride(from: 0, to: bytes.count, by: 37) {
            var damaged = bytes
            damaged[position] ^= 1
            try machine.folder.write("b.kcb", damaged)
            #expect(throws: ArchiveFailure.self, "byte \(position)") {
                try ProvenOutside(ArchiveFile(path: machine.folder.path("b.kcb")), local: nil)
            }
        }
    }

    @Test("Without a key, the device that made an archive determines its origin, but a passphrase does not")
    func origin() throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain("login")
        try machine.backUp(keychain, as: "a.kcb", passphrase: "horse")
        let file = try ArchiveFile(path: machine.folder.path("a.kcb"))
        let id = machine.device.id
        let other = try Machine().device
        #expect(try ProvenOutside(file, local: LocalIdentity(device: machine.device)).origin == .thisDevice)
        #expect(try ProvenOutside(file, local: LocalIdentity(device: other)).origin == .unknown)
        #expect(
            try ProvenOutside(file, local: LocalIdentity(device: other, trusted: [id: "old"])).origin
                == .trustedDevice(name: "old"))
    }
}

@Suite("Origin")
struct OriginTests {
    private func archive(
        on machine: Machine, to recipients: [NativeRecipient] = [], inspectors: [NativeRecipient] = [],
        passphrase: String? = nil
    ) throws -> String {
        let keychain = try machine.makeKeychain("\(ItemUUID())")
        try keychain.add("ann", "tulip")
        let name = "\(ItemUUID()).kcb"
        try machine.backUp(keychain, as: name, to: recipients, inspectors: inspectors, passphrase: passphrase)
        return machine.folder.path(name)
    }

    @Test("An archive signed by this device has this device as its origin, whatever the keys")
    func thisDevice() throws {
        let machine = try Machine()
        #expect(try machine.open(archive(on: machine, passphrase: "horse"), passphrase: "horse").origin == .thisDevice)
        let identity = try NativeIdentity.generate(.x25519)
        #expect(try machine.open(archive(on: machine, to: [identity.recipient]), with: identity).origin == .thisDevice)
    }

    @Test("A trusted device is identified by its name")
    func trusted() throws {
        let maker = try Machine()
        let machine = try Machine(trusting: [maker.device.id: "laptop"])
        let path = try archive(on: maker, passphrase: "horse")
        #expect(try machine.open(path, passphrase: "horse").origin == .trustedDevice(name: "laptop"))
        #expect(try machine.open(path, passphrase: "horse").isFromThisDevice == false)
    }

    @Test("A passphrase proves the origin of an archive only if it is its only key")
    func passphrase() throws {
        let (maker, machine) = (try Machine(), try Machine())
        let identity = try NativeIdentity.generate(.x25519)
        let alone = try machine.open(archive(on: maker, passphrase: "horse"), passphrase: "horse")
        #expect(alone.origin == .passphrase)
        let shared = try archive(on: maker, to: [identity.recipient], passphrase: "horse")
        #expect(try machine.open(shared, passphrase: "horse").origin == .unknown)
        #expect(try machine.open(shared, with: identity).origin == .unknown)
        let inspected = try archive(on: maker, inspectors: [identity.recipient], passphrase: "horse")
        #expect(try machine.open(inspected, passphrase: "horse").origin == .unknown)
    }

    @Test("An archive that claims its passphrase is its only key but has another one is refused")
    func passphraseThatLies() throws {
        let (maker, machine) = (try Machine(), try Machine())
        let other = try NativeIdentity.generate(.x25519).recipient
        for isInspector in [false, true] {
            let cost = try #require(Machine.cheap)
            // Its identity file says that there are no other keys.
            let keys = try ArchiveKeys(passphrase: SecretBytes(copying: "horse".utf8), cost: cost)
            let lying = ArchiveKeys(
                archiveID: keys.archiveID, recipients: keys.recipients + (isInspector ? [] : [other]),
                inspectors: isInspector ? [other] : [], identityMember: keys.identityMember)
            _ = try maker.creating("\(isInspector).kcb")
                .encrypted(ListedSource(items: try ListedSource.items(1)), with: lying)
            #expect(
                throws: ArchiveFailure.damaged(
                    rule: "the passphrase is noted as its only key, and it has other recipients")
            ) { try machine.open(maker.folder.path("\(isInspector).kcb"), passphrase: "horse") }
        }
    }

    @Test("An archive of unknown origin is restored only if its device is named")
    func unknown() throws {
        let (maker, machine) = (try Machine(), try Machine())
        let identity = try NativeIdentity.generate(.x25519)
        let opened = try machine.open(archive(on: maker, to: [identity.recipient]), with: identity)
        #expect(opened.origin == .unknown)
        #expect(throws: RestoreRefusal.unknownOrigin(device: maker.device.id)) {
            _ = try Bring(.archive(opened), options: RestoreOptions())
        }
        var options = RestoreOptions()
        options.acceptedOrigin = machine.device.id
        #expect(throws: RestoreRefusal.unknownOrigin(device: maker.device.id)) {
            _ = try Bring(.archive(opened), options: options)
        }
        options.acceptedOrigin = maker.device.id
        #expect(try Bring(.archive(opened), options: options).run(into: machine.makeKeychain()).counts.create == 1)
    }
}
