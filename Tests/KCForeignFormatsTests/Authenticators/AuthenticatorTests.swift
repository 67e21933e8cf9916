import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Backups of authenticators")
struct AuthenticatorTests {
    static let seed = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    private static let forum = "genp svce=Forum acct=one-time password (ada) desc=one-time password: "
    private static let address = "otpauth://totp/Forum:ada?secret=\(seed)&issuer=Forum"

    /// An encrypted file in `Fixtures/Authenticators`.
    struct Encrypted: Sendable, CustomTestStringConvertible {
        let file: String
        let format: any ForeignFormat
        let listing: [String]
        /// The position of a byte of the ciphertext.
        let place: Int
        var altered = ForeignFailure.wrongPasswordOrDamaged
        var wrong = ForeignFailure.wrongPasswordOrDamaged

        var testDescription: String { file }
        var bytes: [UInt8] { get throws { try ForeignReading.fixture("Authenticators/" + file) } }
    }

    static let encrypted = [
        Encrypted(
            file: "aegis.json", format: AegisFormat(),
            listing: [
                "genp svce=Forum acct=note (ada) desc=secure note: spare codes in the safe",
                forum + address + "&digits=8",
            ], place: -100, altered: .damaged("its contents were altered"), wrong: .wrongPassword),
        Encrypted(
            file: "backup.2fas", format: TwoFASFormat(), listing: [forum + address], place: -1_100,
            altered: .damaged("its services were altered")),
        Encrypted(file: "otp_accounts.json.aes", format: AndOTPFormat(), listing: [forum + address], place: -20),
        Encrypted(file: "stratum.authpro", format: StratumFormat(), listing: [forum + address], place: -20),
        Encrypted(file: "legacy.authpro", format: StratumFormat(), listing: [forum + address], place: 60),
        Encrypted(
            file: "ente.txt", format: EnteFormat(),
            listing: [
                forum + "otpauth://totp/Forum:ada?algorithm=SHA1&digits=6&issuer=Forum&period=30&secret=\(seed)"
                    + "&codeDisplay=%7B%22pinned%22%3Afalse%2C%22trashed%22%3Afalse%2C%22note%22%3A%22spare%22%2C%22tags%22"
                    + "%3A%5B%22Home%22%5D%7D"
            ], place: -200),
    ]

