import KCArchiveForgery
import KCBackupArchive
import KCDeviceIdentity
import KCKeychainModel
import Testing

@testable import KCBackupEngine

/// A change for each part of the format; the tests of KCBackupArchive try all changes.
private let partsCases = join([
    HostileCase.both("a member is missing", .damaged("exactly the members")) { $0.rearrange = { $0.remove(at: 2) } },
    HostileCase.both("mode of a member", .damaged("the mode is 0600")) { $0.arrange = { $0[1].mode = 0o644 } },
    HostileCase.both("checksums", .damaged("the checksums are not")) { $0.spellChecksums = { $0 + "\n" } },
    HostileCase.both("signature", .damaged("signature does not fit")) { $0.namespace = "file" },
    HostileCase.both("signer", .damaged("another device than it names")) { $0.signer = try DeviceKey.generate() },
    HostileCase.both("header", .damaged("date")) {
        $0.header = $0.header.replacing("Z\",\"device\"", with: "z\",\"device\"")
    },
    HostileCase.both("gzip", .damaged("ends early")) { $0.compressSecrets = { storedGzip($0).dropLast(3) } },
    HostileCase.both("order", .damaged("not in order")) {
        $0.metadata.swapAt(1, 3)
        $0.secrets.swapAt(1, 3)
    },
    HostileCase.both("last item", .damaged("accessibility")) {
        $0.edit("\"acct\":\"dku\"", "\"pdmn\":\"dku\"", "\"pdmn\":\"zk\"")
    },
    HostileCase.both("spelling of the last item", .damaged("shortest form")) {
        $0.edit("\"acct\":\"dku\"", "\"sync\":0", "\"sync\":00")
    },
    HostileCase.both("spelling of the last secret", .damaged("something follows")) { $0.secrets[6] += " " },
    HostileCase.both("last secret", .damaged("")) { $0.secrets.remove(at: 6) },
    HostileCase.both("last line", .damaged("without their last line")) { $0.secrets.removeLast() },
    HostileCase.both("count", .damaged("different numbers")) {
        $0.changeMetadataEnd = { $0.replacing("\"genp\":6", with: "\"genp\":5") }
    },
    HostileCase.both("behind the last line", .damaged("follows the last line")) {
        $0.changeSecretsEnd = { $0 + "\n" + $0 }
    },
    [
        HostileCase("a sealed secret", .damaged("not genuine")) {
            $0.edit("\"acct\":\"dku\"", "\"mail\"", "\"bank\"")
        }
    ],
])

@Suite("Restoring hostile archives")
struct HostileRestoreTests {
    @Test("An archive that was only taken apart and reassembled is restored", arguments: ArchiveMode.allCases)
    func control(_ mode: ArchiveMode) throws {
        let genuine = try Genuine.all.get()
        let outcome = try genuine.outcome(of: Forgery(genuine[mode]).bytes())
        #expect(outcome.verifying == nil && outcome.restoring == nil)
        #expect(outcome.written == 6)
    }

    @Test("An archive that breaks a rule of the format is refused by both verify and restore", arguments: partsCases)
    func parts(_ hostile: HostileCase) throws { try hostile.check() }

    @Test("Plain secrets in an unencrypted archive of another device are refused before they are read")
    func unencryptedElsewhere() throws {
        let (genuine, stranger) = (try Genuine.all.get(), try DeviceKey.generate())
        var forgery = try Forgery(genuine.unencrypted)
        let lifted = try Forgery(genuine.encrypted)
        forgery.metadata.replaceSubrange(1..., with: lifted.metadata.dropFirst())
        forgery.secrets.replaceSubrange(1..., with: lifted.secrets.dropFirst())
        forgery.editArchive(forgery.signer.id.description, stranger.id.description)
        forgery.signer = stranger
        let outcome = try genuine.outcome(of: forgery.bytes())
        #expect(outcome.restoring as? RestoreRefusal == .unencryptedElsewhere(device: stranger.id))
        #expect(outcome.written == 0)
    }
}
