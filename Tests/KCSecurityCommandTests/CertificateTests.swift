import Foundation
import KCByteStreams
import KCCertificateItems
import KCCryptography
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCSecurityCommand

@Suite("Import and export of certificates and keys, checked with openssl", .waitsForPrograms)
struct CertificateTests {
    let home: TestHome
    let openssl: OpenSSLCommand

    init() throws {
        home = try TestHome()
        openssl = try OpenSSLCommand()
        try home.keychain()
        try home.writeSamples()
    }

    /// Copies a file that openssl made to the working folder of the command.
    private func hand(_ name: String) throws { try home.write(name, openssl.read(name)) }

    /// Copies a file that the command made to the working folder of openssl.
    private func handBack(_ name: String) throws {
        try openssl.folder.write(name, home.folder.read("work/" + name))
    }

    private func classes() -> [String] {
        home.run("dump-keychain").text.split(separator: "\n").filter { $0.hasPrefix("class: ") }.map(String.init)
    }

    private func makeIdentity(_ name: String = "web.p12", password: String = "pass:x") throws {
        try openssl("pkey -in web.key.der -inform DER -out web.key.pem")
        try openssl(
            "pkcs12 -export -inkey web.key.pem -in web.pem -certfile authority.pem -passout \(password) -out \(name)")
        try hand(name)
    }

    @Test("Deleting an identity keeps the private key that a renewed certificate uses")
    func deleteRenewed() throws {
        try makeIdentity()
        #expect(home.run("import web.p12 -P x").status == 0)
        try openssl("req -new -x509 -key web.key.pem -subj /CN=renewed -days 1 -out renewed.pem")
        try hand("renewed.pem")
        #expect(home.run("import renewed.pem").status == 0)
        let outcome = home.run("delete-identity -c www.example.com")
        #expect(outcome.status == 0)
        #expect(outcome.messages == "security: note: the private key stays: another certificate uses it\n")
        #expect(home.run("find-identity").text.contains("1 identities found"))
        #expect(home.run("delete-identity -c renewed").status == 0)
        #expect(home.run("find-key -t private").status == 44)
    }

    @Test("kc-28: a PKCS#12 file is imported as one key and its certificates, which form an identity")
    func kc28PKCS12() throws {
        try makeIdentity()
        let outcome = home.run("import web.p12 -k login.keychain -P x -A")
        #expect(outcome.status == 0)
        #expect(outcome.text == "1 identity imported.\n1 certificate imported.\n")
        #expect(classes() == ["class: 0x80001000 ", "class: 0x80001000 ", "class: 0x00000010 "])
        #expect(home.run("find-identity -v").text.hasSuffix(" \"www.example.com\"\n     1 valid identities found\n"))
        #expect(home.run("import web.p12 -P x").status == 45)
        // The chain is there already, the rest is new.
        home.run("delete-identity -c www.example.com")
        let again = home.run("import web.p12 -P x")
        #expect(again.text == "1 identity imported.\n")
        #expect(again.messages.contains("1 of 3 items were there already"))
    }

    @Test("kc-27: a key that was imported as non-extractable cannot be exported in any form")
    func kc27NonExtractable() throws {
        #expect(home.run("import web.key.der -x").status == 0)
        home.run("import web.pem")
        for line in [
            "export -t privKeys", "export -t privKeys -f pkcs8 -w -P x -p", "export -t identities -P x", "export -P x",
            "export -t allKeys -f pemseq -P x",
        ] {
            let outcome = home.run(line)
            #expect(outcome.status == 28, "\(line): \(outcome.messages)")
            #expect(outcome.messages.contains("The contents of this item cannot be retrieved."))
            #expect(outcome.output == [])
        }
        #expect(home.run("export -t certs").status == 0)
    }

