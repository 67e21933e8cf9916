import Foundation
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Exports of keychains and of other programs' files")
struct ExportTests {
    private let home: TestHome

    init() throws { home = try TestHome() }

    @Test("A KeePass database that opens with a password and a key file is exported")
    func keyFile() throws {
        for (name, kind) in [("a.kdbx", "kdbx"), ("a.key", "key")] {
            let path = Project.path("Tests/KCForeignFormatsTests/Fixtures/KeePass/pykeepass-4.0.\(kind)")
            try home.write(name, [UInt8](Data(contentsOf: URL(filePath: path))))
        }
        try home.write("password", "pw one\n")
        try home.write("other.key", [UInt8](repeating: 4, count: 32))
        let command = "export --keychain file:a.kdbx --passcode file:password --to csv --plaintext -o a.csv"
        #expect(home.run(command).status == .wrongKey)
        let wrong = home.run("\(command) --key-file other.key")
        #expect(wrong.status == .wrongKey)
        #expect(wrong.messages.contains("the password and the key file do not open"))
        let right = home.run("\(command) --key-file a.key")
        #expect(right.status == .ok, "\(right.messages)")
        let file = try home.folder.read("work/a.csv")
        #expect(String(decoding: file, as: UTF8.self).contains("neu"))
    }

    @Test("A passcode is needed only for what leaves a locked keychain; that nothing matches is said first")
    func passcode() throws {
        try home.write("passcode", "walnut lantern velvet\n")
        try home.write(
            "items.jsonl",
            """
            {"class":"genp","attributes":{"svce":"svcA","acct":"ada"},"secret":"a"}
            {"class":"genp","attributes":{"svce":"svcB","acct":"ada","pdmn":"dk"},"secret":"b"}
            {"class":"genp","attributes":{"svce":"svcC","acct":"ada","pdmn":"aku"},"secret":"c"}

            """)
        for line in ["keychain create", "import items.jsonl"] {
            #expect(home.run("\(line) --passcode file:passcode").status == .ok)
        }
        let expected: [(String, kcbackup.ExitStatus)] = [
            ("svcA", .locked), ("svcB", .ok), ("svcC", .refused), ("svcD", .notFound),
        ]
        for (text, status) in expected {
            let outcome = home.run("export \(text) --to csv --plaintext -o \(text).csv")
            #expect(outcome.status == status, "\(text): \(outcome.messages)")
        }
    }
}
