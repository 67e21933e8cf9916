import KCAgeEncryption
import KCArchiveForgery
import KCBackupArchive
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCBackupEngine

@Suite("Reading only the metadata")
struct SurveyTests {
    /// An archive whose metadata opens with the genuine identity, but whose secrets do not.
    private func inspected(_ change: (inout Forgery) -> Void) throws -> ProvenArchive {
        let genuine = try Genuine.all.get()
        var forgery = try Forgery(genuine.encrypted)
        forgery.secretsRecipients = [try NativeIdentity.generate(.x25519).recipient]
        change(&forgery)
        let folder = try TemporaryFolder()
        let path = try folder.write("a.kcb", forgery.bytes())
        return try ProvenArchive(
            ArchiveFile(path: path).prove().open(identities: [genuine.identity]), local: genuine.local)
    }

    @Test("Damage found with an inspect key is reported as damage, not as a wrong key")
    func damage() throws {
        #expect(try inspected { _ in }.opened.opensSecrets == false)
        #expect(try inspected { _ in }.survey { _ in }.contents.counts.total == 6)
        let archive = try inspected { $0.edit("\"acct\":\"ak\"", "\"sync\":0", "\"sync\":2") }
        #expect(!archive.opened.opensSecrets)
        let error = failure { _ = try archive.survey { _ in } }
        #expect(HostileCase.Refusal.damaged("wrong kind").fits(error))
    }

    @Test("The totals of an archive without items are the stated ones")
    func noItems() throws {
        let archive = try inspected {
            $0.metadata.removeSubrange(1...6)
            $0.secrets.removeSubrange(1...6)
        }
        var stated: [ArchiveContents] = []
        try archive.inspect(
            survey: { _ in }, begin: { stated.append($0.contents) }, show: { _ in Issue.record("an item") })
        #expect(stated == [ArchiveContents(omitted: 1)])
    }
}