    @Test("Nothing that is bound to this device is exported or dumped in the clear", arguments: ["aku", "cku", "dku"])
    func bound(accessibility: String) throws {
        let keychain = try home.keychain("bound")
        try makeIdentity()
        home.run("import web.p12 -k bound -P x")
        try keychain.write { writer in
            _ = try writer.update(
                matching: ItemQuery(itemClass: .key), set: [.pdmn: .text(accessibility)], secret: nil, now: .reference)
        }
        for line in [
            "export -k bound -t privKeys", "export -k bound -t identities -P x", "export -k bound -P x",
            "export -k bound -t allKeys -f pemseq -P x",
        ] {
            let outcome = home.run(line)
            #expect(outcome.status == 28, "\(line): \(outcome.messages)")
            #expect(outcome.messages.contains("must not leave: ThisDeviceOnly: never leaves its device"))
            #expect(outcome.output == [])
        }
        #expect(home.run("export -k bound -t certs").status == 0)
        let dump = home.run("dump-keychain -d bound")
        #expect(dump.status == 0)
        #expect(dump.messages.contains("is not dumped: ThisDeviceOnly: never leaves its device"))
        // The data of the two certificates are there, those of the key are not.
        let data = dump.text.split(separator: "\n", omittingEmptySubsequences: false)
        let values = data.indices.filter { data[$0] == "data:" }.map { data[$0 + 1] }
        #expect(values.count == 3 && values.filter(\.isEmpty).count == 1)
    }

    @Test("openssl reads what is exported, and it equals what was imported")
    func exports() throws {
        for file in ["web.pem", "web.key.der", "mail.pem", "mail.key.der", "authority.pem"] {
            #expect(home.run(["import", file]).status == 0)
        }
        #expect(home.run("export -t identities -o all.p12 -P secret").status == 0)
        try handBack("all.p12")
        let listed = try openssl("pkcs12 -in all.p12 -passin pass:secret -nokeys")
        #expect(listed.contains("CN = www.example.com") && listed.contains("CN = mail.example.org"))
        #expect(!listed.contains("subject=C = CH, O = Example Ltd, CN = kcbackup"))
        let keys = try openssl("pkcs12 -in all.p12 -passin pass:secret -nocerts -nodes")
        #expect(keys.components(separatedBy: "BEGIN PRIVATE KEY").count == 3)

        #expect(home.run("export -f pemseq -o all.pem -P secret").status == 0)
        try handBack("all.pem")
        let bundle = String(decoding: try openssl.read("all.pem"), as: UTF8.self)
        #expect(bundle.components(separatedBy: "BEGIN CERTIFICATE").count == 4)
        #expect(bundle.components(separatedBy: "BEGIN ENCRYPTED PRIVATE KEY").count == 3)
        let fingerprint = try openssl("x509 -in all.pem -noout -fingerprint -sha256")
        let shown = home.run("find-certificate -a -Z").text
        #expect(shown.contains(fingerprint.split(separator: "=")[1].filter { $0 != ":" && $0 != "\n" }))

        // In each form, each key is the one that was imported.
        for (label, name) in [("www.example.com", "web"), ("mail.example.org", "mail")] {
            try home.keychain(name)
            home.run(["import", "\(name).key.der", "-k", name])
            let original = try openssl("pkey -inform DER -in \(name).key.der -outform PEM")
            for (form, flags) in [
                ("pkcs8", "-f pkcs8 -p"), ("openssl", "-f openssl"), ("der", "-f pkcs8"),
                ("wrapped", "-f pkcs8 -w -P secret -p"),
            ] {
                let file = "\(name).\(form)"
                #expect(home.run("export -k \(name) -t privKeys \(flags) -o \(file)").status == 0)
                try handBack(file)
                let inform = form == "der" ? "DER" : "PEM"
                let read = try openssl("pkey -in \(file) -inform \(inform) -passin pass:secret -outform PEM")
                #expect(read == original, "\(label) \(form)")
            }
        }
        #expect(try home.folder.list().filter { $0.hasPrefix("work/all") }.count == 2)
    }

