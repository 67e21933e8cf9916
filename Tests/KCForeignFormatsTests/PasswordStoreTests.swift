import Glibc
import KCAgeEncryption
import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing the password stores of pass and passage", .waitsForPrograms)
struct PasswordStoreTests {
    /// Acts as gpg: a prefix of each file determines whether it can be decrypted.
    struct ScriptedGPG: ForeignSecrets {
        func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {
            throw GivenSecrets.Unexpected()
        }

        func keyFile() throws -> ForeignFile? { nil }

        func decryptedByGPG(_ path: String, skipping count: Int, limit: Int) throws -> SecretBytes {
            let file = try ForeignFile(reading: OpenFile.reading(path))
            if file.starts(with: "KEY".utf8) { throw UnopenedFile.noKey }
            if file.starts(with: "SYM".utf8) { throw UnopenedFile.needsPassphrase }
            guard file.starts(with: "GPG:".utf8) else { throw UnopenedFile.damaged }
            guard file.bytes.count <= limit else { throw UnopenedFile.tooLarge(limit: limit) }
            return file.bytes.withBytes { SecretBytes($0.extracting(4...)) }
        }
    }

    private static let entries = [
        "github.com":
            "p\u{e9}\nuser: ada\nsome text\nURL: https://github.com/login\notpauth://totp/x?secret=MZXQ\n more\r\n",
        "example.org/bob": "pw", "Home/Wi-Fi": "radio\n", "empty": "", "otp": "otpauth://totp/y?secret=MZXW\n",
        "it's; rm": "\nonly a note\n",
    ]

    private static let items = [
        "genp svce=Wi-Fi: radio", "genp svce=github.com acct=note (ada) desc=secure note: some text\n more\r\n",
        "genp svce=github.com acct=one-time password (ada) desc=one-time password: otpauth://totp/x?secret=MZXQ",
        "genp svce=it's; rm acct=note desc=secure note: only a note\n",
        "genp svce=otp acct=one-time password desc=one-time password: otpauth://totp/y?secret=MZXW",
        "inet srvr=example.org acct=bob: pw", "inet srvr=github.com acct=ada: pé",
    ]

    private func store(_ ending: String, _ content: (String) throws -> [UInt8]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (name, text) in Self.entries {
            let path = name.split(separator: "/")
            if path.count > 1 { try Path.makeFolder(folder.path(String(path[0]))) }
            try folder.write(name + ending, try content(text))
        }
        try Path.makeFolder(folder.path(".git"))
        try folder.write(".git/x" + ending, Array("junk".utf8))
        try folder.write("README", Array("text".utf8))
        try folder.write(".age-recipients", [])
        return folder
    }