    @Test("An encrypted backup opens with its password alone, and not if it was altered", arguments: encrypted)
    func open(_ backup: Encrypted) throws {
        let bytes = try backup.bytes
        let input = ForeignReading.input(bytes, name: backup.file)
        #expect(try KnownFormats.recognise(input).name == backup.format.name)
        let contents = try ForeignReading.read(bytes, as: backup.format, password: "pw one", name: backup.file)
        #expect(try contents.listing == backup.listing)
        #expect(contents.details == "encrypted" && !contents.isPlaintext)
        #expect(contents.refused == [] && contents.remarks == [] && contents.leftOut.isEmpty, "\(contents.remarks)")
        let item = try #require(try contents.entries.first?.item)
        #expect(item.extraValue("source.folder") == "Home" || item.extraValue("tags") == "Home")
        for wrong in ["pw two", "", "pw one "] {
            #expect(throws: backup.wrong) {
                try ForeignReading.read(bytes, as: backup.format, password: wrong, name: backup.file)
            }
        }
        let place = backup.place < 0 ? bytes.count + backup.place : backup.place
        // Digits and letters stay what they are, so that text is still base64.
        let other = bytes.replacing(
            at: place, with: bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A"))
        #expect(throws: backup.altered) {
            try ForeignReading.read(other, as: backup.format, password: "pw one", name: backup.file)
        }
    }

    @Test("A backup that was cut is damaged, and never one with fewer entries", arguments: encrypted)
    func cut(_ backup: Encrypted) throws {
        let bytes = try backup.bytes
        for count in [20, 40, bytes.count / 2, bytes.count - 17, bytes.count - 1] {
            do {
                _ = try ForeignReading.read(
                    Array(bytes.prefix(count)), as: backup.format, password: "pw one", name: backup.file)
                Issue.record("\(count) bytes were read")
            } catch let failure as ForeignFailure {
                switch failure {
                case .damaged, .wrongPasswordOrDamaged: break
                default: Issue.record("\(count) bytes: \(failure)")
                }
            }
        }
    }

    @Test("A key derivation that would take the memory or the time of an attacker's choice is refused")
    func costs() throws {
        func text(_ file: String, _ from: String, _ to: String) throws -> [UInt8] {
            let text = String(decoding: try ForeignReading.fixture("Authenticators/" + file), as: UTF8.self)
            try #require(text.contains(from))
            return Array(text.replacing(from, with: to).utf8)
        }
        #expect(throws: ForeignFailure.limit("'n' of scrypt", found: 1 << 21, allowed: 1 << 20)) {
            try ForeignReading.read(text("aegis.json", "32768", "2097152"), as: AegisFormat(), password: "x")
        }
        for (from, to) in [("32768", "32767"), ("32768", "-32768"), (#""r": 8"#, #""r": 9"#), (#""p": 1"#, #""p": 2"#)]
        {
            #expect("\(to)") {
                try ForeignReading.read(text("aegis.json", from, to), as: AegisFormat(), password: "x")
            } throws: { error in
                if case .unknownVariant = error as? ForeignFailure { true } else { false }
            }
        }
        let gigabyte: UInt64 = 1 << 30
        #expect(throws: ForeignFailure.limit("bytes of memory for Argon2", found: gigabyte + 1_024, allowed: gigabyte))
        {
            try ForeignReading.read(text("ente.txt", "67108864", "1073742848"), as: EnteFormat(), password: "x")
        }
        #expect(throws: ForeignFailure.limit("passes of Argon2", found: 257, allowed: 256)) {
            try ForeignReading.read(
                text("ente.txt", #""opsLimit": 4"#, #""opsLimit": 257"#), as: EnteFormat(), password: "x")
        }
        var rounds = try ForeignReading.fixture("Authenticators/otp_accounts.json.aes")
        rounds[0] = 0x7f
        #expect("many rounds") {
            try ForeignReading.read(rounds, as: AndOTPFormat(), password: "x", name: "a.json.aes")
        } throws: { error in
            if case .limit("rounds of PBKDF2", _, allowed: 2_000_000) = error as? ForeignFailure { true } else { false }
        }
    }

    @Test("An Aegis vault that only the device opens is refused, with a way that works")
    func biometric() throws {
        let vault =
            #"{"version":1,"header":{"slots":[{"type":2}],"params":{"nonce":"000000000000000000000000","#
            + #""tag":"00000000000000000000000000000000"}},"db":"AAAA"}"#
        #expect("refused") {
            try ForeignReading.read(vault, as: AegisFormat(), password: "x")
        } throws: { error in
            if case .refused = error as? ForeignFailure { true } else { false }
        }
    }

    @Test("Newer versions are refused by their number")
    func versions() throws {
        let cases: [(String, any ForeignFormat)] = [
            (#"{"version":2,"header":{},"db":{}}"#, AegisFormat()),
            (#"{"version":1,"header":{},"db":{"version":4,"entries":[]}}"#, AegisFormat()),
            (#"{"services":[],"schemaVersion":5}"#, TwoFASFormat()),
            (#"{"version":2,"kdfParams":{},"encryptedData":""}"#, EnteFormat()),
        ]
        for (text, format) in cases {
            #expect(try KnownFormats.recognise(ForeignReading.input(Array(text.utf8))).name == format.name)
            #expect("\(text)") {
                try ForeignReading.read(text, as: format)
            } throws: { error in
                if case .unknownVariant = error as? ForeignFailure { true } else { false }
            }
        }
    }

    @Test("Aegis: groups, notes and every kind of code; what an address cannot hold is kept as JSON")
    func aegis() throws {
        let contents = try ForeignReading.read(AuthenticatorSamples.aegis, as: AegisFormat())
        #expect(
            try contents.listing == [
                "genp svce=Bank acct=ada desc=one-time password of another kind: " + AuthenticatorSamples.yandex,
                "genp svce=Forum acct=note (ada) desc=secure note: n", Self.forum + Self.address,
                "genp svce=Shop acct=one-time password desc=one-time password: otpauth://hotp/Shop?secret=\(Self.seed)"
                    + "&issuer=Shop&algorithm=SHA256&digits=7&counter=9",
                "genp svce=Steam acct=one-time password (eve) desc=one-time password: otpauth://totp/Steam:eve?secret="
                    + "\(Self.seed)&issuer=Steam&digits=5&encoder=steam",
            ])
        let forum = try #require(contents.entries.first { $0.item.attributes.text(.svce) == "Forum" }?.item)
        #expect(forum.extraValue("source.id") == "1" && forum.extraValue("tags") == "Work")
        #expect(contents.leftOut.map(\.kind) == ["favorite mark", "icon"])
        let old = try ForeignReading.read(
            #"{"version":1,"header":{"slots":null,"params":null},"db":{"version":2,"entries":[{"type":"totp","uuid":"1","name":"ada","issuer":"Forum","group":"Home","info":{"secret":"\#(Self.seed)","algo":"SHA1","digits":6,"period":30}}]}}"#,
            as: AegisFormat())
        #expect(try old.listing == [Self.forum + Self.address])
        #expect(try old.entries.first?.item.extraValue("source.folder") == "Home")
    }

    @Test("2FAS, andOTP, FreeOTP+ and Stratum: the same entry gives the same item from each")
    func others() throws {
        let cases: [(String, any ForeignFormat, lost: [String])] = [
            (AuthenticatorSamples.twoFAS, TwoFASFormat(), []),
            (AuthenticatorSamples.andOTP, AndOTPFormat(), ["icon", "number of uses", "date of last use"]),
            (AuthenticatorSamples.freeOTPPlus, FreeOTPPlusFormat(), []),
            (AuthenticatorSamples.stratum, StratumFormat(), ["icon", "number of uses"]),
        ]
        for (text, format, lost) in cases {
            #expect(try KnownFormats.recognise(ForeignReading.input(Array(text.utf8))).name == format.name)
            let contents = try ForeignReading.read(text, as: format)
            #expect(
                try contents.listing == [
                    Self.forum + Self.address,
                    "genp svce=Shop acct=one-time password (eve) desc=one-time password: otpauth://hotp/Shop:eve?secret="
                        + "\(Self.seed)&issuer=Shop&algorithm=SHA512&digits=8&counter=5",
                ], "\(format.name)")
            #expect(contents.leftOut.map(\.kind) == lost, "\(format.name)")
            #expect(contents.remarks == [] && contents.isPlaintext)
        }
    }

    @Test("2FAS: the date, the group, and an issuer that differs from the name are kept")
    func twoFAS() throws {
        let contents = try ForeignReading.read(
            AuthenticatorSamples.twoFAS.replacing(#""issuer":"Forum""#, with: #""issuer":"Forum Inc.""#),
            as: TwoFASFormat())
        let item = try #require(contents.entries.first { $0.item.attributes.text(.svce) == "Forum" }?.item)
        #expect(item.extraValue("issuer") == "Forum Inc." && item.extraValue("source.folder") == "Home")
        #expect(item.attributes[.mdat] == .date(try #require(Timestamp(microseconds: 1_700_000_000_000_000))))
    }

    @Test("andOTP: old versions have the issuer in the label; Stratum: categories belong to seeds")
    func places() throws {
        var contents = try ForeignReading.read(
            #"[{"secret":"\#(Self.seed)","label":"Forum - ada","type":"TOTP","algorithm":"SHA1","digits":6,"period":30}]"#,
            as: AndOTPFormat())
        #expect(try contents.listing == [Self.forum + Self.address])
        contents = try ForeignReading.read(AuthenticatorSamples.stratum, as: StratumFormat())
        #expect(try contents.entries.map { $0.item.extraValue("source.folder") } == ["Home", "Home"])
    }

    @Test("Two entries of one service and user are both kept")
    func twice() throws {
        let entry = #"{"secret":"#
        let rest = #","issuer":"Forum","label":"ada","type":"TOTP","algorithm":"SHA1","digits":6,"period":30}"#
        let contents = try ForeignReading.read(
            "[" + entry + "\"MZXW6YTB\"" + rest + "," + entry + "\"MZXW6YTC\"" + rest + "]", as: AndOTPFormat())
        #expect(contents.items.count == 2 && contents.marked.count == 1 && contents.refused == [])
        #expect(Set(try contents.uuids).count == 2)
    }
}