    @Test(
        "A passphrase that would encrypt nothing is refused before anything is written",
        arguments: ["-t all -f openssl", "-t privKeys", "-t privKeys -f pkcs8"])
    func uselessPassphrase(line: String) throws {
        let outcome = home.run("export \(line) -P x -o keys.pem")
        #expect(outcome.status == 2)
        #expect(outcome.messages.contains("without -w, private keys are written in the clear"))
        #expect(!FileManager.default.fileExists(atPath: home.path("keys.pem")))
    }

    @Test("A file that is exported and imported into another keychain yields equal items")
    func roundTrip() throws {
        try makeIdentity()
        home.run("import web.p12 -P x")
        try home.keychain("other")
        #expect(home.run("export -k login -t all -f pkcs12 -o out.p12 -P y").status == 0)
        #expect(home.run("import out.p12 -k other -P y").text == "1 identity imported.\n1 certificate imported.\n")
        func dump(_ name: String) -> [String] {
            home.run(["dump-keychain", "-d", name]).text.split(separator: "\n").map(String.init)
                .filter { !$0.hasPrefix("keychain:") }
        }
        #expect(dump("login") == dump("other"))
        #expect(dump("login").count > 50)
    }

    @Test("The passphrase of an encrypted key is asked for, and nothing is imported from a damaged file")
    func passphrases() throws {
        try openssl("pkcs8 -topk8 -inform DER -in mail.key.der -passout pass:x -out mail.enc.pem")
        try hand("mail.enc.pem")
        #expect(home.run("import mail.enc.pem").status == 84)
        #expect(home.run("import mail.enc.pem -P wrong").status == 51)
        let asked = home.run(["import", "mail.enc.pem"], terminal: ScriptedTerminal(answers: ["x"]))
        #expect(asked.text == "1 key imported.\n")
        #expect(asked.terminal.asked == ["passphrase for mail.enc.pem: "])
        // An empty passphrase.
        try makeIdentity("empty.p12", password: "pass:")
        #expect(home.run("import empty.p12").status == 0)
        // Nothing is imported from a damaged file.
        let before = home.run("dump-keychain").text
        try openssl("pkcs12 -export -inkey web.key.pem -in web.pem -passout pass:x -out cut.p12")
        try home.write("cut.p12", openssl.read("cut.p12").dropLast(9))
        #expect(home.run("import cut.p12 -P x").status == 87)
        #expect(home.run("dump-keychain").text == before)
    }

    @Test("An export reports what it leaves out, even with -q")
    func leftOut() throws {
        let keychain = try home.keychain("mixed")
        var draft = ItemDraft(itemClass: .key)
        draft.attributes[.kcls] = .number(KeyClass.symmetric.rawValue)
        try keychain.add(draft, secret: SecretBytes(copying: [1, 2, 3]), now: home.world().clock())
        home.run("import web.pem -k mixed")
        let export = home.run("-q export -k mixed")
        #expect(export.status == 0)
        #expect(export.messages.contains("1 public or symmetric keys are not exported"))
    }

