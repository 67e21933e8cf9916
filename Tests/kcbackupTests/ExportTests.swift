import Foundation
import KCTerminal
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
        let wrong = home.run("\(command) --key-file other.key")
        #expect(wrong.status == .wrongKey)
        #expect(wrong.messages.contains("the password and the key file do not open"))
        let right = home.run("\(command) --key-file a.key")
        #expect(right.status == .ok, "\(right.messages)")
        let file = try home.folder.read("work/a.csv")
        #expect(String(decoding: file, as: UTF8.self).contains("neu"))
    }

    @Test("The password of one of two files that diff compares may be useless for the other, but not for both")
    func passwordOfOneSide() throws {
        try home.write("password", "walnut lantern velvet\n")
        for line in [
            "keychain create --no-passcode", "item add --service a --account b --secret file:password",
            "export --to kdbx -o a.kdbx --password file:password", "export --to csv --plaintext -o a.csv",
        ] {
            #expect(home.run(line).status == .ok)
        }
        for files in ["a.kdbx a.csv", "a.csv a.kdbx"] {
            let outcome = home.run("diff \(files) --password file:password")
            #expect(outcome.status == .ok, "\(outcome.messages)")
        }
        for line in ["diff a.csv a.csv", "diff a.csv --keychain login"] {
            let outcome = home.run("\(line) --password file:password")
            #expect(outcome.status == .usage)
            #expect(outcome.messages.contains("'a.csv' opens without '--password'"), "\(outcome.messages)")
        }
    }

    @Test("That nothing matches is said though a row cannot be read, and what matches is exported without it")
    func unreadableRow() throws {
        let (start, end) = ("name,url,username,password\nA,,ada,p", "1\nB,,bob,p2\n")
        try home.write("a.csv", Array(start.utf8) + [0xe4] + Array(end.utf8))
        let absent = home.run("export nosuch --keychain file:a.csv --to csv --plaintext -o out.csv")
        #expect(absent.status == .notFound)
        #expect(absent.messages.contains("no item that can be read matches, and 1 item cannot be read"))
        #expect(home.run("export bob --keychain file:a.csv --to csv --plaintext -o out.csv").status == .incomplete)
    }

    @Test("A file is made in a folder of /dev, which is memory, and a device and a name beside devices are refused")
    func fileInMemory() throws {
        let folder = "/dev/shm/kcbackup-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try home.write("secret", "walnut\n")
        for line in ["keychain create --no-passcode", "item add --service a --account b --secret file:secret"] {
            #expect(home.run(line).status == .ok)
        }
        let made = home.run("export --to csv --plaintext -o \(folder)/a.csv")
        #expect(made.status == .ok, "\(made.messages)")
        for path in ["/dev/null", "/dev/nul", "/dev/fd/9", "/dev/ptmx"] {
            let outcome = home.run("export --to csv --plaintext -o \(path)")
            #expect(outcome.status == .usage, "\(path): \(outcome.messages)")
        }
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
        let expected: [(String, KCTerminal.ExitStatus)] = [
            ("svcA", .locked), ("svcB", .ok), ("svcC", .refused), ("svcD", .notFound),
        ]
        for (text, status) in expected {
            let outcome = home.run("export \(text) --to csv --plaintext -o \(text).csv")
            #expect(outcome.status == status, "\(text): \(outcome.messages)")
        }
    }
}
