import Foundation
import KCAgeEncryption
import KCArchiveForgery
import KCBackupArchive
import KCByteStreams
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

/// A small archive with its own machine and target, whose bytes are altered in place.
private final class AlteredArchive {
    let bytes: [UInt8]
    private let machine: Machine
    private let identity: NativeIdentity
    private let target: Keychain
    private let targetBefore: [UInt8]
    private let name = "a.kcb"
    private let handle: FileHandle

    init(_ mode: ArchiveMode) throws {
        machine = try Machine()
        identity = try NativeIdentity.generate(.x25519)
        let keychain = try machine.makeKeychain()
        try keychain.add("ann", "tulip")
        try keychain.add("bob", "rose", .whenUnlockedThisDeviceOnly)
        switch mode {
        case .encrypted: try machine.backUp(keychain, as: name, to: [identity.recipient])
        case .unencrypted: try machine.backUpUnencrypted(keychain, as: name)
        }
        bytes = try machine.folder.read(name)
        handle = try #require(FileHandle(forUpdatingAtPath: machine.folder.path(name)))
        // Emptied, so that a restore into it would show.
        _ = try keychain.delete(matching: ItemQuery(), now: moment(200))
        target = keychain
        targetBefore = try machine.folder.read("login.keychain")
    }

    /// Tries to restore `bytes`; returns the failure, or nil if they were accepted.
    func refusal(of bytes: [UInt8]) throws -> (any Error)? {
        try handle.truncate(atOffset: UInt64(bytes.count))
        try write(bytes[...], at: 0)
        return refusal()
    }

    /// Tries to restore the archive with one byte replaced.
    func refusal(withByte byte: UInt8, at index: Int) throws -> (any Error)? {
        try write([byte], at: index)
        defer { try? write(bytes[index...index], at: index) }
        return refusal()
    }

    private func refusal() -> (any Error)? {
        failure {
            let archive = try machine.open(machine.folder.path(name), with: identity)
            try machine.restore(archive, into: target)
        }
    }

    private func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws {
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: bytes)
    }

    func targetIsUnchanged() throws -> Bool {
        try machine.folder.read("login.keychain") == targetBefore
    }
}

/// Returns true for the failures that damage may cause.
private func isSortedAsDamage(_ error: any Error) -> Bool {
    switch error as? ArchiveFailure {
    case .damaged, .notAnArchive, .limit, .newerFormat: true
    default: false
    }
}

@Suite("Altered archives")
struct FlipTests {
    private static let shards = 2
    private static let isWhole = ProcessInfo.processInfo.environment["FLIPS"] == "all"

    /// The bits of a byte that are flipped: all for `make proof`, otherwise one, another one in each byte.
    private static func bits(at index: Int) -> [Int] { isWhole ? Array(0..<8) : [(index + index / 8) % 8] }

    @Test("An archive that ends early is refused, wherever it ends", arguments: ArchiveMode.allCases)
    func truncation(_ mode: ArchiveMode) throws {
        let archive = try AlteredArchive(mode)
        for count in 0..<archive.bytes.count {
            let error = try archive.refusal(of: Array(archive.bytes.prefix(count)))
            #expect(error.map(isSortedAsDamage) == true, "\(count) bytes: \(String(describing: error))")
        }
        #expect(try archive.targetIsUnchanged())
    }

    @Test("An archive with a bit flipped in any byte is refused", arguments: ArchiveMode.allCases, 0..<shards)
    func flips(_ mode: ArchiveMode, _ shard: Int) throws {
        let archive = try AlteredArchive(mode)
        #expect(archive.bytes.count <= 16_384)
        let proof = ProofCount("bits flipped in an \(mode.rawValue) archive, half \(shard + 1)")
        for index in stride(from: shard, to: archive.bytes.count, by: Self.shards) {
            for bit in Self.bits(at: index) {
                let error = try archive.refusal(withByte: archive.bytes[index] ^ 1 << bit, at: index)
                let isRefused = error.map(isSortedAsDamage) == true
                proof.add(isRefused ? 0 : 1)
                if !isRefused { Issue.record("byte \(index), bit \(bit): \(String(describing: error))") }
            }
        }
        try proof.record()
        #expect(try archive.targetIsUnchanged())
    }

