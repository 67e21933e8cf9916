import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Comparisons of other programs' files that open in different ways")
struct DiffOfFilesTests {
    private let home: TestHome

    /// `a.kdbx` opens with a password and a key file; `b.csv`, `c.csv` and the archive of `b.csv` need neither.
    init() throws {
        home = try TestHome()
        for (name, kind) in [("a.kdbx", "kdbx"), ("a.key", "key")] {
            let path = Project.path("Tests/KCForeignFormatsTests/Fixtures/KeePass/pykeepass-4.0.\(kind)")
            try home.write(name, [UInt8](Data(contentsOf: URL(filePath: path))))
        }
        try home.write("password", "pw one\n")
        try home.write("pass", "correct horse\n")
        for name in ["b", "c"] {
            try home.write("\(name).csv", "name,url,username,password\n\(name),https://\(name).example/,ada,tulip\n")
        }
        let outcome = home.run("create --keychain file:b.csv b.kcb --passphrase file:pass")
        #expect(outcome.status == .ok, "\(outcome.messages)")
    }

    @Test(
        "A key file opens the side that needs it",
        arguments: [
            "b.csv --keychain file:a.kdbx --passcode file:password",
            "b.kcb --keychain file:a.kdbx --passphrase file:pass --password file:password",
            "a.kdbx b.csv --password file:password",
        ])
    func keyFile(words: String) {
        let outcome = home.run("diff \(words) --key-file a.key --json")
        #expect([.ok, .incomplete].contains(outcome.status), "\(outcome.messages)")
        let list = words.hasPrefix("a.") ? "removed" : "added"
        #expect(outcome.text.contains("\"\(list)\":[{"), "\(outcome.text)")
        #expect(!outcome.text.contains("\"file:"), "\(outcome.text)")
    }

    @Test("One that no side needs is refused", arguments: ["b.csv c.csv", "b.kcb c.csv --passphrase file:pass"])
    func unneeded(words: String) {
        let outcome = home.run("diff \(words) --key-file a.key")
        #expect(outcome.status == .usage)
        #expect(outcome.messages.contains(".csv' opens without '--key-file'"), "\(outcome.messages)")
    }

    @Test("One that neither the file nor that of '--keychain' needs is refused, and two sources of one password are")
    func unneededByStore() {
        let outcome = home.run("diff b.csv --keychain file:c.csv --key-file a.key")
        #expect(outcome.status == .usage)
        #expect(outcome.messages.contains("'c.csv' opens without '--key-file'"), "\(outcome.messages)")
        let twice = home.run(
            "diff b.kcb --passphrase file:pass --keychain file:a.kdbx --passcode file:password --password file:password"
        )
        #expect(twice.status == .usage)
        #expect(twice.messages.contains("'--passcode' and '--password' exclude each other"), "\(twice.messages)")
    }
}
