import Foundation
import KCAgeEncryption
import KCArchiveForgery
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// The shipped script with programs that say that they are an age of some version, since Debian has none that is new
/// enough; they print what the library decrypts.
@Suite(
    "Recovery of archives with post-quantum keys", .waitsForPrograms,
    .enabled(if: RecoveryRecipe.missing.isEmpty, Comment(rawValue: RecoveryRecipe.skipped)))
struct RecoveryPostQuantumTests {
    private let home: TestHome
    private let tools: TemporaryFolder

    init() throws {
        home = try TestHome()
        tools = try TemporaryFolder()
        try home.write("passphrase", "correct horse battery\n")
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"Chat","acct":"ada"},"secret":"travels"}"#)
        for line in [
            "keychain create --no-passcode", "import items.jsonl", "keygen --post-quantum -o key.txt",
        ] {
            let outcome = home.run(line)
            #expect(outcome.status == .ok, "\(outcome.messages)")
        }
        let text = String(decoding: try home.folder.read("work/key.txt"), as: UTF8.self)
        try home.write("public.txt", String(try #require(text.firstMatch(of: /age1pq1\w+/)).0) + "\n")
        let made = home.run("create laptop.kcb -R public.txt --passphrase file:passphrase")
        #expect(made.status == .ok, "\(made.messages)")
        let archive = home.path("laptop.kcb")
        let own = try ownIdentity(ofArchiveAt: archive, passphrase: "correct horse battery")
        for name in ["metadata.jsonl.gz.age", "secrets.jsonl.gz.age"] {
            let bytes = try memberBytes(name, ofArchiveAt: archive)
            try tools.write(name, drain(AgeDecryptor(MemorySource(copying: bytes), identities: [own])))
        }
        let passphrase = ScryptIdentity(passphrase: SecretBytes(copying: "correct horse battery".utf8))
        let identity = try memberBytes("identity.age", ofArchiveAt: archive)
        try tools.write(
            "identity.age", drain(AgeDecryptor(MemorySource(copying: identity), identities: [passphrase])))
    }

    /// Writes a program.
    private func install(_ name: String, _ script: String) throws {
        try tools.write(name, Array("#!/bin/bash\n\(script)\n".utf8), mode: 0o700)
    }

    /// Writes an age that says its version, and wants identities on standard input to begin in this way.
    private func installAge(_ version: String, wants beginning: String = "AGE-SECRET-KEY-PQ-1") throws {
        try install(
            "age",
            """
            if [ "$1" = --version ]; then echo '\(version)'; exit; fi
            if [ "$2 $3" = '-i -' ]; then grep -q '^\(beginning)' || exit 1; fi
            cat '\(tools.path)'/"$(basename "${!#}")"
            """)
    }

    @Test("An age without such keys is refused before it asks for anything", arguments: ["1.1.1", "v1.2.1", "0.9"])
    func old(version: String) throws {
        try installAge(version)
        for identity in [nil, home.path("key.txt")] {
            let recovered = try RecoveryRecipe.run(on: home.path("laptop.kcb"), identity: identity, tools: tools.path)
            #expect(recovered.status == 1)
            #expect(recovered.errors.contains("age \(version) lacks: install age 1.3 or newer, or age-plugin-pq"))
            #expect(try recovered.secrets().isEmpty)
        }
    }

    @Test(
        "A newer one recovers the secrets, with the identity and with the passphrase",
        arguments: ["v1.3.0", "1.10.2", "2.0"])
    func new(version: String) throws {
        try installAge(version)
        for identity in [nil, home.path("key.txt")] {
            let recovered = try RecoveryRecipe.run(on: home.path("laptop.kcb"), identity: identity, tools: tools.path)
            #expect(recovered.status == 0, "\(recovered.errors)")
            #expect(try recovered.secrets().values.map { String(decoding: $0, as: UTF8.self) } == ["travels"])
        }
    }

    @Test("With age-plugin-pq, an older one gets identities that this has converted")
    func plugin() throws {
        try installAge("1.1.1", wants: "AGE-PLUGIN-PQ-1")
        try install("age-plugin-pq", "[ \"$*\" = -identity ] && sed 's/SECRET-KEY/PLUGIN/'")
        let recovered = try RecoveryRecipe.run(on: home.path("laptop.kcb"), tools: tools.path)
        #expect(recovered.status == 0, "\(recovered.errors)")
        #expect(try recovered.secrets().count == 1)
        try install("age-plugin-pq", "exit 1")
        let failed = try RecoveryRecipe.run(on: home.path("laptop.kcb"), tools: tools.path)
        #expect(failed.status == 1 && failed.errors.contains("age-plugin-pq cannot convert the identity"))
    }
}
