import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The credentials of systemd: backup, restore, undo")
struct CredentialStoreTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("pass", "correct horse\n")
        try home.write("root/etc/credstore/db", "plain")
        try home.write("root/etc/credstore.encrypted/web", "Whxqht+dQJax1aZeCGLxmiAAAAAB")
        #expect(home.run("create --keychain systemd-creds: c.kcb --passphrase file:pass").status == .ok)
    }

    private func restore(_ options: String = "", on home: TestHome? = nil) -> TestHome.Outcome {
        (home ?? self.home).run("restore c.kcb --passphrase file:pass\(options.isEmpty ? "" : " " + options)")
    }

    private func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: home.path("root/" + name)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("Lost credentials come back for root alone, and undo takes them away again")
    func roundTrip() throws {
        try FileManager.default.removeItem(atPath: home.path("root/etc"))
        #expect(restore("--dry-run").text.contains("\n  file '/etc/credstore/db'\n"))
        let restored = restore()
        #expect(restored.status == .ok)
        // The machine that encrypted it is this one.
        #expect(!restored.messages.contains("opens only"))
        #expect(text("etc/credstore/db") == "plain")
        for (name, mode) in [("etc/credstore", 0o700), ("etc/credstore/db", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: home.path("root/" + name))
            #expect(attributes[.posixPermissions] as? Int == mode)
        }
        #expect(home.run("undo --keychain systemd-creds:").status == .ok)
        #expect(text("etc/credstore/db") == nil)
    }

    @Test("A credential that differs stays, and is named")
    func conflict() throws {
        try home.write("root/etc/credstore/db", "newer")
        #expect(restore().messages.contains("kept: file '/etc/credstore/db'\n"))
        #expect(text("etc/credstore/db") == "newer")
    }

    @Test("On another machine, a credential that only the first one opens is named")
    func elsewhere() throws {
        let other = try TestHome()
        try other.write("pass", "correct horse\n")
        try FileManager.default.copyItem(atPath: home.path("c.kcb"), toPath: other.path("c.kcb"))
        try FileManager.default.createDirectory(
            atPath: other.path("root"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        let outcome = restore(on: other)
        #expect(outcome.status == .ok, "\(outcome.messages)")
        #expect(
            outcome.messages.contains(
                "opens only on the machine that encrypted it: file '/etc/credstore.encrypted/web'\n"))
        #expect(!outcome.messages.contains("encrypted it: file '/etc/credstore/db'"))
    }

    @Test("An archive of credentials writes nothing into a home, and one of a home nothing into the system")
    func otherStore() throws {
        let outcome = restore("--keychain home:")
        #expect(outcome.status == .incomplete)
        #expect(!FileManager.default.fileExists(atPath: home.home + "/etc"))
        try home.write("../home/.netrc", "machine a")
        #expect(home.run("create --keychain home: h.kcb --passphrase file:pass").status == .ok)
        let back = home.run("restore h.kcb --keychain systemd-creds: --passphrase file:pass")
        #expect(back.status == .incomplete)
        #expect(!FileManager.default.fileExists(atPath: home.path("root/.netrc")))
    }
}
