import KCBackupArchive
import KCByteStreams
import KCDeviceIdentity
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

@Suite("Trials")
struct DrillTests {
    private let machine: Machine
    private let archive: ProvenArchive

    init() throws {
        machine = try Machine()
        let keychain = try machine.makeKeychain()
        try keychain.add("ada", "one")
        try keychain.add("bob", nil)
        try keychain.add("eve", "bound", .whenUnlockedThisDeviceOnly)
        try machine.backUp(keychain, as: "a.kcb", passphrase: "horse")
        archive = try machine.open(machine.folder.path("a.kcb"), passphrase: "horse")
    }

    /// Runs a trial whose target is changed before it is read back.
    private func drill(_ archive: ProvenArchive, _ change: (Keychain) throws -> Void = { _ in }) throws -> DrillReport {
        let target = try machine.makeKeychain("\(ItemUUID())", passcode: nil)
        return try DrillBackup(archive).run(
            into: target,
            reopened: {
                try change(target)
                return target
            })
    }

    private func find(_ account: String, in keychain: Keychain) throws -> Item {
        try #require(try keychain.find(ItemQuery()).items.first { $0.attributes.text(.acct) == account })
    }

    @Test("A trial whose items equal those of the archive reports them as the same")
    func same() throws {
        let report = try drill(archive)
        #expect(report.isSame && report.compared == 3 && report.stayingBehind.isEmpty && report.failing.isEmpty)
    }

    @Test("A trial finds a different secret, a different attribute, a missing item and an extra item")
    func differences() throws {
        let secret = try drill(archive) { keychain in
            let item = try find("ada", in: keychain)
            // The same attributes, dates and UUID, but another secret of the same size.
            try keychain.write { writer in
                var line = SecretBytes(capacity: 1_024)
                ItemLine.encode(item, into: &line)
                try line.withBytes { line in
                    try writer.put(
                        item, line: line, secret: SecretBytes(copying: "two".utf8), in: .plain, replacing: item)
                }
            }
        }
        #expect(secret.differences.map(\.difference) == [.secret] && !secret.isSame)
        let attributes = try drill(archive) { keychain in
            _ = try keychain.update(
                matching: ItemQuery(find("bob", in: keychain)), set: [.labl: .text("x")], secret: nil, now: moment(9))
        }
        #expect(attributes.differences.map(\.difference) == [.attributes] && !attributes.isSame)
        let missing = try drill(archive) { keychain in
            _ = try keychain.delete(matching: ItemQuery(find("eve", in: keychain)), now: moment(9))
        }
        #expect(missing.differences.map(\.difference) == [.missing] && missing.compared == 3)
        let surplus = try drill(archive) { keychain in try keychain.add("new", "x") }
        #expect(surplus.differences.isEmpty && surplus.surplus == 1 && !surplus.isSame)
    }

    @Test("On another device, items that stay behind are reported and are not a difference")
    func elsewhere() throws {
        let other = try Machine()
        let opened = try other.open(machine.folder.path("a.kcb"), passphrase: "horse")
        let report = try drill(opened)
        #expect(report.isSame && report.compared == 2)
        #expect(report.stayingBehind.map(\.reason) == [.thisDeviceOnly])
    }

    @Test("A trial of an unencrypted archive needs the passcode, and is refused on another device")
    func unencrypted() throws {
        let keychain = try machine.makeKeychain("other", passcode: "1234")
        try keychain.add("ada", "one")
        try machine.backUpUnencrypted(keychain, as: "u.kcb")
        let archive = try machine.open(machine.folder.path("u.kcb"))
        #expect(throws: ArchiveFailure.passcodeNeeded) { try drill(archive) }
        try archive.stored?.unlock(passcode: SecretBytes(copying: "1234".utf8), minimumCost: Machine.cheap)
        let target = try machine.makeKeychain("trial2", passcode: nil)
        let report = try DrillBackup(archive).run(into: target, reopened: { target })
        #expect(report.isSame && report.compared == 1)
        let elsewhere = try Machine().open(machine.folder.path("u.kcb"))
        #expect(throws: RestoreRefusal.unencryptedElsewhere(device: machine.device.id)) {
            try DrillBackup(elsewhere)
        }
    }

    @Test("A verified archive has the fingerprint that was computed when it was made", arguments: [true, false])
    func fingerprint(isEncrypted: Bool) throws {
        let keychain = try machine.makeKeychain("prints")
        try keychain.add("ada", "one", .whenUnlockedThisDeviceOnly)
        let destination = FingerprintDestination(machine.folder.path)
        let making = try CreateBackup(
            of: ArchiveSource(kind: ArchiveSource.keychain, name: "prints"), device: machine.device, tool: "test",
            to: destination, now: moment(100))
        if isEncrypted, let cost = Machine.cheap {
            _ = try making.encrypted(
                keychain, with: ArchiveKeys(passphrase: SecretBytes(copying: "horse".utf8), cost: cost))
        } else {
            _ = try making.unencrypted(keychain)
        }
        let opened = try machine.open(machine.folder.path("f.kcb"), passphrase: isEncrypted ? "horse" : nil)
        #expect(try opened.verify(takesFingerprint: true).fingerprint == destination.fingerprint)
        #expect(try opened.verify().fingerprint == nil)
        let elsewhere = try Machine().open(machine.folder.path("f.kcb"), passphrase: isEncrypted ? "horse" : nil)
        #expect(try elsewhere.verify(takesFingerprint: true).fingerprint == nil)
    }
}

/// A destination that keeps the fingerprint of the archive it receives.
final class FingerprintDestination: ArchiveDestination {
    let workFolder: String
    private(set) var fingerprint: [UInt8]?

    init(_ folder: String) { workFolder = folder }

    func receive(_ archive: FinishedArchive, _ report: CreateReport) throws {
        fingerprint = archive.fingerprint
        try archive.publish(as: "f.kcb")
    }
}
