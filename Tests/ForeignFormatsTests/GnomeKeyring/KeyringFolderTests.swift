import ByteStreams
import Foundation
import ItemSources
import KeychainModel
import TestSupport
import Testing

@testable import ForeignFormats

@Suite("A folder of keyrings")
struct KeyringFolderTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for (file, name, password) in [
            ("login", "Login", "one"), ("mail", "Mail", "one"), ("vpn", "VPN", "two"),
        ] {
            var writer = KeyringWriter(name: name, password: password)
            writer.items = [WrittenItem(label: name, attributes: [("user", "ada")], secret: Array(name.utf8))]
            try folder.write(file + ".keyring", writer.file(), mode: 0o600)
        }
        try folder.write("user.keystore", Array("no keyring".utf8), mode: 0o600)
        try folder.write("text.keyring", Array("dear diary".utf8), mode: 0o600)
    }

    private func read(_ password: String?) throws -> ForeignContents {
        let input = ForeignInput(path: folder.path, .folder)
        #expect(try KnownFormats.recognise(input).name == "gnome-keyring")
        return try GnomeKeyringFormat().read(input, GivenSecrets(text: password))
    }

    @Test("Keyrings that the password opens are read together, and the others are reported", arguments: ["one", "two"])
    func onePassword(password: String) throws {
        let contents = try read(password)
        let (open, closed) = password == "one" ? (2, ["vpn.keyring"]) : (1, ["login.keyring", "mail.keyring"])
        #expect(contents.items.count == open)
        #expect(contents.refused.map(\.name) == closed)
        #expect(contents.leftOut.map(\.count) == [2])
        #expect(contents.details.contains("login.keyring") == (password == "one"))
        #expect(!contents.isPlaintext)
    }

    @Test("A password that opens no keyring is wrong")
    func wrongPassword() throws {
        #expect(throws: ForeignFailure.wrongPasswordOrDamaged) { try read("three") }
    }

    @Test("The UUIDs are those of the keyrings imported separately")
    func sameItems() throws {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: folder.path("login.keyring"))))
        let alone = try ForeignReading.read(bytes, as: GnomeKeyringFormat(), password: "one", name: "login.keyring")
        let all = try read("one")
        #expect(Set(try alone.uuids).isSubset(of: try all.uuids))
    }

    @Test("An item in two keyrings of the same name is imported once, and reported if the secrets differ")
    func sameName() throws {
        for (file, secret) in [("copy", "Login"), ("other", "changed")] {
            var writer = KeyringWriter(name: "Login", password: "one")
            writer.items = [WrittenItem(label: "Login", attributes: [("user", "ada")], secret: Array(secret.utf8))]
            try folder.write("\(file).keyring", writer.file(), mode: 0o600)
        }
        let contents = try read("one")
        #expect(contents.items.count == 2)
        #expect(contents.duplicates == 1)
        #expect(contents.refused.map(\.problem).contains(.sameKey))
    }

    @Test("A folder without keyrings has no known format, and the error names a file in it that has one")
    func otherFolder() throws {
        let other = try TemporaryFolder()
        let input = ForeignInput(path: other.path, .folder)
        #expect(throws: ForeignFailure.unknownFormat) { try KnownFormats.recognise(input) }
        try other.write("a.csv", Array("name,url,username,password,note\n".utf8), mode: 0o600)
        #expect(throws: ForeignFailure.folderOfFiles(name: "a.csv", title: "CSV file")) {
            try KnownFormats.recognise(input)
        }
    }
}
