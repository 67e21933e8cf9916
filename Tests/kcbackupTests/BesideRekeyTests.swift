import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("verify beside rekey and prune", .waitsForPrograms)
struct BesideRekeyTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("pass", "correct horse battery\n")
        #expect(home.run("keychain create --no-passcode").status == .ok)
        for _ in 0..<3 { #expect(home.run("create --passphrase file:pass --to b").status == .ok) }
    }

    /// Verifies the folder while `change` is made to it: after the catalogue and the first archive were opened.
    private func verify(during change: String) throws -> TestHome.Outcome {
        let data = home.home + "/.local/share/kcbackup"
        func shell(_ script: String) throws {
            let outcome = try ExternalProgram.run(
                "/bin/sh", ["-ec", script, "sh", home.path("b"), data, home.path("later")])
            #expect(outcome.status == 0)
        }
        try shell(#"mkdir "$3" && cp -a "$1" "$3/before" && cp -a "$2" "$3/data-before""#)
        #expect(home.run(change).status == .ok)
        try shell(#"cp -a "$1" "$3/b" && cp -a "$2" "$3/data" && rm -r "$1" "$2""#)
        try shell(#"mv "$3/before" "$1" && mv "$3/data-before" "$2""#)
        let exchange =
            "[ ! -d '\(home.path("later"))/b' ] || { rm -r '\(home.path("b"))' '\(data)/backups'; "
            + "mv '\(home.path("later"))/b' '\(home.path("b"))'; "
            + "mv '\(home.path("later"))/data/backups' '\(data)/backups'; }; cat '\(home.path("pass"))'"
        return home.run(["verify", "b", "-v", "--passphrase", "cmd:" + exchange])
    }

    @Test("An archive that gets other keys while the folder is verified is no alarm")
    func rekey() throws {
        let outcome = try verify(during: "rekey b --passphrase file:pass --new-passphrase file:pass")
        #expect(outcome.status == .ok, "\(outcome.messages)")
        #expect(outcome.messages.contains("3 archives: 3 intact"), "\(outcome.messages)")
    }

    @Test("An archive that goes to the trash while the folder is verified is no alarm")
    func prune() throws {
        let outcome = try verify(during: "prune b --keep-last 1")
        #expect(outcome.status == .ok, "\(outcome.messages)")
    }
}
