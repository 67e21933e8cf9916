import KCAgeEncryption
import KCArchiveForgery
import KCBackupArchive
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import KCTarArchive
import KCTestSupport
import Testing

/// Adds a stanza that no key opens, as some implementations do.
private struct OddRecipient: Recipient {
    var type = "joint-grease"
    var arguments = ["x"]

    func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
        WrappedFileKey([Stanza(type: type, arguments: arguments, body: [UInt8](repeating: 1, count: 32))])
    }
}

/// An age file encrypted with the passphrase of the genuine archives.
private func passphraseFile(_ text: [UInt8], logN: Int = 1) throws -> [UInt8] {
    let cost = try #require(ScryptCost(logN: logN))
    var encryptor = try AgeEncryptor(
        recipients: [ScryptRecipient(passphrase: SecretBytes(copying: SampleArchive.passphrase.utf8), cost: cost)],
        to: MemorySink())
    try encryptor.write(text.span)
    return try encryptor.finish()
}

/// A genuine encrypted archive with `identity.age` added, whose streams are also encrypted to that identity.
private struct WithIdentity {
    var forgery: Forgery
    let own: NativeIdentity
    let archiveID: String

    init() throws {
        forgery = try Forgery(Genuine.all.get().encrypted)
        own = try NativeIdentity.generate(.x25519)
        archiveID = forgery.archiveID
        forgery.metadataRecipients.append(own.recipient)
        forgery.secretsRecipients.append(own.recipient)
    }

    /// The text of the identity file in a genuine archive.
    var text: String {
        let text = IdentityFile.text(
            of: own, comments: ["kcbackup archive: \(archiveID)", "kcbackup only key: no"])
        return String(decoding: text.bytesForTest(), as: UTF8.self)
    }

    func outcome(_ identity: [UInt8], passphrase: String? = nil) throws -> (error: (any Error)?, read: Int) {
        var forgery = forgery
        forgery.identity = identity
        return try Genuine.all.get().outcome(of: forgery.bytes(), passphrase: passphrase)
    }
}

/// A recipient that a careless writer would combine with any other.
private struct Unlabelled: Recipient {
    let recipient: any Recipient

    func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
        WrappedFileKey(try recipient.wrap(fileKey: fileKey).stanzas)
    }
}

@Suite("Hostile identities and recipients")
struct HostileIdentityTests {
    @Test("An archive with a valid identity opens with its passphrase and with another key")
    func control() throws {
        let archive = try WithIdentity()
        let identity = try passphraseFile(Array(archive.text.utf8))
        #expect(try archive.outcome(identity, passphrase: SampleArchive.passphrase).error == nil)
        #expect(try archive.outcome(identity).error == nil)
    }

    @Test("The identity is checked even if another key opens the archive")
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
            for passphrase in [nil, SampleArchive.passphrase] {
                let outcome = try archive.outcome(identity, passphrase: passphrase)
                #expect(refusal.fits(outcome.error), "\(name) ended with \(String(describing: outcome.error))")
            }
            let folder = try TemporaryFolder()
            var forgery = archive.forgery
            forgery.identity = identity
            let path = try folder.write("a.kcb", forgery.bytes())
            #expect(throws: ArchiveFailure.self, "\(name)") { try ArchiveFile(path: path).recipients() }
        }
    }

    @Test("The identity file is accepted only in its canonical form")
    func notes() throws {
        let archive = try WithIdentity()
        let text = archive.text
        let stranger = String(
            decoding: IdentityFile.text(of: try NativeIdentity.generate(.x25519), comments: []).bytesForTest(),
            as: UTF8.self)
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
                passphraseFile(Array(text.utf8)), passphrase: SampleArchive.passphrase)
            #expect(
                HostileCase.Refusal.damaged("").fits(outcome.error),
                "\(name) ended with \(String(describing: outcome.error))")
        }
    }

    @Test("Recipients of age itself have their form, and the secrets have no more of any kind than the metadata")
    func recipients() throws {
        let genuine = try Genuine.all.get()
        let own = genuine.identity.recipient
        let other = try NativeIdentity.generate(.x25519).recipient
        let hybrid = Unlabelled(recipient: try NativeIdentity.generate(.hybrid).recipient)
        let cases: [(metadata: [any Recipient], secrets: [any Recipient], rule: String)] = [
            ([own, OddRecipient(type: "p256tag")], [own], "two arguments"),
            ([own], [own, OddRecipient()], "more recipients than the metadata"),
            ([own, hybrid], [own], "mixed with others"), ([own, hybrid], [hybrid, own], "mixed with others"),
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
        }
    }

    @Test("Recipients of plugins are passed over by other keys, whatever their type")
    func recipientsOfPlugins() throws {
        let genuine = try Genuine.all.get()
        var forgery = try Forgery(genuine.encrypted)
        forgery.metadataRecipients = [OddRecipient(), genuine.identity.recipient, OddRecipient(type: "x25519")]
        forgery.secretsRecipients = [genuine.identity.recipient, OddRecipient(type: "piv-p256")]
        #expect(try genuine.outcome(of: forgery.bytes()).error == nil)
    }

    /// docs/decisions/0005: anyone who can open a stream knows its file key and can write another payload under its
    /// header.
    @Test("The holder of one identity cannot forge an archive that the passphrase appears to authenticate")
    func forgedByRecipient() throws {
        let genuine = try Genuine.all.get()
        var forgery = try Forgery(genuine.withPassphrase)
        let (forger, folder) = (try DeviceKey.generate(), try TemporaryFolder())
        forgery.edit("\"acct\":\"ak\"", "\"mail\"", "\"bank\"")
        forgery.editArchive(forgery.signer.id.description, forger.id.description)
        forgery.signer = forger
        // Only the passphrase's stanza, under the file key that the forger knows.
        forgery.arrange = { entries in
            for index in [2, 3] {
                do {
                    entries[index].bytes = try reducedToOneRecipient(
                        genuine.withPassphrase, entries[index].name, payload: entries[index].bytes)
                } catch {
                    Issue.record(error)
                }
            }
        }
        let path = try folder.write("forged.kcb", try forgery.bytes())
        // The signature is valid, so the forgery is convincing. Only the note in `identity.age` gives it away.
        #expect(try ArchiveFile(path: path).prove().header.device == forger.id)
        #expect(try ArchiveFile(path: path).recipients().secrets == ["X25519"])
        #expect(
            throws: ArchiveFailure.damaged(
                rule: "the passphrase is noted as one of several keys, and it has no other recipient")
        ) { try ArchiveFile(path: path).prove().open(passphrase: SecretBytes(copying: SampleArchive.passphrase.utf8)) }
    }
}

extension [UInt8] {
    /// Replaces the first occurrence of ASCII text.
    fileprivate func replacingFirst(_ old: String, _ new: String) -> [UInt8] {
        guard let range = firstRange(of: Array(old.utf8)) else { return self }
        return self[..<range.lowerBound] + Array(new.utf8) + self[range.upperBound...]
    }
}
