import KCAgeEncryption
import KCBackupArchive
import KCByteStreams
import KCCryptography
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

/// The contents of an archive: for each item a hash of its line, its secret, and the secret's state.
private struct CollectingVisitor: RecordVisitor {
    var records: [String] = []
    var states: [SecretState: Int] = [:]

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) {
        let hash = secret.withBytes { SHA256.hash($0).hex }
        records.append("\(SHA256.hash(line).hex) \(hash) \(state)")
        states[state, default: 0] += 1
    }
}

@Suite("Round trips")
struct RoundTripTests {
    private static let count = ModelRun.isWhole ? 10_000 : 1_000
    private static let seed = UInt64.random(in: .min ... .max)

    private func fill(_ keychain: Keychain, _ seed: UInt64) throws -> Int {
        var random = RandomItems(seed: seed, hasConstraints: true)
        var added = 0
        try keychain.write { writer in
            for _ in 0..<Self.count {
                let (draft, secret) = (random.draft(), random.secret())
                do {
                    switch secret {
                    case .some(let bytes): try writer.add(draft, secret: SecretBytes(copying: bytes), now: moment(1))
                    case .none: try writer.add(draft, secret: nil, now: moment(1))
                    }
                    added += 1
                } catch KeychainStoreError.duplicateItem {
                    continue
                }
            }
        }
        return added
    }

    private func contents(_ archive: ProvenArchive) throws -> CollectingVisitor {
        var visitor = CollectingVisitor()
        _ = try archive.opened.readAll(device: archive.device, &visitor)
        return visitor
    }

    @Test("Random items survive backup, restore and another backup", arguments: [seed])
    func encrypted(_ seed: UInt64) throws {
        let machine = try Machine()
        let identity = try NativeIdentity.generate(.x25519)
        let keychain = try machine.makeKeychain()
        let added = try fill(keychain, seed)
        #expect(added > Self.count * 9 / 10)

        let created = try machine.backUp(keychain, as: "first.kcb", to: [identity.recipient])
        #expect(created.contents.counts.total == added && created.contents.isComplete)
        let first = try machine.open(machine.folder.path("first.kcb"), with: identity)
        let target = try machine.makeKeychain("target")
        #expect(try machine.restore(first, into: target).counts.create == added)
        #expect(try target.find(ItemQuery()).items == keychain.find(ItemQuery()).items)

        try machine.backUp(target, as: "second.kcb", to: [identity.recipient])
        let second = try machine.open(machine.folder.path("second.kcb"), with: identity)
        let (before, after) = (try contents(first), try contents(second))
        #expect(before.records.count == added)
        #expect(before.records == after.records)
        #expect(before.states[.sealedElsewhere] == nil)

        let bytes = try machine.folder.read("target.keychain")
        #expect(try machine.restore(first, into: target).counts.same == added)
        #expect(try machine.folder.read("target.keychain") == bytes)
    }

    @Test("Random items survive in their stored form, byte for byte", arguments: [seed])
    func unencrypted(_ seed: UInt64) throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain()
        let added = try fill(keychain, seed)
        try machine.backUpUnencrypted(keychain, as: "first.kcb")
        let first = try machine.open(machine.folder.path("first.kcb"))
        let target = try Keychain.create(
            at: machine.folder.path("target.keychain"), adopting: keychain.keybag, deviceKey: machine.device,
            now: moment(2), lockWait: .seconds(60), minimumCost: Machine.cheap)
        #expect(try machine.restore(first, into: target).counts.create == added)
        try machine.backUpUnencrypted(target, as: "second.kcb")
        let second = try machine.open(machine.folder.path("second.kcb"))
        let (before, after) = (try contents(first), try contents(second))
        #expect(before.records.count == added)
        #expect(before.records == after.records)
        #expect(try machine.restore(first, into: target).counts.same == added)
    }
}
