import Foundation
import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

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
        #expect(contents.refused.map(\.name) == closed + ["text.keyring"])
        #expect(contents.leftOut.map(\.count) == [1])
        #expect(contents.details.contains("login.keyring") == (password == "one"))
        #expect(!contents.isPlaintext)
    }

    @Test(
        "A keyring whose beginning is lost is named, as after a power cut",
        arguments: [[], [UInt8](repeating: 0, count: 4_096), Array("\0\0\0\0\0\0Keyring\n\r\0\n".utf8)])
    func zeroed(bytes: [UInt8]) throws {
        try folder.write("login.keyring", bytes, mode: 0o600)
        let contents = try read("one")
        #expect(contents.items.count == 1)
        #expect(contents.refused.map(\.name) == ["vpn.keyring", "login.keyring", "text.keyring"])
    }

    @Test("A folder of keyrings is recognized by the files directly in it, however deep it is")
    func deep() throws {
        var path = ""
        for _ in 0..<40 {
            path += path.isEmpty ? "d" : "/d"
            try Path.makeFolder(folder.path(path))
        }
        #expect(try KnownFormats.recognise(ForeignInput(path: folder.path, .folder)).name == "gnome-keyring")
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

    @Test("Two keyrings of the same name are two, as in the running service, unless one is a copy of the other")
    func sameName() throws {
        for (file, secret) in [("copy", "Login"), ("other", "changed")] {
            var writer = KeyringWriter(name: "Login", password: "one")
            writer.items = [WrittenItem(label: "Login", attributes: [("user", "ada")], secret: Array(secret.utf8))]
            try folder.write("\(file).keyring", writer.file(), mode: 0o600)
        }
        let contents = try read("one")
        #expect(contents.items.count == 3)
        #expect(contents.duplicates == 1)
        #expect(!contents.refused.contains { ["copy.keyring", "other.keyring"].contains($0.name) })
        // The service numbers them in the order of their files' names, the shorter ones first.
        let numbers = try contents.entries.map { $0.item.extraValue("kcbackup:collection-number") ?? "0" }
        #expect(numbers.sorted() == ["0", "0", "1"])
    }

    @Test("A damaged keyring is reported as one, and a keyring in plain text that others can read is named")
    func reported() throws {
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: folder.path("mail.keyring"))))
        bytes[bytes.count - 20] ^= 1
        try folder.write("mail.keyring", bytes, mode: 0o600)
        let text = "[keyring]\ndisplay-name=Plain\n\n[1]\nitem-type=0\nsecret=x\nmtime=1\nctime=1\n"
        try folder.write("plain.keyring", Array(text.utf8), mode: 0o644)
        let contents = try read("one")
        let problem = try #require(contents.refused.first { $0.name == "mail.keyring" }).problem
        #expect(problem == .damaged("another password opens it, or it is damaged: import it by itself"))
        #expect(contents.remarks.contains { $0.hasPrefix("plain.keyring can be read by others") })
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
