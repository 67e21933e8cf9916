import KCAgeEncryption
import KCArchiveForgery
import KCByteStreams
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCBackupArchive
@testable import KCBackupEngine

@Suite("Archives with new keys")
struct RekeyTests {
    /// The keys that open an archive.
    enum Key: String, CaseIterable, Sendable {
        case identity, passphrase, both, postQuantum, postQuantumBoth

        var isPostQuantum: Bool { self == .postQuantum || self == .postQuantumBoth }
        var hasPassphrase: Bool { [.passphrase, .both, .postQuantumBoth].contains(self) }
    }

    private let machine: Machine
    private let identities: [(old: NativeIdentity, new: NativeIdentity)]
    private static let streams = ["metadata.jsonl.gz.age", "secrets.jsonl.gz.age"]

    init() throws {
        machine = try Machine()
        identities = try [.x25519, .hybrid].map { kind in
            (try NativeIdentity.generate(kind), try NativeIdentity.generate(kind))
        }
        let keychain = try machine.makeKeychain()
        try keychain.add("ann", "tulip")
        try keychain.add("bound", "rose", .whenUnlockedThisDeviceOnly)
        for key in Key.allCases {
            try machine.backUp(
                keychain, as: "\(key).kcb", to: key == .passphrase ? [] : [pair(key).old.recipient],
                passphrase: key.hasPassphrase ? "horse" : nil)
        }
    }

    /// The identities of the strength of a key.
    private func pair(_ key: Key) -> (old: NativeIdentity, new: NativeIdentity) {
        identities[key.isPostQuantum ? 1 : 0]
    }

    /// Opens an archive that has the old keys, or the new ones.
    private func open(_ name: String, _ key: Key, isNew: Bool, on other: Machine? = nil) throws -> ProvenArchive {
        try (other ?? machine).open(
            machine.folder.path(name), with: key == .passphrase ? nil : isNew ? pair(key).new : pair(key).old,
            passphrase: key == .passphrase ? (isNew ? "otter" : "horse") : nil)
    }

    private func newKeys(_ key: Key, of archiveID: [UInt8]) throws -> ArchiveKeys {
        guard key.hasPassphrase else {
            return try ArchiveKeys(of: archiveID, recipients: [pair(key).new.recipient], inspectors: [])
        }
        return try ArchiveKeys(
            of: archiveID, passphrase: SecretBytes(copying: "otter".utf8), cost: try #require(Machine.cheap),
            recipients: key == .passphrase ? [] : [pair(key).new.recipient], inspectors: [])
    }

    /// Makes `new.kcb` from the archive with `key`.
    private func rekey(_ key: Key, to newKey: Key) throws {
        let opened = try open("\(key).kcb", key, isNew: false).opened
        try opened.rekeyed(
            to: newKeys(newKey, of: opened.header.archiveID), by: machine.device, inFolder: machine.folder.path
        ).publish(as: "new.kcb")
    }

    /// The identity that opens the streams.
    private func identity(_ name: String, _ key: Key, isNew: Bool) throws -> NativeIdentity {
        guard key == .passphrase else { return isNew ? pair(key).new : pair(key).old }
        return try ownIdentity(ofArchiveAt: machine.folder.path(name), passphrase: isNew ? "otter" : "horse")
    }