    @Test("A locked keychain accepts certificates, and keys only with its password; identities are listed either way")
    func locked() throws {
        try home.keychain("safe", password: "walnut")
        home.run("lock-keychain safe")
        #expect(home.run("import web.pem -k safe").status == 0)
        #expect(home.run("import web.key.der -k safe").status == 36)
        #expect(
            home.run(["import", "web.key.der", "-k", "safe"], terminal: ScriptedTerminal(answers: ["walnut"])).status
                == 0)
        home.run("lock-keychain safe")
        #expect(home.run("find-identity -v safe").text.contains("1 valid identities found"))
        #expect(home.run("find-certificate -a -Z -p safe").status == 0)
        #expect(home.run("export -k safe -t identities -P x").status == 36)
    }

    @Test("An identity outside its validity period is listed with the reason, and is not valid")
    func validity() throws {
        try openssl(
            "req -x509 -newkey rsa:2048 -nodes -keyout k.pem -out c.pem -days 1 -subj /CN=short.example.com")
        for name in ["k.pem", "c.pem"] {
            try hand(name)
            home.run(["import", name])
        }
        var world = home.world()
        let output = CollectedOutput()
        world.output = output
        // Long before the certificate was made, and long after.
        world.clock = {
            Timestamp(year: 2020, month: 1, day: 1, hour: 0, minute: 0, second: 0, microsecond: 0) ?? .reference
        }
        #expect(KCSecurityCommand.run(["find-identity"], in: world).code == 0)
        world.clock = {
            Timestamp(year: 2090, month: 1, day: 1, hour: 0, minute: 0, second: 0, microsecond: 0) ?? .reference
        }
        #expect(KCSecurityCommand.run(["find-identity"], in: world).code == 0)
        let lines = output.text.split(separator: "\n").map(String.init)
        #expect(lines.count { $0.hasSuffix("\"short.example.com\" (CSSMERR_TP_CERT_NOT_VALID_YET)") } == 1)
        #expect(lines.count { $0.hasSuffix("\"short.example.com\" (CSSMERR_TP_CERT_EXPIRED)") } == 1)
        #expect(lines.count { $0 == "     0 valid identities found" } == 2)
    }

    @Test("A certificate with a broken seal is reported and hides no other, and every run that meets it fails")
    func brokenSeal() throws {
        for file in ["web.pem", "web.key.der", "mail.pem", "mail.key.der"] { home.run(["import", file]) }
        try openssl("x509 -in mail.pem -outform DER -out mail.der")
        // A certificate ends with its signature, which only the data contains.
        let mark = try openssl.read("mail.der").suffix(12)
        let path = "home/.local/share/kcbackup/keychains/login.keychain"
        var file = try home.folder.read(path)
        let place = try #require(
            file.indices.dropLast(11).first { file[$0] == mark.first && file[$0...].starts(with: mark) })
        file[place] ^= 1
        try home.folder.write(path, file)

        let all = home.run("find-certificate -a")
        #expect(all.status == 1)
        #expect(all.text.contains("www.example.com"))
        #expect(!all.text.contains("mail.example.org"))
        #expect(all.messages.contains("is passed over"))
        #expect(home.run("find-certificate -c www").status == 0)
        #expect(home.run("find-certificate -c mail").status == 1)
        let identities = home.run("find-identity -v")
        #expect(identities.status == 1)
        #expect(identities.text.contains("1 valid identities found"))
        // A partial export would look complete.
        #expect(home.run("export -t certs").status == 1)
        #expect(home.run("export -t certs").output == [])
        // A name could refer to the broken certificate; a fingerprint cannot.
        #expect(home.run("delete-certificate -c www").status == 1)
        #expect(home.run("find-certificate -c www").status == 0)
        let web = "F133CF7BE519AF3C60794DFD9369FFA40391873D"
        #expect(home.run("delete-certificate -Z \(web)").status == 1)
        #expect(home.run("find-certificate -c www").status == 1)
    }

    @Test("A certificate item with invalid data is found by its label, and is not silently left out of an export")
    func notACertificate() throws {
        let keychain = try home.keychain("odd")
        var draft = ItemDraft(itemClass: .certificate)
        draft.attributes[.labl] = .text("odd one")
        try keychain.add(draft, secret: SecretBytes(copying: [1, 2, 3]), now: home.world().clock())
        #expect(home.run(["find-certificate", "-c", "odd one", "odd"]).status == 0)
        #expect(home.run(["find-certificate", "-p", "odd"]).status == 87)
        #expect(home.run("export -k odd -t certs").status == 87)
        #expect(home.run(["delete-certificate", "-c", "odd one", "odd"]).status == 0)
    }
}
