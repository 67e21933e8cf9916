import AgeEncryption
import BackupArchive
import ByteStreams
import Cryptography
import DeviceIdentity
import KeychainModel
import TarArchive
import TestSupport
import Testing

@testable import BackupEngine

/// A stanza that no key opens, as some implementations add them.
private struct OddRecipient: Recipient {
    var type = "joint-grease"
    var arguments = ["x"]

    func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
        WrappedFileKey([Stanza(type: type, arguments: arguments, body: [UInt8](repeating: 1, count: 32))])
    }
}

/// An age file for the passphrase of the genuine archives.
private func passphraseFile(_ text: [UInt8], logN: Int = 1) throws -> [UInt8] {
    let cost = try #require(ScryptCost(logN: logN))
    var encryptor = try AgeEncryptor(
        recipients: [ScryptRecipient(passphrase: SecretBytes(copying: GenuineArchive.passphrase.utf8), cost: cost)],
        to: MemorySink())
    try encryptor.write(text.span)
    return try encryptor.finish()
}

/// A genuine encrypted archive to which `identity.age` was added, and for whom its streams are.
private struct WithIdentity {
    var forgery: Forgery
    let own: X25519Identity
    let archiveID: String

    init() throws {
        forgery = try Forgery(Genuine.all.get().encrypted)
        own = try X25519Identity.generate()
        let start = try #require(forgery.header.firstRange(of: "\"archive\":\"")).upperBound
        archiveID = String(forgery.header[start...].prefix(64))
        forgery.metadataRecipients.append(own.recipient)
        forgery.secretsRecipients.append(own.recipient)
    }

    /// What the identity file says in a genuine archive.
    var text: String {
        let text = IdentityFile.text(
            of: own, comments: ["kcbackup archive: \(archiveID)", "kcbackup only key: no"])
        return String(decoding: text.bytesForTest(), as: UTF8.self)
    }

    func outcome(_ identity: [UInt8], passphrase: String? = nil) throws -> (error: (any Error)?, written: Int) {
        var forgery = forgery
        forgery.identity = identity
        return try Genuine.all.get().outcome(of: forgery.bytes(), passphrase: passphrase)
    }
}

@Suite("hostile identities and recipients")
struct HostileIdentityTests {
    @Test("an archive with a sound identity is accepted with its passphrase and with another key")
    func control() throws {
        let archive = try WithIdentity()
        let identity = try passphraseFile(Array(archive.text.utf8))
        #expect(try archive.outcome(identity, passphrase: GenuineArchive.passphrase).error == nil)
        #expect(try archive.outcome(identity).error == nil)
    }

    @Test("the identity is checked although another key opens the archive")
    func unusedIdentity() throws {
        let archive = try WithIdentity()
        func file(_ recipients: [any Recipient]) throws -> [UInt8] { try ageFile([1], to: recipients) }
        func scrypt(_ factor: String) throws -> [UInt8] {
            let salt = Base64.encode([UInt8](repeating: 7, count: 16), padded: false)
            return try file([OddRecipient(type: "X25519", arguments: [salt, factor])]).replacingFirst(
                "X25519", "scrypt")
        }
        let cases: [(String, [UInt8], HostileCase.Refusal)] = [
            ("empty", [], .damaged("not an age v1 file")), ("no age file", [1, 2, 3], .damaged("not an age v1 file")),
            ("public key", try file([archive.own.recipient]), .damaged("not for a passphrase")),
            ("unknown kind", try file([OddRecipient()]), .damaged("not for a passphrase")),
            (
                "beside another",
                try file([OddRecipient(type: "scrypts"), OddRecipient()])
                    .replacingFirst("scrypts", "scrypt"), .damaged("beside other recipients")
            ),
            ("work factor 21", try scrypt("21"), .limit("work factor")),
            ("work factor 0", try scrypt("0"), .damaged("work factor")),
            ("work factor 018", try scrypt("018"), .damaged("work factor")),
            (
                "too large", try passphraseFile([UInt8](repeating: 1, count: 4_000)), .limit("identity.age")
            ),
        ]
        for (name, identity, refusal) in cases {
            for passphrase in [nil, GenuineArchive.passphrase] {
                let outcome = try archive.outcome(identity, passphrase: passphrase)
                #expect(refusal.fits(outcome.error), "\(name) ended with \(String(describing: outcome.error))")
                #expect(outcome.written == 0)
            }
            let folder = try TemporaryFolder()
            var forgery = archive.forgery
            forgery.identity = identity
            let path = try folder.write("a.kcb", forgery.bytes())
            #expect(throws: ArchiveFailure.self, "\(name)") { try ArchiveOutline(ArchiveFile(path: path)) }
        }
    }