    @Test(
        "An archive with new keys has the same contents under file keys of its own",
        arguments: Key.allCases, Key.allCases)
    func freshFileKeys(key: Key, newKey: Key) throws {
        try rekey(key, to: newKey)
        let before = try open("\(key).kcb", key, isNew: false)
        let after = try open("new.kcb", newKey, isNew: true)
        #expect(after.header == before.header)
        #expect(
            try ContentFingerprint.read(from: after.opened, machine.device)
                == ContentFingerprint.read(from: before.opened, machine.device))
        #expect(throws: ArchiveFailure.self) { try open("new.kcb", key, isNew: false) }
        var fileKeys: Set<[UInt8]> = []
        for (name, identity) in [
            ("\(key).kcb", try identity("\(key).kcb", key, isNew: false)),
            ("new.kcb", try identity("new.kcb", newKey, isNew: true)),
        ] {
            for stream in Self.streams {
                let member = try OpenedMember(stream, ofArchiveAt: machine.folder.path(name), identity)
                fileKeys.insert(member.fileKey.bytesForTest())
            }
        }
        #expect(fileKeys.count == 4)
    }

    /// Makes an archive that holds changed contents below the headers of `new.kcb`, signed with a key of the forger's own.
    ///
    /// - Parameters:
    ///   - key: the key of the old archive, which the forger has, with a copy of that archive.
    ///   - fileKeys: the archive whose file keys the forger uses, and the identity that opens it.
    private func forge(_ key: Key, fileKeys: (archive: String, identity: NativeIdentity)) throws {
        let forger = try DeviceKey.generate()
        let sample = SampleArchive(
            "\(key).kcb", in: machine.folder, .encrypted, by: machine.device,
            to: try identity("\(key).kcb", key, isNew: false))
        var forgery = try Forgery(sample)
        forgery.edit("\"ann\"", "\"mail\"", "\"bank\"")
        forgery.editArchive(forgery.signer.id.description, forger.id.description)
        forgery.signer = forger
        let path = machine.folder.path("new.kcb")
        forgery.identity =
            try ArchiveFile(path: path).hasPassphrase ? memberBytes("identity.age", ofArchiveAt: path) : nil
        forgery.arrange = { entries in
            for index in entries.indices where Self.streams.contains(entries[index].name) {
                do {
                    let (name, bytes) = (entries[index].name, entries[index].bytes)
                    let plaintext = try drain(
                        AgeDecryptor(MemorySource(copying: bytes), identities: [sample.identity]))
                    let known = try OpenedMember(
                        name, ofArchiveAt: machine.folder.path(fileKeys.archive), fileKeys.identity)
                    entries[index].bytes = try ageFile(
                        plaintext, below: headerBytes(name, ofArchiveAt: path), fileKey: known.fileKey)
                } catch {
                    Issue.record(error)
                }
            }
        }
        try machine.folder.write("forged.kcb", forgery.bytes())
    }

    @Test(
        "The old key, a copy of the old archive and the new archive do not suffice to forge one that the new key opens",
        arguments: Key.allCases, Key.allCases)
    func forgery(key: Key, newKey: Key) throws {
        try rekey(key, to: newKey)
        try forge(key, fileKeys: ("\(key).kcb", identity("\(key).kcb", key, isNew: false)))
        #expect(throws: ArchiveFailure.self) { _ = try open("forged.kcb", newKey, isNew: true).verify() }
        #expect(throws: ArchiveFailure.self) { _ = try open("forged.kcb", key, isNew: false).verify() }
        // With the file keys of the new archive, which only the new key opens, the forgery would be accepted.
        try forge(key, fileKeys: ("new.kcb", identity("new.kcb", newKey, isNew: true)))
        let accepted = try open("forged.kcb", newKey, isNew: true)
        #expect(accepted.origin == (newKey == .passphrase ? .passphrase : .unknown))
        #expect(try accepted.verify().contents.counts.total == 2)
    }

    @Test("The archives of other devices, unencrypted ones, and what an inspect key opens get no new keys")
    func refused() throws {
        let opened = try open("identity.kcb", .identity, isNew: false).opened
        let keys = try newKeys(.identity, of: opened.header.archiveID)
        #expect(throws: ArchiveFailure.notRekeyable(.otherDevice)) {
            try opened.rekeyed(to: keys, by: DeviceKey.generate(), inFolder: machine.folder.path)
        }
        let keychain = try machine.makeKeychain("other")
        try machine.backUpUnencrypted(keychain, as: "open.kcb")
        let unencrypted = try machine.open(machine.folder.path("open.kcb")).opened
        #expect(throws: ArchiveFailure.notRekeyable(.unencrypted)) {
            try unencrypted.rekeyed(
                to: newKeys(.identity, of: unencrypted.header.archiveID), by: machine.device,
                inFolder: machine.folder.path)
        }
        let (old, new) = pair(.identity)
        try machine.backUp(keychain, as: "inspected.kcb", to: [new.recipient], inspectors: [old.recipient])
        let inspected = try machine.open(machine.folder.path("inspected.kcb"), with: old).opened
        #expect(throws: ArchiveFailure.noMatchingIdentity(["X25519"], hasPassphrase: false)) {
            try inspected.rekeyed(
                to: newKeys(.identity, of: inspected.header.archiveID), by: machine.device,
                inFolder: machine.folder.path)
        }
    }

    @Test("An archive that is damaged is not signed again")
    func damaged() throws {
        for stream in Self.streams {
            var bytes = try machine.folder.read("identity.kcb")
            let payload = try memberBytes(stream, ofArchiveAt: machine.folder.path("identity.kcb"))
            let place = try #require(bytes.firstRange(of: payload))
            bytes[place.upperBound - 1] ^= 1
            try machine.folder.write("rotten.kcb", bytes)
            #expect(
                throws: ArchiveFailure.checksum(stream.hasPrefix("m") ? .metadata(.encrypted) : .secrets(.encrypted))
            ) {
                let opened = try open("rotten.kcb", .identity, isNew: false).opened
                _ = try opened.rekeyed(
                    to: newKeys(.identity, of: opened.header.archiveID), by: machine.device,
                    inFolder: machine.folder.path)
            }
        }
    }
}
