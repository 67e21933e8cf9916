import KCAgeEncryption
import KCArchiveForgery
import KCBackupArchive
import KCByteStreams
import KCDeviceIdentity
import KCKeychainModel
import KCTarArchive
import KCTestSupport
import Testing

@testable import KCBackupEngine

@Suite("Forged origins")
struct ForgedOriginTests {
    /// The forger needs only an archive that the victim keeps and the victim's recipient.
    @Test(
        "An archive with another archive's identity file and streams for the victim's public key has an unknown origin")
    func forgedOrigin() throws {
        let (maker, forger, victim) = (try Machine(), try Machine(), try Machine())
        try maker.makeKeychain().add("ann", "tulip")
        try maker.backUp(maker.makeKeychain("other"), as: "kept.kcb", passphrase: "horse")
        let kept = try OpenFile.reading(maker.folder.path("kept.kcb"))
        let members = try TarMembers(kept)
        let victimIdentity = try NativeIdentity.generate(.x25519)
        for extra: [any Recipient] in [[], [try NativeIdentity.generate(.x25519).recipient]] {
            var forgery = try Forgery(Genuine.all.get().encrypted)
            forgery.editArchive(forgery.archiveID, members.archiveID)
            forgery.editArchive(forgery.signer.id.description, forger.device.id.description)
            forgery.identity = members.identity
            forgery.signer = forger.device
            forgery.metadataRecipients = [victimIdentity.recipient] + extra
            forgery.secretsRecipients = [victimIdentity.recipient]
            let path = try victim.folder.write("forged.kcb", forgery.bytes())
            #expect(throws: ArchiveFailure.self) { try victim.open(path, passphrase: "horse") }
            let opened = try victim.open(path, with: victimIdentity)
            #expect(try opened.verify().contents.counts.total == 6)
            #expect(opened.origin == .unknown)
        }
        #expect(try victim.open(maker.folder.path("kept.kcb"), passphrase: "horse").origin == .passphrase)
    }
}

/// The parts that a forger takes from an existing archive.
private struct TarMembers {
    let identity: [UInt8]
    let archiveID: String

    init(_ file: OpenFile) throws {
        var members: [String: [UInt8]] = [:]
        for member in try TarDirectory.read(file).members {
            members[member.name] = try drain(FileSlice(file, offset: member.offset, length: member.length))
        }
        identity = try #require(members["identity.age"])
        let header = String(decoding: try #require(members["kcbackup.json"]), as: UTF8.self)
        archiveID = String(header[try #require(header.firstRange(of: "\"archive\":\"")).upperBound...].prefix(64))
    }
}
