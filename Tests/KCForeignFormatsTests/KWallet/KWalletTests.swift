import KCByteStreams
import KCCryptography
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing a KDE wallet")
struct KWalletTests {
    /// Reads a wallet from a folder, with its salt beside it.
    private func read(
        _ bytes: [UInt8], salt: [UInt8]? = [UInt8](1...56), password: String = "correct horse"
    ) throws -> ForeignContents {
        let folder = try TemporaryFolder(inMemory: true)
        let path = try folder.write("kdewallet.kwl", bytes)
        if let salt { try folder.write("kdewallet.salt", salt) }
        let file = try ForeignFile(reading: OpenFile.reading(path))
        return try KWalletFormat().read(ForeignInput(path: path, .file(file)), GivenSecrets(text: password))
    }

    /// A wallet that opens without PBKDF2.
    private static var quick: WalletWriter {
        var writer = WalletWriter()
        writer.form = .standardWithoutSalt
        return writer
    }

    @Test("The test wallet of oo7 opens")
    func genuine() throws {
        let name = "oo7/blowfish_cbc_pbkdf2_sha512_manual"
        let (wallet, salt) = (try ForeignReading.fixture(name + ".kwl"), try ForeignReading.fixture(name + ".salt"))
        let contents = try read(wallet, salt: salt, password: "password")
        #expect(contents.details == "wallet 'kdewallet'")
        #expect(try contents.listing == ["genp svce=test2 acct=help: ttttt"])
        #expect(throws: ForeignFailure.wrongPasswordOrDamaged) { try read(wallet, salt: salt, password: "Password") }
        #expect(throws: ForeignFailure.needsFile("kdewallet.salt")) { try read(wallet, salt: nil) }
    }

