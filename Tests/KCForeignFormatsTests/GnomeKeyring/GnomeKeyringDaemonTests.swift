import KCByteStreams
import KCCryptography
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Keyring files that gnome-keyring-daemon and libsecret wrote", .waitsForPrograms)
struct GnomeKeyringDaemonTests {
    /// Items with secrets and names of all kinds, each with an attribute that identifies it.
    private static func items(_ count: Int, seed: UInt64, lines: Bool) -> [WrittenItem] {
        var random = SeededRandom(seed: seed)
        let texts = [
            "", "a", "two words", "ü 日本 🔑", "a=b", "[1]", "#x", "'quoted'", "back\\slash", "tab\there", "two\nlines",
        ]
        return (0..<count).map { index in
            var secret: [UInt8]
            switch index % 5 {
            case 0: secret = random.bytes(index)
            case 1: secret = Array("pass word \(index)".utf8)
            // Without `\n`, which would break the file: the daemon reads its file again after writing it.
            case 2: secret = Array("  lead\\t \\x\\\\ trail\\ ".utf8)
            case 3:
                secret = Array(
                    lines ? "-----BEGIN-----\nkey=\(index)\n\n[x]\nmtime=5\n#\n-----END-----\n".utf8 : "#x=[y]".utf8)
            default: secret = []
            }
            if index == 7 { secret = [UInt8](repeating: 0x41, count: 8_000) }
            let name = texts[index % texts.count]
            return WrittenItem(
                label: name + " \(index)",
                attributes: [("n", "\(index)"), ("note", name.isEmpty ? "-" : name), ("service", "svc \(index)")],
                secret: secret)
        }
    }

    private func expect(_ contents: ForeignContents, holds items: [WrittenItem], in keyring: String) throws {
        #expect(contents.refused.isEmpty)
        let found = try contents.entries
        #expect(found.count == items.count)
        for item in items {
            let place = try #require(found.first { $0.item.extraValue("n") == item.attributes[0].value })
            #expect(place.secret == item.secret, "\(item.label)")
            #expect(place.item.attributes.text(.labl) == item.label)
            #expect(place.item.attributes.text(.svce) == item.attributes[2].value)
            for (name, value) in item.attributes { #expect(place.item.extraValue(name) == value) }
            #expect(place.item.extra.count == item.attributes.count + (keyring.isEmpty ? 1 : 2))
            #expect(place.item.attributes.date(.mdat).map { $0 > .reference } == true)
        }
    }

    @Test("An encrypted keyring yields every item, attribute and byte that was stored")
    func encrypted() throws {
        let items = Self.items(30, seed: 1, lines: true)
        let living = try LivingKeyring()
        let outcome = try living.session("correct horse", [LivingKeyring.opening] + items.map(LivingKeyring.store))
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let file = try living.file("login.keyring")
        let contents = try ForeignReading.read(file, as: GnomeKeyringFormat(), password: "correct horse")
        #expect(contents.details == "keyring 'Login', encrypted")
        try expect(contents, holds: items, in: "Login")
        #expect(throws: ForeignFailure.wrongPasswordOrDamaged) {
            try ForeignReading.read(file, as: GnomeKeyringFormat(), password: "correct house")
        }
    }

    @Test("A plain keyring that the daemon can no longer read yields every item, even with multiline secrets")
    func broken() throws {
        let items = Self.items(30, seed: 2, lines: true).filter { !$0.secret.contains(UInt8(ascii: "\\")) }
        let living = try LivingKeyring()
        try living.makePlainDefault("plain")
        let stored = try living.session("irrelevant", [LivingKeyring.opening] + items.map(LivingKeyring.store))
        #expect(stored.status == 0, "\(stored.errorText)")
        let file = try living.file("plain.keyring")
        let contents = try ForeignReading.read(file, as: GnomeKeyringFormat())
        try expect(contents, holds: items, in: "plain")
        #expect(contents.isPlaintext)
        #expect(contents.remarks.first?.hasSuffix("were joined: 6") == true)
        let found = try living.session("irrelevant", items.map(LivingKeyring.lookUp))
        #expect(found.text.allSatisfy { $0 == "\n" }, "the daemon reads the file, so this test shows nothing")
    }

    @Test("A plain keyring that the daemon can still read yields the same secrets as the daemon")
    func plain() throws {
        let items = Self.items(30, seed: 3, lines: false)
        let living = try LivingKeyring()
        try living.makePlainDefault("plain")
        let stored = try living.session("irrelevant", [LivingKeyring.opening] + items.map(LivingKeyring.store))
        #expect(stored.status == 0, "\(stored.errorText)")
        let file = try living.file("plain.keyring")
        let told = try living.session("irrelevant", [LivingKeyring.opening] + items.map(LivingKeyring.lookUp))
        let secrets = told.text.split(separator: "\n", omittingEmptySubsequences: false).map { Hexadecimal.decode($0) }
        let asRead = zip(items, secrets).map { item, secret in
            WrittenItem(label: item.label, attributes: item.attributes, secret: secret ?? [])
        }
        #expect(asRead.contains { $0.secret.contains(UInt8(ascii: "\t")) }, "the daemon does not read the file")
        let contents = try ForeignReading.read(file, as: GnomeKeyringFormat())
        try expect(contents, holds: asRead, in: "plain")
    }

    @Test("A libsecret file yields every item, attribute and byte that was stored")
    func libsecret() throws {
        let items = Self.items(12, seed: 4, lines: true)
        let folder = try TemporaryFolder()
        let backend = """
            export SECRET_BACKEND=file SECRET_FILE_TEST_PATH=\(folder.path("mine.keyring"))
            export SECRET_FILE_TEST_PASSWORD='correct horse'
            """
        let outcome = try LivingKeyring().session("irrelevant", [backend] + items.map(LivingKeyring.store))
        #expect(outcome.status == 0, "\(outcome.errorText)")
        let file = try folder.read("mine.keyring")
        let contents = try ForeignReading.read(
            file, as: GnomeKeyringFormat(), password: "correct horse", name: "mine.keyring")
        #expect(contents.details == "keyring 'mine', of libsecret, encrypted")
        try expect(contents, holds: items, in: "")
        #expect(throws: ForeignFailure.wrongPasswordOrDamaged) {
            try ForeignReading.read(file, as: GnomeKeyringFormat(), password: "correct house")
        }
    }

    @Test("The test files of oo7 open", arguments: ["default", "legacy"])
    func fixtures(name: String) throws {
        let file = try ForeignReading.fixture("oo7/\(name).keyring")
        let contents = try ForeignReading.read(
            file, as: GnomeKeyringFormat(), password: "test", name: name + ".keyring")
        let entries = try contents.entries
        #expect(entries.count == 1)
        #expect(entries.first?.secret == Array("foo".utf8))
        #expect(entries.first?.item.attributes.text(.labl) == "foo")
        #expect(entries.first?.item.extraValue("kcbackup:collection") == (name == "legacy" ? "test" : "default"))
    }
}
