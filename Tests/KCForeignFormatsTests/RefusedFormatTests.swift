import KCByteStreams
import KCItemSources
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Formats that are recognized but not read")
struct RefusedFormatTests {
    private static let sqlite = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 84)

    private static let files: [(String, [UInt8])] = [
        ("kcbackup-archive", Array("kcbackup.json\0\0\0".utf8)),
        (
            "kcbackup-keychain",
            Array(sqlite.prefix(68)) + Array("kcbk".utf8) + Array("CREATE TABLE genp CREATE TABLE inet".utf8)
        ),
        ("keychain-2", sqlite + Array("CREATE TABLE genp(rowid) CREATE TABLE inet(rowid)".utf8)),
        ("systemd-credential", Array("Whxqht+dQJax1aZeCGLxmgAAAAABAAAADAAAABAAAAA".utf8)),
        ("openpgp", Array("-----BEGIN PGP MESSAGE-----\n\nabc\n".utf8)),
        ("json-utf-16", [0xff, 0xfe] + Array("{\0\"\0".utf8)), ("json-utf-16", [0xfe, 0xff] + Array("\0[\0{".utf8)),
        ("text-utf-16", [0xff, 0xfe] + Array("k\0:\0".utf8)), ("text-utf-16", [0xfe, 0xff] + Array("\0k\0:\0".utf8)),
        ("freeotp-backup", [0xac, 0xed, 0, 5, 0x73, 0x72, 0, 17] + Array("java.util.HashMap".utf8)),
        (
            "freeotp-store",
            Array(#"<?xml version='1.0'?><map><string name="masterKey">{}</string></map>"#.utf8)
        ),
        (
            "lastpass-authenticator",
            Array(#"{"deviceId":"d","accounts":[{"issuerName":"a","originalIssuerName":"a","secret":"x"}]}"#.utf8)
        ),
        ("age", Array("age-encryption.org/v1\n-> X25519".utf8)),
        ("age-passphrase", Array("age-encryption.org/v1\n-> scrypt x".utf8)),
        ("kcbackup-device-key", Array("# kcbackup device key of KC-x\nKCBACKUP".utf8)),
    ]

    @Test("Each is refused by its name, with what is known of what to do instead", arguments: files.indices)
    func refused(index: Int) throws {
        let (name, bytes) = Self.files[index]
        let input = ForeignReading.input(bytes)
        #expect(try KnownFormats.refusal(of: input)?.name == name)
        let failure = #expect(throws: ForeignFailure.self) { try KnownFormats.recognise(input) }
        let isOwn = name.hasPrefix("kcbackup-")
        let isAge = name.hasPrefix("age")
        switch failure {
        case .refused(let title, let hint) where !isOwn && !isAge: #expect(!title.isEmpty && !hint.isEmpty)
        case .own where isOwn: break
        case .age(let hasPassphrase) where isAge: #expect(hasPassphrase == (name == "age-passphrase"))
        default: Issue.record("another failure: \(String(describing: failure))")
        }
    }

    @Test("Bytes with the mark of UTF-16 that are no text are of no known kind")
    func noText() throws {
        for rest in ["", "a", "k\0\0\0", "a\0\0\0b\0"] {
            #expect(throws: ForeignFailure.unknownFormat, "\(rest.utf8.count)") {
                try KnownFormats.recognise(ForeignReading.input([0xff, 0xfe] + Array(rest.utf8)))
            }
        }
    }

    @Test("A table in UTF-16 with unknown columns is refused for its columns")
    func table() throws {
        let bytes: [UInt8] = [0xff, 0xfe] + "Site;Pass Wort\nx;y\n".utf8.flatMap { [$0, 0] }
        #expect(throws: ForeignFailure.unknownColumns) { try KnownFormats.recognise(ForeignReading.input(bytes)) }
        let other: [UInt8] = [0xff, 0xfe] + "Site;Word\nx;y\n".utf8.flatMap { [$0, 0] }
        #expect(throws: ForeignFailure.unknownColumns) {
            try KnownFormats.recognise(ForeignReading.input(other, name: "x.csv"))
        }
        let input = ForeignReading.input(other)
        #expect(try KnownFormats.refusal(of: input, as: CSVFormat()) == nil)
        #expect(try KnownFormats.refusal(of: input, as: NetrcFormat())?.name == "text-utf-16")
    }

    @Test("A file in age that is named like a device key is taken for one")
    func deviceKey() throws {
        let bytes = Array("age-encryption.org/v1\n-> scrypt x".utf8)
        let input = ForeignReading.input(bytes, name: "device-key.age")
        #expect(try KnownFormats.refusal(of: input)?.name == "kcbackup-device-key")
    }

    @Test("An agilekeychain is recognized")
    func agileKeychain() throws {
        let folder = try TemporaryFolder()
        #expect(throws: ForeignFailure.unknownFormat) {
            try KnownFormats.recognise(ForeignInput(path: folder.path, .folder))
        }
        for name in ["data", "data/default"] { try Path.makeFolder(folder.path(name)) }
        try folder.write("data/default/encryptionKeys.js", Array("{}".utf8))
        #expect(try KnownFormats.refusal(of: ForeignInput(path: folder.path, .folder))?.name == "agilekeychain")
    }
}