    @Test("Passwords, bytes and maps are imported from wallets of every form", arguments: WalletWriter.Form.allCases)
    func forms(_ form: WalletWriter.Form) throws {
        var writer = WalletWriter()
        writer.form = form
        let contents = try read(writer.file(), salt: form.hasSalt ? writer.salt : nil)
        #expect(contents.refused.isEmpty)
        #expect(
            try contents.listing
                == [
                    #"genp svce=Form Data acct=https://example.org/ desc=map: {"password":"two","remember":"","username":"bob"}"#,
                    #"genp svce=Form Data acct=no address desc=map: {"password":"three","username":null}"#,
                    "genp svce=Passwords acct=blob desc=stream: \0\u{fffd}\u{fffd}",
                    "genp svce=Passwords acct=empty: ",
                    "genp svce=Passwords acct=mail: p\u{e4}ss 🔑\n",
                    "genp svce=Passwords acct=no blob desc=stream: no secret",
                    "genp svce=Passwords acct=none: no secret",
                    "genp svce=Passwords acct=other desc=unknown: \u{1}\u{2}",
                    "inet srvr=example.com acct=ada: secret",
                    "inet srvr=example.org acct=bob: two",
                ].sorted())
        #expect(try contents.uuids == read(writer.file(), salt: form.hasSalt ? writer.salt : nil).uuids)
    }

    @Test("What may be secret in the address of a form is in no attribute, and a token is a secret")
    func addresses() throws {
        var writer = Self.quick
        let token = String(repeating: "0123abcd", count: 5)
        writer.folders = [
            (
                "Form Data",
                [
                    (
                        "https://ada:SECRETPW@h.example/login?token=SECRETTOK#form1",
                        .map([("login", "ada"), ("password", "pw"), ("more", "x")])
                    ), ("https://h.example/login?other#", .map([("login", "bob"), ("password", "pw"), ("more", "y")])),
                    ("https://ada:12/34SECRET@h.example", .map([("login", "ada"), ("password", "p")])),
                    ("https://git.example/#", .map([("login", token), ("password", "x-oauth-basic")])),
                ]
            )
        ]
        let contents = try read(writer.file())
        for (item, _) in try contents.entries { #expect(!"\(item)".contains("SECRET") && !"\(item)".contains(token)) }
        let listing = try contents.listing
        #expect(listing.contains("inet srvr=git.example: \(token)"))
        #expect(listing.contains { $0.contains("desc=field: https://ada:12/34SECRET@h.example") })
        #expect(
            listing.contains { $0.contains("desc=field: https://ada:SECRETPW@h.example/login?token=SECRETTOK#form1") })
        #expect(contents.items.count == 8)
        #expect(contents.refused.isEmpty)
        #expect(try read(writer.file()).uuids == contents.uuids)
    }

    @Test("Passwords of any length open wallets without a salt", arguments: [0, 1, 15, 16, 17, 32, 33, 48, 49, 100])
    func passwords(length: Int) throws {
        for form in [WalletWriter.Form.old, .standardWithoutSalt] {
            var writer = WalletWriter()
            writer.form = form
            writer.password = String("0123456789abcdefghijklmnopqrstuvwxyz".cycled.prefix(length))
            let file = try writer.file()
            #expect(try read(file, password: writer.password).items.count == 10)
            #expect(throws: ForeignFailure.wrongPasswordOrDamaged) { try read(file, password: writer.password + "x") }
        }
    }

    @Test("Content of any length passes its integrity check", arguments: 45..<75)
    func lengths(count: Int) throws {
        var writer = Self.quick
        writer.folders = [("f", [("k", .stream([UInt8](repeating: 1, count: count)))])]
        #expect(try read(writer.file()).items.count == 1)
    }

    @Test("An unknown version and a number above its limit are refused with the reason")
    func limits() throws {
        let file = try Self.quick.file()
        #expect(throws: ForeignFailure.unknownVariant("version 1.0")) { try read(file.replacing(at: 12, with: 1)) }
        #expect(throws: ForeignFailure.unknownVariant("a cipher or hash other than KDE's")) {
            try read(file.replacing(at: 15, with: 3))
        }
        #expect(throws: ForeignFailure.limit("folders", found: 0xff00_0003, allowed: 65_535)) {
            try read(file.replacing(at: 16, with: 0xff))
        }
        #expect(throws: ForeignFailure.damaged("it has a salt that its cipher does not use")) {
            try read(WalletWriter().file(), salt: [])
        }
    }

    @Test("A plaintext index that differs from the content is damage")
    func index() throws {
        var writer = Self.quick
        writer.folders = [("f", [("k", .password("secret"))]), ("g", [])]
        let file = try writer.file()
        #expect(try read(file).listing == ["genp svce=f acct=k: secret"])
        // Bytes in the hash of the first folder, then in that of its entry.
        for place in [20, 35, 40, 55, 56, 60, 71] {
            #expect(throws: ForeignFailure.damaged("its index does not match its contents"), "\(place)") {
                try read(file.replacing(at: place, with: file[place] ^ 1))
            }
        }
    }

    @Test("A truncated wallet is refused, and one with an altered byte is refused or yields the original items")
    func altered() throws {
        var writer = Self.quick
        writer.folders = [("f", [("k", .password("secret")), ("l", .stream([1, 2, 3]))])]
        let file = try writer.file()
        let listing = try read(file).listing
        for count in file.indices {
            #expect(throws: ForeignFailure.self, "\(count) bytes") { try read(Array(file.prefix(count))) }
        }
        var (refused, accepted) = (0, 0)
        for index in stride(from: 0, to: file.count, by: 2) {
            do {
                let contents = try read(file.replacing(at: index, with: file[index] ^ 0x41))
                #expect(try contents.listing == listing, "byte \(index)")
                accepted += 1
            } catch is ForeignFailure {
                refused += 1
            }
        }
        // A few bytes of the header mean nothing.
        #expect((1..<10).contains(accepted) && refused > 50, "\(accepted) \(refused)")
    }

    @Test("Malformed content under the right password is read or refused", arguments: 0..<4)
    func hostileContent(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<40 {
            var writer = Self.quick
            let (kind, place, byte) = (random.next() % 3, random.next(), UInt8(truncatingIfNeeded: random.next()))
            writer.alter = { bytes in
                let index = Int(place % UInt64(bytes.count))
                switch kind {
                case 0: bytes[index] = byte
                case 1: bytes.removeSubrange(index..<min(bytes.count, index + Int(byte % 8)))
                default: bytes.replaceSubrange(index..<min(bytes.count, index + 4), with: [0xff, 0xff, 0xff, byte])
                }
            }
            do { _ = try read(writer.file()) } catch { #expect(error is ForeignFailure, "\(error)") }
        }
    }
}

extension String {
    /// The text repeated, long enough for every password in these tests.
    fileprivate var cycled: String { String(repeating: self, count: 4) }
}
