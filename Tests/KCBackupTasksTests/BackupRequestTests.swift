import KCAsking
import KCStoreTasks
import Testing

@testable import KCBackupTasks

@Suite("Requests for backups")
struct BackupRequestTests {
    @Test("A request tells which files, commands and credentials its secrets need")
    func needs() {
        var request = BackupRequest(of: .named("cmd:x"))
        #expect(request.files + request.commands + request.credentials == [])
        request.access.key = .passcode(.file("/passcode"))
        request.access.file = FileAccess(password: .command("pass show a"), keyFile: "/key")
        request.access.acceptMissing = ["/home/ada/a"]
        request.mode = .encrypted(
            ArchiveKeyRequest(
                passphrase: .credential("phrase"),
                restoring: RecipientRequest(keys: ["age1a"], files: ["/recipients"], passphrase: .file("/words"))))
        #expect(request.files == ["/passcode", "/words", "/key", "/recipients", "/home/ada/a"])
        #expect(request.commands == ["pass show a"])
        #expect(request.credentials == ["phrase"])
    }

    @Test("An unencrypted backup has no keys, and an escrow key takes the place of a passcode")
    func contradictions() {
        var request = BackupRequest(of: .everyKeychain)
        #expect(request.isOfSeveral && !request.isUnencrypted && request.storeName == nil)
        request.mode = .unencrypted
        request.access.key = .escrow(.file("/escrow"))
        #expect(request.keys == nil && request.isUnencrypted)
        #expect(request.access.key.passcode == nil && request.access.key.source == .file("/escrow"))
    }
}
