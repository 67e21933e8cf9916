import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite(
    "Recovery without kcbackup, with the shipped script", .waitsForPrograms,
    .enabled(if: RecoveryRecipe.missing.isEmpty, Comment(rawValue: RecoveryRecipe.skipped)))
struct RecoveryTests {
    private let samples: NumberedSamples
    private let home: TestHome

    init() throws {
        samples = try NumberedSamples()
        home = try TestHome()
        try home.write("passcode", "0000 passcode\n")
        try home.write("passphrase", Self.passphrase + "\n")
        try home.write("keychain.jsonl", samples.text)
        for line in [
            "keychain create --passcode file:passcode", "import keychain.jsonl --passcode file:passcode",
            "keygen -o restore-key.txt", "keygen -o inspect-key.txt",
        ] {
            let outcome = home.run(line)
            #expect(outcome.status == .ok, "\(outcome.messages)")
        }
    }

    // Quotation marks, blanks and a letter outside ASCII, which users may well type.
    private static let passphrase = "four words, \"quoted\" ünd one"

    @Test("An identity file recovers every secret that travels, and the sealed items are named")
    func identityRecovers() throws {
        let recipient = try publicKey("restore-key.txt")
        let archive = try create(["-r", recipient])
        let recovered = try RecoveryRecipe.run(on: archive, identity: home.path("restore-key.txt"))
        try expectAll(recovered)
    }

    @Test("A passphrase that is typed when age asks for it recovers the same")
    func passphraseRecovers() throws {
        let archive = try create(["--passphrase", "file:passphrase"])
        let recovered = try RecoveryRecipe.run(on: archive, typed: Self.passphrase + "\n")
        try expectAll(recovered)
    }

    @Test("The signer line of a device proves its archives and no others")
    func signerIsProved() throws {
        let archive = try create(["-r", try publicKey("restore-key.txt")])
        let key = home.path("restore-key.txt")
        let own = try signer(of: home)
        try home.write("signers", own.line + "\n")
        for device in [nil, own.device] {
            let proved = try RecoveryRecipe.run(
                on: archive, identity: key, signers: home.path("signers"), device: device)
            try expectAll(proved)
            #expect(proved.output.contains("Good \"kcbackup\" signature for \(own.device)"))
            #expect(!proved.errors.contains("may be forged"))
        }

        let stranger = try TestHome()
        #expect(stranger.run("keychain create --no-passcode").status == .ok)
        let other = try signer(of: stranger)
        try home.write("others", other.line + "\n")
        for device in [nil, own.device] {
            let refused = try RecoveryRecipe.run(
                on: archive, identity: key, signers: home.path("others"), device: device)
            try expectNothing(refused)
            #expect(refused.errors.contains("signed by \(own.device), which '\(home.path("others"))' does not list"))
        }
    }

    @Test("Nothing is recovered from an archive with one changed byte in any member")
    func changedByteStopsTheScript() throws {
        _ = try create(["-r", try publicKey("restore-key.txt"), "--passphrase", "file:passphrase"])
        let bytes = try home.folder.read("work/laptop.kcb")
        // Including the checksums and their signature. A member begins after the header block that names it.
        for member in [
            "kcbackup.json", "identity.age", "metadata.jsonl.gz.age", "secrets.jsonl.gz.age", "SHA256SUMS",
            "SHA256SUMS.sig",
        ] {
            let header = stride(from: 0, to: bytes.count, by: 512).first { offset in
                bytes[offset...].starts(with: Array(member.utf8) + [0])
            }
            let position = try #require(header, "no member \(member)") + 512 + 40
            var changed = bytes
            changed[position] ^= 1
            try home.folder.write("work/changed.kcb", changed)
            let recovered = try RecoveryRecipe.run(
                on: home.path("changed.kcb"), identity: home.path("restore-key.txt"))
            try expectNothing(recovered, "\(member) was changed")
        }
    }

    @Test("A key that opens only the metadata, or nothing, recovers nothing")
    func otherKeysStopTheScript() throws {
        let archive = try create([
            "-r", try publicKey("restore-key.txt"), "--inspect-recipient", try publicKey("inspect-key.txt"),
        ])
        try expectNothing(RecoveryRecipe.run(on: archive, identity: home.path("inspect-key.txt")))
        #expect(home.run("keygen -o third.txt").status == .ok)
        try expectNothing(RecoveryRecipe.run(on: archive, identity: home.path("third.txt")))
    }

    // MARK: - Expectations

    private func expectAll(_ recovered: Recovered, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try #require(recovered.status == 0, "\(recovered.errors)", sourceLocation: sourceLocation)
        let archived = samples.items.filter { !$0.isInNoArchive }
        let secrets = try recovered.secrets()
        let table = Dictionary(uniqueKeysWithValues: try recovered.table().map { ($0[0], $0[4]) })
        #expect(Set(table.keys) == Set(archived.map(\.uuid)), sourceLocation: sourceLocation)
        for item in archived {
            let travels = item.isThisDeviceOnly ? nil : item.secret
            #expect(secrets[item.uuid] == travels, "\(item.uuid)", sourceLocation: sourceLocation)
            let state = item.isThisDeviceOnly ? "sealed for its device" : item.secret == nil ? "no secret" : "recovered"
            #expect(table[item.uuid] == state, "\(item.uuid)", sourceLocation: sourceLocation)
        }
        #expect(secrets.count == archived.count { !$0.isThisDeviceOnly && $0.secret != nil })
        let opened = archived.filter { !$0.isThisDeviceOnly }
        #expect(try recovered.count("recovered") == opened.count { $0.secret != nil }, sourceLocation: sourceLocation)
        #expect(try recovered.count("sealed") == archived.count - opened.count, sourceLocation: sourceLocation)
        #expect(try recovered.count("items have none") == opened.count { $0.secret == nil })
        #expect(try recovered.count("by rule") == samples.items.count - archived.count, sourceLocation: sourceLocation)
        #expect(try recovered.count("left out, or not readable,") == 0, sourceLocation: sourceLocation)
    }

    private func expectNothing(
        _ recovered: Recovered, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(recovered.status != 0, comment, sourceLocation: sourceLocation)
        let left = try recovered.folder.list().filter { $0.hasPrefix("recovered") }
        #expect(left.isEmpty, comment, sourceLocation: sourceLocation)
    }

    // MARK: - Preparation

    private func create(_ keys: [String]) throws -> String {
        let outcome = home.run(["create", "laptop.kcb", "--passcode", "file:passcode"] + keys)
        try #require(outcome.status == .ok, "\(outcome.messages)")
        return home.path("laptop.kcb")
    }

    private func publicKey(_ name: String) throws -> String {
        let text = String(decoding: try home.folder.read("work/" + name), as: UTF8.self)
        return String(try #require(text.firstMatch(of: /# public key: (age1\w+)/)).1)
    }

    private func signer(of home: TestHome) throws -> (line: String, device: String) {
        let text = home.run("device show --json").text
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [String: Any]]
        return (
            line: try #require(object?["device"]?["signer"] as? String),
            device: try #require(object?["device"]?["id"] as? String)
        )
    }
}