    @Test("what the passphrase opens has one spelling")
    func notes() throws {
        let archive = try WithIdentity()
        let text = archive.text
        let stranger = String(
            decoding: IdentityFile.text(of: try X25519Identity.generate(), comments: []).bytesForTest(), as: UTF8.self)
        let cases = [
            ("no line feed", String(text.dropLast())), ("one more", text + "\n"), ("comment", "# a\n" + text),
            ("CRLF", text.replacing("\n", with: "\r\n")), ("blank", text.replacing("# kc", with: "#  kc")),
            ("both notes", text.replacing("only key: no\n", with: "only key: no\n# kcbackup only key: yes\n")),
            ("no note", text.replacing("# kcbackup only key: no\n", with: "")),
            ("maybe", text.replacing("only key: no", with: "only key: maybe")),
            ("other archive", text.replacing(archive.archiveID, with: String(repeating: "0", count: 64))),
            ("ID in upper case", text.replacing(archive.archiveID, with: archive.archiveID.uppercased())),
            ("no public key", text.split(separator: "\n").filter { !$0.contains("public") }.joined(separator: "\n")),
            ("two identities", text + stranger),
            ("another identity's public key", text.replacing("age1", with: "age2")),
            ("empty", ""), ("no identity", "# kcbackup archive: \(archive.archiveID)\n"),
        ]
        for (name, text) in cases {
            let outcome = try archive.outcome(
                passphraseFile(Array(text.utf8)), passphrase: GenuineArchive.passphrase)
            #expect(
                HostileCase.Refusal.damaged("").fits(outcome.error),
                "\(name) ended with \(String(describing: outcome.error))")
            #expect(outcome.written == 0)
        }
    }

    @Test("a stream has X25519 recipients alone, and the metadata no fewer than the secrets")
    func recipients() throws {
        let genuine = try Genuine.all.get()
        let own = genuine.identity.recipient
        let other = try X25519Identity.generate().recipient
        let cases: [(metadata: [any Recipient], secrets: [any Recipient], rule: String)] = [
            ([own, OddRecipient()], [own], "a recipient is not X25519"),
            ([own, other], [OddRecipient(), own], "a recipient is not X25519"),
            ([own, OddRecipient(type: "x25519")], [own], "a recipient is not X25519"),
            ([own, OddRecipient(type: "X25519", arguments: [])], [own], "one argument"),
            ([own, OddRecipient(type: "X25519", arguments: ["AAAA"])], [own], "32 bytes"),
            ([own], [own, other], "more recipients than the metadata"),
        ]
        for (metadata, secrets, rule) in cases {
            var forgery = try Forgery(genuine.encrypted)
            forgery.metadataRecipients = metadata
            forgery.secretsRecipients = secrets
            let outcome = try genuine.outcome(of: forgery.bytes())
            #expect(
                HostileCase.Refusal.damaged(rule).fits(outcome.error),
                "it ended with \(String(describing: outcome.error))")
            #expect(outcome.written == 0)
        }
    }

    /// Everything that the forger needs is public: an archive that the victim keeps, and the victim's recipient.
    @Test(
        "an archive with the identity of another archive, and streams to the victim's public key, is not the victim's")
    func forgedOrigin() throws {
        let (maker, forger, victim) = (try Machine(), try Machine(), try Machine())
        try maker.makeKeychain().add("ann", "tulip")
        try maker.backUp(maker.makeKeychain("other"), as: "kept.kcb", passphrase: "horse")
        let kept = try OpenFile.reading(maker.folder.path("kept.kcb"))
        let members = try TarMembers(kept)
        let victimIdentity = try X25519Identity.generate()
        for extra: [any Recipient] in [[], [try X25519Identity.generate().recipient]] {
            var forgery = try Forgery(Genuine.all.get().encrypted)
            forgery.editArchive(try WithIdentity().archiveID, members.archiveID)
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

@Suite("reading the metadata alone")
struct SurveyTests {
    /// An archive whose metadata opens with the genuine identity, and whose secrets do not.
    private func inspected(_ change: (inout Forgery) -> Void) throws -> ProvenArchive {
        let genuine = try Genuine.all.get()
        var forgery = try Forgery(genuine.encrypted)
        forgery.secretsRecipients = [try X25519Identity.generate().recipient]
        change(&forgery)
        let folder = try TemporaryFolder()
        let path = try folder.write("a.kcb", forgery.bytes())
        return try ProvenArchive(
            ArchiveFile(path: path).prove().open(identities: [genuine.identity]), local: genuine.local)
    }

    @Test("damage under an inspect key is damage, and not a key that does not fit")
    func damage() throws {
        #expect(try inspected { _ in }.opened.opensSecrets == false)
        #expect(try inspected { _ in }.survey { _ in }.counts.total == 6)
        let archive = try inspected { $0.edit("\"acct\":\"ak\"", "\"sync\":0", "\"sync\":2") }
        #expect(!archive.opened.opensSecrets)
        let error = failure { _ = try archive.survey { _ in } }
        #expect(HostileCase.Refusal.damaged("wrong kind").fits(error))
    }

    @Test("the totals of an archive without items are those that it states")
    func noItems() throws {
        let archive = try inspected {
            $0.metadata.removeSubrange(1...6)
            $0.secrets.removeSubrange(1...6)
        }
        var stated: [ArchiveContents] = []
        try archive.inspect(survey: { _ in }, begin: { stated.append($0) }, show: { _ in Issue.record("an item") })
        #expect(stated == [ArchiveContents(omitted: 1)])
    }
}

/// What a forger takes from an archive that is at hand.
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

extension [UInt8] {
    /// Replaces the first occurrence of ASCII text.
    fileprivate func replacingFirst(_ old: String, _ new: String) -> [UInt8] {
        guard let range = firstRange(of: Array(old.utf8)) else { return self }
        return self[..<range.lowerBound] + Array(new.utf8) + self[range.upperBound...]
    }
}