    @Test("An archive with bytes inserted or removed anywhere is refused", arguments: ArchiveMode.allCases)
    func shifts(_ mode: ArchiveMode) throws {
        let archive = try AlteredArchive(mode)
        for index in stride(from: 0, to: archive.bytes.count, by: 97) {
            for count in [1, 16, 512] {
                var longer = archive.bytes
                longer.insert(contentsOf: [UInt8](repeating: 0, count: count), at: index)
                var shorter = archive.bytes
                shorter.removeSubrange(index..<min(index + count, shorter.count))
                for altered in [longer, shorter] {
                    let error = try archive.refusal(of: altered)
                    #expect(error.map(isSortedAsDamage) == true, "byte \(index): \(String(describing: error))")
                }
            }
        }
        for count in [1, 511, 512, 1024, 10_240] {
            let error = try archive.refusal(of: archive.bytes + [UInt8](repeating: 0, count: count))
            #expect(error.map(isSortedAsDamage) == true)
        }
        #expect(try archive.refusal(of: archive.bytes + archive.bytes).map(isSortedAsDamage) == true)
        #expect(try archive.targetIsUnchanged())
    }

    @Test("An archive that is altered after it was proved genuine is refused", arguments: ArchiveMode.allCases)
    func alteredAfterProof(_ mode: ArchiveMode) throws {
        let genuine = try Genuine.all.get()
        var forgery = try Forgery(genuine[mode])
        let folder = try TemporaryFolder()
        let path = try folder.write("a.kcb", try forgery.bytes())
        let proved = try ArchiveFile(path: path).prove()
        let opened = try mode == .encrypted ? proved.open(identities: [genuine.identity]) : proved.open()
        let archive = try ProvenArchive(opened, local: genuine.local)
        // Of equal length, valid in itself, and written into the same file.
        forgery.edit("\"acct\":\"ak\"", "\"mail\"", "\"bank\"")
        try folder.overwrite("a.kcb", try forgery.bytes())
        let target = RecordingTarget()
        let member = ArchiveMember.metadata(mode).name
        #expect(
            throws: ArchiveFailure.damaged(rule: "'\(member)' does not match its checksum")
        ) {
            try Bring(.archive(archive), options: RestoreOptions()).run(into: target)
        }
        #expect(target.written == 0)
        #expect(throws: ArchiveFailure.self) { try archive.verify() }
    }

    @Test("An archive that is altered between planning and writing is refused", arguments: ArchiveMode.allCases)
    func alteredAfterPlanning(_ mode: ArchiveMode) throws {
        let target = RecordingTarget()
        var restore = try restoring(mode, alteredInBetweenBy: target)
        // As one that is too large to be held.
        restore.heldLimit = 0
        #expect(throws: ArchiveFailure.damaged(rule: "it changed while it was being read")) {
            try restore.run(into: target)
        }
        // Of an encrypted archive, the first bytes of the second reading say it.
        #expect(
            target.written > 0 || mode == .encrypted,
            "the transaction, which this target does not have, undoes what was written")
    }

    @Test("Of a small archive, what was proved is written, whatever its file holds", arguments: ArchiveMode.allCases)
    func heldAfterPlanning(_ mode: ArchiveMode) throws {
        let target = RecordingTarget()
        let report = try restoring(mode, alteredInBetweenBy: target).run(into: target)
        #expect(target.written == report.counts.create)
        #expect(target.services.contains("mail") && !target.services.contains("bank"))
    }

    /// A restore of an archive that `target` overwrites by another one when planning is over.
    private func restoring(_ mode: ArchiveMode, alteredInBetweenBy target: RecordingTarget) throws -> Bring {
        let genuine = try Genuine.all.get()
        var forgery = try Forgery(genuine[mode])
        let folder = try TemporaryFolder()
        let path = try folder.write("a.kcb", try forgery.bytes())
        let proved = try ArchiveFile(path: path).prove()
        let opened = try mode == .encrypted ? proved.open(identities: [genuine.identity]) : proved.open()
        let archive = try ProvenArchive(opened, local: genuine.local)
        forgery.edit("\"acct\":\"ak\"", "\"mail\"", "\"bank\"")
        let altered = try forgery.bytes()
        target.beforeWriting = { try folder.overwrite("a.kcb", altered) }
        var options = RestoreOptions()
        options.replacing = .archived
        return try Bring(.archive(archive), options: options)
    }
}
