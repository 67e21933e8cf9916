import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// The keys are those of `KCAgeEncryptionTests/Examples/ssh`.
@Suite("Archives for SSH keys")
struct SSHKeyTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        for name in ["ed", "rsa", "weak", "locked", "ecdsa"] {
            let path = Project.path("Tests/KCAgeEncryptionTests/Examples/ssh/\(name)")
            try home.write(name, [UInt8](try Data(contentsOf: URL(filePath: path))))
            if name != "locked" {
                try home.write(name + ".pub", [UInt8](try Data(contentsOf: URL(filePath: path + ".pub"))))
            }
        }
        try home.write("secret", "s3cret")
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("item add --service bank --account ada --secret file:secret").status == .ok)
    }

    private func line(_ name: String) throws -> String {
        String(decoding: try home.folder.read("work/\(name).pub").dropLast(), as: UTF8.self)
    }

    @Test("An archive is made for an SSH key, inspected, verified and restored", arguments: ["ed", "rsa"])
    func roundTrip(_ name: String) throws {
        #expect(home.run(["create", "a.kcb", "-r", try line(name)]).status == .ok)
        let type = name == "ed" ? "ssh-ed25519" : "ssh-rsa"
        let inspected = home.run("inspect a.kcb --json").text.filter { !" \n".contains($0) }
        #expect(inspected.contains(#""recipients":{"metadata":["\#(type)"],"secrets":["\#(type)"]}"#), "\(inspected)")
        #expect(home.run("verify a.kcb -i \(name)").status == .ok)
        #expect(home.run("item delete --service bank --yes").status == .ok)
        #expect(home.run("restore a.kcb -i \(name) --yes").status == .ok)
        #expect(home.run("item find --service bank --reveal").text.contains("s3cret"))
        let other = home.run("verify a.kcb -i \(name == "ed" ? "rsa" : "ed")")
        #expect(other.status == .wrongKey)
        #expect(other.messages.contains("for an SSH key, give the file of its private half"))
    }

    @Test("A list of a person's keys is taken, and says what it passes over")
    func list() throws {
        try home.write("ada.keys", try ["ecdsa", "ed", "rsa", "weak"].map { try line($0) + "\n" }.joined())
        let made = home.run("create a.kcb -R ada.keys")
        #expect(made.status == .ok)
        #expect(
            made.messages.contains(
                "line 1 of 'ada.keys' is passed over: nothing can be encrypted to a key of type ecdsa-sha2-nistp256"))
        #expect(made.messages.contains("line 4 of 'ada.keys' is passed over"))
        for name in ["ed", "rsa"] { #expect(home.run("verify a.kcb -i \(name)").status == .ok) }
        try home.write("other.keys", try line("ecdsa"))
        let none = home.run("create b.kcb -R other.keys")
        #expect(none.status == .usage)
        #expect(none.messages.contains("kind that is not supported: ecdsa-sha2-nistp256"))
    }

    @Test("Keys that cannot be used say why: as a recipient, and as an identity")
    func refusals() throws {
        for (name, kind) in [("ecdsa", "ecdsa-sha2-nistp256"), ("weak", "ssh-rsa of 1024 bits")] {
            let outcome = home.run(["create", "a.kcb", "-r", try line(name)])
            #expect(outcome.status == .usage)
            #expect(outcome.messages.contains("of a kind that is not supported: \(kind)"))
        }
        let options = home.run(["create", "a.kcb", "-r", "no-pty " + (try line("ed"))])
        #expect(options.status == .usage)
        #expect(home.run(["create", "a.kcb", "-r", try line("ed")]).status == .ok)
        let locked = home.run("verify a.kcb -i locked")
        #expect(locked.status == .usage)
        #expect(locked.messages.contains("ssh-keygen -p -N"))
        #expect(home.run("verify a.kcb -i weak").messages.contains("1024 bits"))
        let kit = home.run("recovery check -i ed")
        #expect(kit.status == .usage)
        #expect(kit.messages.contains("kind that is not supported: 'SSH'"))
    }

    @Test("The same key with another comment is the same key: given twice, for both purposes, or to a folder")
    func sameKey() throws {
        let bare = try line("ed").split(separator: " ").prefix(2).joined(separator: " ")
        #expect(home.run(["create", "a.kcb", "-r", try line("ed"), "-r", bare]).status == .ok)
        #expect(home.run("inspect a.kcb").text.contains("opens with  1 public key\n"))
        #expect(home.run(["create", "b.kcb", "-r", try line("ed"), "--inspect-recipient", bare]).status == .usage)
        #expect(home.run(["create", "--to", "folder", "-r", try line("ed")]).status == .ok)
        #expect(home.run(["create", "--to", "folder", "-r", bare]).status == .ok)
        #expect(home.run(["create", "--to", "folder", "-r", try line("rsa")]).status != .ok)
    }

    @Test("An inspect recipient may be an SSH key, and rekey takes them; post-quantum keys do not mix with them")
    func rekey() throws {
        let made = home.run(["create", "a.kcb", "-r", try line("rsa"), "--inspect-recipient", try line("ed")])
        #expect(made.status == .ok)
        #expect(home.run("inspect a.kcb -i ed").text.contains("bank"))
        #expect(home.run("restore a.kcb -i ed --yes").status == .wrongKey)
        #expect(home.run(["rekey", "a.kcb", "-i", "rsa", "-r", try line("ed")]).status == .ok)
        #expect(home.run("verify a.kcb -i ed").status == .ok)
        #expect(home.run("verify a.kcb -i rsa").status == .wrongKey)
        #expect(home.run("keygen --post-quantum -o pq.txt").status == .ok)
        let text = String(decoding: try home.folder.read("work/pq.txt"), as: UTF8.self)
        let start = try #require(text.range(of: "age1pq1")).lowerBound
        let pq = String(text[start...].prefix { $0 != "\n" })
        let mixed = home.run(["create", "b.kcb", "-r", try line("ed"), "-r", pq])
        #expect(mixed.status == .usage)
        #expect(mixed.messages.contains("post-quantum recipients cannot share a file with others"))
    }

    @Test(
        "The recovery script opens an archive with an SSH key",
        .enabled(if: RecoveryRecipe.missing.isEmpty, Comment(rawValue: RecoveryRecipe.skipped)), .waitsForPrograms,
        arguments: ["ed", "rsa"])
    func recovery(_ name: String) throws {
        #expect(home.run(["create", "a.kcb", "-r", try line(name)]).status == .ok)
        let recovered = try RecoveryRecipe.run(on: home.path("a.kcb"), identity: home.path(name))
        #expect(recovered.status == 0, "\(recovered.errors)")
        #expect(try recovered.secrets().values.contains(Array("s3cret".utf8)))
    }
}
