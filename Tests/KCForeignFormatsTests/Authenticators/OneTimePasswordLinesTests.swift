import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Lists of otpauth addresses, and codes of Google Authenticator")
struct OneTimePasswordLinesTests {
    private static let seed = AuthenticatorTests.seed
    private static let forum = "genp svce=Forum acct=one-time password (ada) desc=one-time password: "

    private func read(_ text: String) throws -> ForeignContents { try ForeignReading.read(text, as: OTPAuthFormat()) }

    @Test("Each address becomes an item with the line as its secret, and each entry of a transfer an address")
    func lines() throws {
        let input = ForeignReading.input(Array(AuthenticatorSamples.addresses.utf8))
        #expect(try KnownFormats.recognise(input).name == "otpauth")
        let contents = try read(AuthenticatorSamples.addresses)
        #expect(
            try contents.listing == [
                Self.forum + "otpauth://totp/Forum:ada?secret=\(Self.seed)&issuer=Forum",
                "genp svce=Shop acct=one-time password (eve) desc=one-time password: otpauth://hotp/Shop:eve?secret="
                    + "\(Self.seed)&counter=5",
                "genp svce=multiverse acct=one-time password (tesseract) desc=one-time password: otpauth://totp/"
                    + "multiverse:tesseract?secret=GFCDMNZZIMYTORJZGNCTERKFGAZDERSB&issuer=multiverse",
            ])
        #expect(contents.refused == [] && contents.leftOut.isEmpty && contents.isPlaintext)
    }

    @Test("A byte order mark, blanks around a line and Apple's scheme are no part of the address")
    func blanks() throws {
        let address = "otpauth://totp/Forum:ada?secret=\(Self.seed)"
        for text in [
            "\u{feff}\(address)\n", "\n \t\(address)\t \r\n", "apple-" + address, address,
            "OTPAUTH" + address.dropFirst(7),
        ] {
            #expect(try KnownFormats.recognise(ForeignReading.input(Array(text.utf8))).name == "otpauth", "\(text)")
            #expect(
                try read(text).listing.map { $0.replacing("OTPAUTH", with: "otpauth") } == [Self.forum + address],
                "\(text)")
        }
    }

    @Test("Ente's trashed entries and pins are counted, its tags are attributes, and its note stays in the secret")
    func ente() throws {
        func line(_ display: String) -> String {
            "otpauth://totp/Forum:ada?secret=\(Self.seed)&codeDisplay=\(OneTimePasswordAddress.encoded(display))\n"
        }
        let kept = line(#"{"pinned":true,"trashed":false,"tags":["Home","Work"],"note":"safe"}"#)
        let contents = try read(kept + line(#"{"trashed":true}"#))
        #expect(try contents.listing == [Self.forum + String(kept.dropLast())])
        #expect(contents.leftOut.map(\.kind) == ["favorite mark", "record in the trash"])
        #expect(try contents.entries.first?.item.extraValue("tags") == "Home, Work")
        #expect(try contents.entries.first?.item.extra.contains { $0.value.contains("safe") } == false)
        #expect(try read(kept + line("{")).refused.map(\.name) == ["line 2"])
    }

    @Test("A line that is no address is left out by its number, which shows nothing of it")
    func damaged() throws {
        let good = "otpauth://totp/Forum:ada?secret=\(Self.seed)\n"
        for odd in [
            "otpauth://totp/x?secret=0189", "otpauth://totp/x", "otpauth://totp/x?secret=MZXQ&digits=x",
            "otpauth://yaotp/x?secret=MZXQ", "https://ada:pw@example.com", "otpauth://totp/%ff?secret=MZXQ",
            "otpauth-migration://offline?data=", "otpauth-migration://offline?data=*",
            "otpauth-migration://offline?data=/w",
        ] {
            let contents = try read(good + odd + "\n" + good)
            #expect(contents.refused.map(\.name) == ["line 2"], "\(odd)")
            #expect(contents.items.count == 1 && contents.duplicates == 1, "\(odd)")
        }
        #expect("all damaged") { try read("otpauth://totp/x\n") } throws: { error in
            if case .damagedLine(1, _) = error as? ForeignFailure { true } else { false }
        }
    }

    /// A message of protocol buffers.
    private struct Message {
        var bytes: [UInt8] = []

        func number(_ field: UInt64, _ value: UInt64) -> Message {
            Message(bytes: bytes + Self.varint(field << 3) + Self.varint(value))
        }

        func data(_ field: UInt64, _ value: [UInt8]) -> Message {
            Message(bytes: bytes + Self.varint(field << 3 | 2) + Self.varint(UInt64(value.count)) + value)
        }

        var address: String {
            GoogleTransfer.prefix + OneTimePasswordAddress.encoded(Base64.encode(bytes)) + "\n"
        }

        private static func varint(_ value: UInt64) -> [UInt8] {
            value < 128 ? [UInt8(value)] : [UInt8(value & 127) | 128] + varint(value >> 7)
        }
    }

    private static func entry(_ name: String, issuer: String? = nil) -> Message {
        let entry = Message().data(1, Array("12345678901234567890".utf8)).data(2, Array(name.utf8))
        return issuer.map { entry.data(3, Array($0.utf8)) } ?? entry
    }

    private static func transfer(_ entry: Message, size: UInt64 = 1, index: UInt64 = 0, batch: UInt64 = 7) -> Message {
        Message().data(1, entry.bytes).number(2, 1).number(3, size).number(4, index).number(5, batch)
    }

    @Test("Every parameter of an entry is kept, and the issuer is found in its name too")
    func entries() throws {
        let cases: [(Message, String)] = [
            (Self.entry("ada", issuer: "Forum"), "totp/Forum:ada?secret=\(Self.seed)&issuer=Forum"),
            (Self.entry("Forum:ada", issuer: "Forum"), "totp/Forum:ada?secret=\(Self.seed)&issuer=Forum"),
            (Self.entry("Forum: ada"), "totp/Forum:ada?secret=\(Self.seed)&issuer=Forum"),
            (
                Self.entry("ada", issuer: "Forum").number(4, 3).number(5, 2).number(6, 1).number(7, 300),
                "hotp/Forum:ada?secret=\(Self.seed)&issuer=Forum&algorithm=SHA512&digits=8&counter=300"
            ),
            // Fields that are not known, of every kind.
            (
                Message(
                    bytes: Self.entry("ada", issuer: "Forum").number(8, 9).data(90, [1]).bytes + [0x4d, 1, 2, 3, 4]),
                "totp/Forum:ada?secret=\(Self.seed)&issuer=Forum"
            ),
        ]
        for (entry, address) in cases {
            #expect(try read(Self.transfer(entry).address).listing == [Self.forum + "otpauth://" + address])
        }
        // In one of three places, such bytes are four pluses.
        let pluses: [UInt8] = [0xfb, 0xef, 0xbe, 0, 0xfb, 0xef, 0xbe, 0, 0xfb, 0xef, 0xbe]
        let plus = Message().data(9, pluses).data(1, Self.entry("ada", issuer: "Forum").bytes)
        let text = Base64.encode(plus.bytes)
        try #require(text.contains("+"))
        // A form turns `+` into a space, and some programs leave out the padding.
        for data in [text, text.replacing("+", with: " "), text.replacing("=", with: "")] {
            #expect(try read(GoogleTransfer.prefix + data).items.count == 1, "\(data)")
        }
    }

    @Test("An entry with unknown values is left out by name, and one without a name by its number")
    func unknownEntries() throws {
        for odd in [
            Self.entry("eve", issuer: "Odd").number(4, 5), Self.entry("eve", issuer: "Odd").number(5, 3),
            Self.entry("eve", issuer: "Odd").number(6, 3), Message().data(2, Array("Odd:eve".utf8)),
        ] {
            let good = Self.entry("ada", issuer: "Forum")
            let contents = try read(Message().data(1, good.bytes).data(1, odd.bytes).number(3, 1).address)
            #expect(contents.items.count == 1 && contents.refused.map(\.name) == ["Odd"])
        }
        let contents = try read(
            Message().data(1, Self.entry("ada").bytes).data(1, Message().number(4, 9).bytes).address)
        #expect(contents.refused.map(\.name) == ["entry 2 of line 1"])
    }

    @Test("A transfer whose codes are not all there is incomplete, and says which are missing")
    func parts() throws {
        func part(_ index: UInt64, of size: UInt64 = 3, batch: UInt64 = 7) -> String {
            Self.transfer(Self.entry("user\(index)", issuer: "F\(batch)"), size: size, index: index, batch: batch)
                .address
        }
        #expect(try read(part(2) + part(0) + part(1)).refused == [])
        let missing = try read(part(1) + part(1))
        #expect(missing.refused.map(\.name) == ["code 1 of 3 of the transfer", "code 3 of 3 of the transfer"])
        #expect(missing.items.count == 1)
        // Two transfers in one file.
        #expect(try read(part(0, of: 1, batch: 8) + part(0) + part(1) + part(2)).refused == [])
        #expect(try read(part(3) + part(0) + part(1) + part(2)).refused.map(\.name) == ["line 1"])
        #expect("too many") { try read(part(0, of: 101)) } throws: { error in
            if case .limit("codes of one transfer", found: 101, allowed: 100) = error as? ForeignFailure {
                true
            } else {
                false
            }
        }
    }

    @Test("A file of very many transfers is refused, since each may lack a hundred codes")
    func manyTransfers() throws {
        let lines = (0...1_000 as ClosedRange<UInt64>).map { batch in
            Self.transfer(Self.entry("ada"), size: 2, index: 0, batch: batch).address
        }
        #expect(throws: ForeignFailure.limit("transfers", found: 1_001, allowed: 1_000)) { try read(lines.joined()) }
        #expect(try read(lines.dropLast().joined()).refused.count == 1_000)
    }

    @Test("A transfer that was cut, or whose lengths are wrong, is damaged as a whole")
    func cutTransfers() throws {
        let whole = Self.transfer(Self.entry("ada", issuer: "Forum")).bytes
        let entry = 2 + Self.entry("ada", issuer: "Forum").bytes.count
        // Between two fields, a message may end.
        for count in 1..<entry {
            #expect(throws: ForeignFailure.self, "\(count)") {
                try read(Message(bytes: Array(whole.prefix(count))).address)
            }
        }
        for bytes: [UInt8] in [
            [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f],
            [0x00, 0x01], [0x0b], [0x08, 0x01], [0x1a, 0x00], [0x18] + [UInt8](repeating: 0xff, count: 10),
            [0x18] + [UInt8](repeating: 0xff, count: 9) + [0x02], [0x0a, 0x02, 0x08, 0x01],
        ] {
            #expect(throws: ForeignFailure.self, "\(bytes)") { try read(Message(bytes: bytes).address) }
        }
    }

    @Test("A picture needs a program, which a pipe cannot be given to")
    func picture() throws {
        let bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        let file = ForeignFile(name: "a.png", SecretBytes(copying: bytes), modified: .reference)
        for path in ["-", "a.png"] {
            let input = ForeignInput(path: path, .file(file))
            #expect(try KnownFormats.recognise(input).name == "qr-picture")
            #expect("\(path)") {
                try QRPictureFormat().read(input, GivenSecrets(text: nil))
            } throws: { error in
                switch error as? ForeignFailure {
                case .needsProgram("zbarimg", _): path == "a.png"
                case .refused: path == "-"
                default: false
                }
            }
        }
        #expect(try KnownFormats.recognise(ForeignReading.input([0xff, 0xd8, 0xff, 0xe0])).name == "qr-picture")
    }
}