    @Test("pass: first lines are passwords, the other lines are kept, and names yield hosts and users")
    func pass() throws {
        let folder = try store(".gpg") { Array("GPG:".utf8) + Array($0.utf8) }
        let input = ForeignInput(path: folder.path, .folder)
        #expect(try !PassFormat().recognises(input))
        try folder.write(".gpg-id", Array("ada@example.org".utf8))
        #expect(try KnownFormats.recognise(input).name == "pass")
        let contents = try PassFormat().read(input, ScriptedGPG())
        #expect(try contents.listing == Self.items.sorted())
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" }.sorted()
                == ["1 file without a password", "1 record without a secret"])
        #expect(!contents.isPlaintext)
        #expect(throws: ForeignFailure.self) { try PassFormat().read(input, GivenSecrets(text: nil)) }
    }

    @Test("pass: a file that cannot be decrypted is refused by name, and the others are read")
    func unopened() throws {
        let folder = try store(".gpg") { Array("GPG:".utf8) + Array($0.utf8) }
        try folder.write(".gpg-id", Array("ada@example.org".utf8))
        try folder.write("damaged.gpg", Array("junk".utf8))
        try folder.write("foreign.gpg", Array("KEY".utf8))
        let input = ForeignInput(path: folder.path, .folder)
        let contents = try PassFormat().read(input, ScriptedGPG())
        #expect(try contents.listing == Self.items.sorted())
        #expect(
            contents.refused.map { "\($0.name): \($0.problem)" } == [
                #"damaged: damaged("it cannot be decrypted to its end")"#,
                #"foreign: damaged("no gpg key opens it")"#,
            ])
    }

    /// Acts as a disk that fails while one file is read.
    private struct FailingDisk: ForeignSecrets {
        let problem: FileFailure.Problem

        func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {}

        func keyFile() throws -> ForeignFile? { nil }

        func decryptedByGPG(_ path: String, skipping count: Int, limit: Int) throws -> SecretBytes {
            if path.hasSuffix("b.gpg") { throw FileFailure(path, problem) }
            return SecretBytes(copying: "x".utf8)
        }
    }

    @Test("A failing disk ends the import, and only files that the system protects or that are too large are named")
    func failingDisk() throws {
        let folder = try TemporaryFolder()
        for name in [".gpg-id", "a.gpg", "b.gpg"] { try folder.write(name, []) }
        let input = ForeignInput(path: folder.path, .folder)
        for problem in [FileFailure.Problem.system(EACCES, doing: "opening"), .tooLarge(limit: 1 << 30)] {
            let contents = try PassFormat().read(input, FailingDisk(problem: problem))
            #expect(contents.refused.map(\.name) == ["b"])
            #expect(contents.items.count == 1)
        }
        #expect(throws: FileFailure(folder.path + "/b.gpg", .system(EIO, doing: "reading"))) {
            try PassFormat().read(input, FailingDisk(problem: .system(EIO, doing: "reading")))
        }
    }

    @Test("pass: a store encrypted entirely for other keys is refused")
    func locked() throws {
        let folder = try TemporaryFolder()
        try folder.write(".gpg-id", [])
        try folder.write("a.gpg", Array("KEY".utf8))
        try folder.write("b.gpg", Array("KEY".utf8))
        #expect(throws: ForeignFailure.noKeyOpens("keys of gpg")) {
            try PassFormat().read(ForeignInput(path: folder.path, .folder), ScriptedGPG())
        }
    }

    @Test("A file without read permission is refused by name", .enabled(if: geteuid() != 0, "root may read all"))
    func unreadable() throws {
        let folder = try TemporaryFolder()
        try folder.write(".gpg-id", [])
        try folder.write("a.gpg", Array("GPG:x".utf8))
        let path = try folder.write("b.gpg", Array("GPG:y".utf8))
        _ = try ExternalProgram.run("chmod", ["0", path])
        let contents = try PassFormat().read(ForeignInput(path: folder.path, .folder), ScriptedGPG())
        #expect(contents.refused.map(\.name) == ["b"])
        #expect(contents.items.count == 1)
    }

    @Test("Hidden files are read, except those of the stores and git")
    func hidden() throws {
        let folder = try TemporaryFolder()
        for name in [".dot", ".git", "sub"] { try Path.makeFolder(folder.path(name)) }
        for name in [".gpg-id", "sub/.gpg-id", ".git/x.gpg"] { try folder.write(name, []) }
        for name in [".env", ".dot/y", "sub/.z"] { try folder.write(name + ".gpg", Array("GPG:\(name)".utf8)) }
        try folder.write(".DS_Store", [])
        let contents = try PassFormat().read(ForeignInput(path: folder.path, .folder), ScriptedGPG())
        #expect(
            try contents.listing.map { String($0.split(separator: ": ")[1]) }.sorted() == [".dot/y", ".env", "sub/.z"])
        #expect(contents.leftOut.map(\.count) == [1])
    }

    @Test("No symbolic link is followed")
    func links() throws {
        let folder = try TemporaryFolder()
        let elsewhere = try TemporaryFolder()
        try elsewhere.write("secret.gpg", Array("GPG:other".utf8))
        try folder.write(".gpg-id", [])
        _ = try ExternalProgram.run("ln", ["-s", elsewhere.path, folder.path("linked")])
        _ = try ExternalProgram.run("ln", ["-s", elsewhere.path("secret.gpg"), folder.path("file.gpg")])
        _ = try ExternalProgram.run("ln", ["-s", ".", folder.path("loop")])
        let contents = try PassFormat().read(ForeignInput(path: folder.path, .folder), ScriptedGPG())
        #expect(contents.items.count == 0)
        #expect(contents.leftOut.map { "\($0.count) \($0.kind)" } == ["3 file of another kind (link, device)"])
    }

    @Test("passage: a store opens with its identities, and a file encrypted for others is refused by name")
    func passage() throws {
        let identity = try X25519Identity.generate()
        let folder = try store(".age") { try Self.encrypted($0, for: identity) }
        let input = ForeignInput(path: folder.path, .folder)
        #expect(try KnownFormats.recognise(input).name == "passage")
        #expect(throws: ForeignFailure.needsKeyFile) { try PassageFormat().read(input, GivenSecrets(text: nil)) }
        func key(_ identity: X25519Identity) -> GivenSecrets {
            let file = ForeignFile(
                name: "identities", IdentityFile.text(of: .x25519(identity), comments: []), modified: .reference)
            return GivenSecrets(text: nil, key: file)
        }
        let contents = try PassageFormat().read(input, key(identity))
        #expect(try contents.listing == Self.items.sorted())
        try folder.write("foreign.age", try Self.encrypted("x", for: X25519Identity.generate()))
        try folder.write("broken.age", Array("age-encryption.org/v1\nx".utf8))
        let other = try PassageFormat().read(input, key(identity))
        #expect(try other.listing == Self.items.sorted())
        #expect(other.refused.map(\.name).sorted() == ["broken", "foreign"])
        #expect(throws: ForeignFailure.noKeyOpens("identities")) {
            try PassageFormat().read(input, key(X25519Identity.generate()))
        }
    }

    @Test("passage: encrypted files among others are not a store, and those alone or beside identities are")
    func notPassage() throws {
        let outer = try TemporaryFolder()
        let input = ForeignInput(path: outer.path("exports"), .folder)
        try Path.makeFolder(input.path)
        func isStore() throws -> Bool { try PassageFormat().recognises(input) }
        #expect(try !isStore())
        try outer.write("exports/backup.age", [])
        try outer.write("exports/.hidden", [])
        #expect(try isStore())
        try outer.write("exports/logins.csv", Array("name,url,username,password,note\n".utf8))
        #expect(try !isStore())
        #expect(throws: ForeignFailure.folderOfFiles(name: "logins.csv", title: "CSV file")) {
            try KnownFormats.recognise(input)
        }
        try outer.write("identities", [])
        #expect(try isStore())
        _ = try ExternalProgram.run("rm", [outer.path("identities")])
        try outer.write("exports/.age-recipients", [])
        #expect(try isStore())
    }

    @Test("A folder with more levels than a store has is not taken for one")
    func tooDeep() throws {
        let folder = try TemporaryFolder()
        var path = ""
        for _ in 0..<40 {
            path += path.isEmpty ? "d" : "/d"
            try Path.makeFolder(folder.path(path))
        }
        let input = ForeignInput(path: folder.path, .folder)
        #expect(try !PassageFormat().recognises(input))
        try folder.write("Manifest.plist", Array("<plist><dict><key>IsEncrypted</key><true/></dict></plist>".utf8))
        #expect(try KnownFormats.recognise(input).name == "apple-backup")
        #expect(throws: ForeignFailure.limit("levels", found: 33, allowed: 32)) {
            try PassageFormat().read(input, GivenSecrets(text: nil))
        }
    }

    private static func encrypted(_ text: String, for identity: X25519Identity) throws -> [UInt8] {
        var encryptor = try AgeEncryptor(recipients: [identity.recipient], to: MemorySink())
        try encryptor.write(Array(text.utf8).span)
        return try encryptor.finish()
    }

    @Test(
        "gopass's form with a header is read, a file with an empty first line is not lost, and one passphrase is one file"
    )
    func forms() throws {
        let folder = try TemporaryFolder()
        try folder.write(".gpg-id", [])
        try folder.write(
            "gopass.gpg", Array("GPG:GOPASS-SECRET-1.0\nPassword: gp\nUser: ada\nPIN: 1\n\nbody\nPassword: x\n".utf8))
        try folder.write("user.gpg", Array("GPG:\nuser: x\n".utf8))
        try folder.write("closed.gpg", Array("SYM".utf8))
        let contents = try PassFormat().read(ForeignInput(path: folder.path, .folder), ScriptedGPG())
        #expect(
            try contents.listing == [
                "genp svce=gopass acct=ada: gp",
                "genp svce=gopass acct=note (ada) desc=secure note: PIN: 1\nbody\nPassword: x\n",
                "genp svce=user acct=x: no secret",
            ])
        #expect(contents.refused.map(\.name) == ["closed"])
    }
}
