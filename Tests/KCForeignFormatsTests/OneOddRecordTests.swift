import KCAgeEncryption
import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

/// Each format with one record that cannot be read between two that can.
@Suite("One record that cannot be read", .waitsForPrograms)
struct OneOddRecordTests {
    private enum Outcome {
        /// The others are imported, and it is named.
        case leftOut(as: String)
        /// Nothing is imported, for the reason given, with such an error.
        case refused(because: String, (any Error) -> Bool)
    }

    private struct Case: Sendable {
        let format: String
        let outcome: @Sendable () -> Outcome
        /// Reads the file with and without the odd record.
        let read: @Sendable (_ isOdd: Bool) throws -> ForeignContents

        init(
            _ format: String, _ outcome: @autoclosure @escaping @Sendable () -> Outcome,
            _ read: @escaping @Sendable (Bool) throws -> ForeignContents
        ) {
            self.format = format
            self.outcome = outcome
            self.read = read
        }
    }

    private static func text(_ parts: [String?], as format: any ForeignFormat) throws -> ForeignContents {
        try ForeignReading.read(parts.compactMap(\.self).joined(), as: format)
    }

    private static func plain(_ number: Int, _ secret: String, date: String = "1") -> String {
        "[\(number)]\nitem-type=0\ndisplay-name=D\(number)\nsecret=\(secret)\nmtime=\(date)\nctime=1\n\n"
            + "[\(number):attribute0]\nname=n\ntype=string\nvalue=v\(number)\n\n"
    }

    private static let cases = [
        Case("gnome-keyring", .leftOut(as: "line 19")) { isOdd in
            try text(
                ["[keyring]\n\n", plain(1, "a"), isOdd ? plain(2, "x", date: "late") : nil, plain(3, "b")],
                as: GnomeKeyringFormat())
        },
        Case("gnome-keyring", .leftOut(as: "Odd")) { isOdd in
            var writer = KeyringWriter()
            writer.items = [
                WrittenItem(label: "A", attributes: [("a", "1")], secret: [1]),
                WrittenItem(label: "B", attributes: [("a", "2")], secret: [2]),
            ]
            if isOdd {
                writer.items.insert(
                    WrittenItem(label: "Odd", attributes: [("a", "1"), ("a", "2")], secret: [3], accessEntries: 1),
                    at: 1)
            }
            return try ForeignReading.read(writer.file(), as: GnomeKeyringFormat(), password: "correct horse")
        },
        Case(
            "kcbackup-items",
            .refused(
                because: "it is a list of what to do, which is corrected and given again",
                { ($0 as? ItemLines.Failure)?.line == 2 })
        ) { isOdd in
            let line = { (name: String) in #"{"class":"genp","attributes":{"svce":"\#(name)"},"secret":"s"}"# + "\n" }
            return try text([line("a"), isOdd ? "{\"attributes\":{}}\n" : nil, line("b")], as: ItemLinesFormat())
        },
        Case("kwallet", .leftOut(as: "f/odd")) { isOdd in
            var writer = WalletWriter()
            writer.form = .old
            let odd: [(key: String, value: WalletWriter.Value)] = [("odd", .map([("x", "1"), ("x", "2")]))]
            writer.folders = [
                ("f", [("a", .password("1"))] + (isOdd ? odd : []) + [("b", .password("2"))])
            ]
            return try ForeignReading.read(writer.file(), as: KWalletFormat(), password: "correct horse")
        },
        Case("kwallet", .leftOut(as: "f/odd")) { isOdd in
            var writer = WalletWriter()
            writer.form = .old
            let odd: [(key: String, value: WalletWriter.Value)] = [("odd", .raw(1, [0, 0, 0, 2, 0, 0x61, 0]))]
            writer.folders = [
                ("f", [("a", .password("1"))] + (isOdd ? odd : []) + [("b", .password("2"))])
            ]
            return try ForeignReading.read(writer.file(), as: KWalletFormat(), password: "correct horse")
        },
        Case("csv", .leftOut(as: "line 3")) { isOdd in
            let odd = isOdd ? Array("o,,ada,na".utf8) + [0xef] + Array("ve\n".utf8) : []
            return try ForeignReading.read(
                Array("name,url,username,password\na,,ada,1\n".utf8) + odd + Array("b,,ada,2\n".utf8), as: CSVFormat())
        },
        Case("csv", .leftOut(as: "line 3")) { isOdd in
            try text(
                ["name,url,username,password\na,,ada,1\n", isOdd ? "o,ada,2\n" : nil, "b,,ada,2\n"], as: CSVFormat())
        },
        Case("macos-keychain", .leftOut(as: "Odd")) { isOdd in
            var writer = KychWriter()
            for name in isOdd ? ["a", "Odd", "b"] : ["a", "b"] {
                try writer.addPassword(
                    0x8000_0000, [("PrintName", .text(name)), ("svce", .text(name))], Array(name.utf8))
                if name == "Odd" { writer.records[writer.records.count - 2].data.removeLast(3) }
            }
            return try ForeignReading.read(writer.file(), as: MacKeychainFormat(), password: "correct horse")
        },
        Case(
            "macos-keychain",
            .refused(
                because: "a record is found by its place in the file, and one beyond its table means damage",
                { $0 as? ForeignFailure == .damaged("it ends within its last record") })
        ) { isOdd in
            var writer = KychWriter()
            for name in ["a", "b"] {
                try writer.addPassword(0x8000_0000, [("svce", .text("service-" + name))], Array(name.utf8))
            }
            var file = try writer.file()
            let place = try #require(file.firstRange(of: Array("service-a".utf8))).lowerBound - 4
            // The length of the text.
            if isOdd { file[place] = 0x7f }
            return try ForeignReading.read(file, as: MacKeychainFormat(), password: "correct horse")
        },
        Case("dashlane", .leftOut(as: "ids.csv, line 3")) { isOdd in
            let rows = ["type,name,number\n", "card,a,1\n", isOdd ? "card\n" : nil, "card,b,2\n"]
            return try dashlane("ids.csv", rows.compactMap(\.self).joined())
        },
        Case("dashlane", .leftOut(as: "securenotes.csv, line 3")) { isOdd in
            let rows = ["title,note\n", "a,1\n", isOdd ? "o,\"2\"x\n" : nil, "b,2\n"]
            return try dashlane("securenotes.csv", rows.compactMap(\.self).joined())
        },
        Case("git-credentials", .leftOut(as: "line 2")) { isOdd in
            try text(
                ["https://u:1@a.example\n", isOdd ? "https://u:p@ss@x.example\n" : nil, "https://u:2@b.example\n"],
                as: GitCredentialsFormat())
        },
        Case("pass", .leftOut(as: "odd")) { isOdd in
            let folder = try TemporaryFolder()
            for name in isOdd ? ["a", "odd", "b"] : ["a", "b"] { try folder.write(name + ".gpg", Array(name.utf8)) }
            try folder.write(".gpg-id", [])
            return try PassFormat().read(ForeignInput(path: folder.path, .folder), GPGOfAll())
        },
        Case("passage", .leftOut(as: "odd")) { isOdd in
            let folder = try TemporaryFolder()
            let identity = try X25519Identity.generate()
            for name in isOdd ? ["a", "odd", "b"] : ["a", "b"] {
                var encryptor = try AgeEncryptor(recipients: [identity.recipient], to: MemorySink())
                try encryptor.write(name.utf8.span)
                let file = try encryptor.finish()
                try folder.write(name + ".age", name == "odd" ? Array(file.dropLast()) : file)
            }
            let file = ForeignFile(
                name: "identities", IdentityFile.text(of: .x25519(identity), comments: []), modified: .reference)
            return try PassageFormat().read(
                ForeignInput(path: folder.path, .folder), GivenSecrets(text: nil, key: file))
        },
        Case("keepass", .leftOut(as: "Odd")) { isOdd in
            let odd = "<Entry><String><Key>Title</Key><Value>Odd</Value></String></Entry>"
            let entries = [1, 2].map { KDBXForge.entry($0, [("Title", "T\($0)"), ("Password", "{{p}}")]) }
            return try ForeignReading.read(
                KDBXForge().file(KDBXForge.xml(entries[0] + (isOdd ? odd : "") + entries[1])), as: KeePassFormat(),
                password: "pw")
        },
        Case(
            "keepass",
            .refused(
                because: "one key stream runs over all protected values, and after a damaged one all are wrong",
                { $0 as? ForeignFailure == .damaged("a value is not base64") })
        ) { isOdd in
            let odd = "<Entry><String><Key>k</Key><Value Protected=\"True\">*</Value></String></Entry>"
            let entries = [1, 2].map { KDBXForge.entry($0, [("Title", "T\($0)"), ("Password", "{{p}}")]) }
            return try ForeignReading.read(
                KDBXForge().file(KDBXForge.xml(entries[0] + (isOdd ? odd : "") + entries[1])), as: KeePassFormat(),
                password: "pw")
        },
        Case("apple-backup", .leftOut(as: "generic password")) { isOdd in
            func entry(_ name: String, _ number: UInt32) -> BackupForge.Entry {
                BackupForge.Entry(number: number, members: [("svce", .text(name)), ("pdmn", .text("ak"))])
            }
            let folder = try TemporaryFolder()
            let entries = [entry("a", 6), entry("b", 6)]
            try BackupForge(entries: isOdd ? [entries[0], entry("odd", 7), entries[1]] : entries).write(to: folder)
            return try AppleBackupFormat().read(
                ForeignInput(path: folder.path(""), .folder), GivenSecrets(text: "backup pw"))
        },
        Case("password-safe", .leftOut(as: "Odd")) { isOdd in
            try ForeignReading.read(
                ForeignReading.fixture("PasswordSafe/\(isOdd ? "odd" : "loxodo").psafe3"), as: PasswordSafeFormat(),
                password: "pw one")
        },
        Case("opvault", .leftOut(as: "A1")) { isOdd in
            let folder = try TemporaryFolder(inMemory: true)
            var writer = OldOnePasswordTests.vault
            if isOdd { writer.records.append(("A1", OPVaultWriter.Record(overview: "{"))) }
            try writer.write(to: folder)
            return try OPVaultFormat().read(
                ForeignInput(path: folder.path, .folder), GivenSecrets(text: "correct horse"))
        },
        Case("1pif", .leftOut(as: "Odd")) { isOdd in
            try text(
                [OldOnePasswordTests.pif, isOdd ? #"{"uuid":"a","title":"Odd"}"# : nil], as: PIFFormat())
        },
        Case("keychain-dump", .leftOut(as: "Odd")) { isOdd in
            func item(_ label: String, _ data: String) -> String {
                KeychainDumpTests.item(
                    "\"genp\"", ["0x00000007 <blob>=\"\(label)\"", "\"svce\"<blob>=\"\(label)\""], data: data)
            }
            return try text(
                [item("A", "\"1\""), isOdd ? item("Odd", "0x1") : nil, item("B", "\"2\"")],
                as: KeychainDumpFormat())
        },
        Case("kwallet-xml", .leftOut(as: "f/odd")) { isOdd in
            let twice = "<mapentry name=\"x\">1</mapentry>"
            return try text(
                [
                    "<wallet><folder name=\"f\"><password name=\"a\">1</password>",
                    isOdd ? "<map name=\"odd\">\(twice)\(twice)</map>" : nil,
                    "<password name=\"b\">2</password></folder></wallet>",
                ],
                as: KWalletXMLFormat())
        },
        Case("otpauth", .leftOut(as: "line 2")) { isOdd in
            try text(addresses(isOdd), as: OTPAuthFormat())
        },
        Case("qr-picture", .leftOut(as: "line 2")) { isOdd in
            let picture = ForeignFile(name: "a.png", SecretBytes(capacity: 1), modified: .reference)
            return try QRPictureFormat().read(
                ForeignInput(path: "a.png", .file(picture)),
                ScannedCodes(text: addresses(isOdd).compactMap(\.self).joined()))
        },
        Case("ente", .leftOut(as: "line 2")) { isOdd in
            try ForeignReading.read(
                ForeignReading.fixture("Authenticators/ente-\(isOdd ? "odd" : "two").txt"), as: EnteFormat(),
                password: "pw one")
        },
        Case("netrc", .leftOut(as: "line 3")) { isOdd in
            try text(
                [
                    "machine a login u password 1\n", isOdd ? "machine o\n login v passwd x\n" : nil,
                    "machine b password 2\n",
                ],
                as: NetrcFormat())
        },
    ]

    private static func addresses(_ isOdd: Bool) -> [String?] {
        [
            "otpauth://totp/a?secret=MZXQ\n", isOdd ? "otpauth://totp/o?secret=01\n" : nil,
            "otpauth://totp/b?secret=MZXQ\n",
        ]
    }

    /// The texts of QR codes, as if a program had read them.
    private struct ScannedCodes: ForeignSecrets {
        let text: String

        func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {
            throw GivenSecrets.Unexpected()
        }

        func keyFile() throws -> ForeignFile? { nil }

        func textOfQRCodes(in path: String, limit: Int) throws -> SecretBytes { SecretBytes(copying: text.utf8) }
    }

    private static func dashlane(_ name: String, _ table: String) throws -> ForeignContents {
        let header = "username,username2,username3,title,password,note,url,category,otpSecret\n"
        return try ForeignReading.read(
            ZipWriter.zip([("credentials.csv", Array(header.utf8)), (name, Array(table.utf8))]), as: DashlaneFormat())
    }

    @Test("The records around it are imported and it is named, unless it means that the file is damaged")
    func odd() throws {
        for one in Self.cases {
            let whole = try one.read(false)
            #expect(whole.items.count >= 2 && whole.refused == [], "\(one.format)")
            switch one.outcome() {
            case .leftOut(let name):
                let contents = try one.read(true)
                #expect(contents.refused.map(\.name) == [name], "\(one.format): \(contents.refused)")
                #expect(try contents.listing == whole.listing, "\(one.format)")
                // Items of the others have UUIDs of their own, or those of their places in the file.
                if !["apple-backup", "macos-keychain"].contains(one.format) {
                    #expect(try contents.uuids == whole.uuids, "\(one.format)")
                }
                #expect(contents.leftOut.map(\.kind) == whole.leftOut.map(\.kind), "\(one.format)")
            case .refused(let reason, let isExpected):
                #expect("\(one.format), although \(reason)") { try one.read(true) } throws: { isExpected($0) }
            }
        }
    }

    /// Formats whose own tests have such a record.
    private static let elsewhere = [
        "firefox", "chromium", "keepass-xml", "keepass-1", "networkmanager", "kubernetes", "freeotp",
    ]

    @Test("Every format that can be read is in this table, or in that of the formats of objects")
    func complete() {
        #expect(
            Set(Self.cases.map(\.format) + OddRecordTests.formats + Self.elsewhere) == Set(KnownFormats.all.map(\.name))
        )
    }

    @Test("After a damaged entry of .netrc, reading goes on where the next entry begins for certain")
    func netrc() throws {
        let good = ["inet srvr=a acct=u: 1", "inet srvr=b acct=u: 2"]
        let end = "machine b login u password 2\n"
        for (odd, line) in [
            ("machine x password \"a\n", 2), ("machine ada:SECRET login l password p\n", 2),
            ("machine x\nlogin l\nlogin k\n", 4), ("machine x login\n", 3), ("machine x password\n", 3),
            ("machine x account \"a\n", 2), ("machine x password correct horse\n\n", 2),
        ] {
            let contents = try Self.text(["machine a login u password 1\n", odd, end], as: NetrcFormat())
            let found = contents.refused.map(\.name)
            #expect(try contents.listing == good, "\(odd)")
            #expect(found.count == 1 && found.allSatisfy { $0 == "line \(line)" }, "\(odd): \(found)")
        }
        // Pieces of a password become neither a host nor a name.
        let contents = try Self.text(
            [
                "machine a login u password 1\n", "machine x password my old machine SECRET login PART password y\n",
                end,
            ],
            as: NetrcFormat())
        #expect(try contents.listing == good)
        // A macro, and what follows a host that is none, on the same line.
        let both = try Self.text(
            ["machine a:x login y password z machine a login u password 1\nmacdef m\ncd /\n\n", end],
            as: NetrcFormat())
        #expect(try both.listing == good)
        #expect(both.refused.map(\.name) == ["line 1"] && both.leftOut.map(\.kind) == ["macro"])
    }

    @Test("Rows that are not UTF-8 are left out; a table of many such rows is in another encoding, and refused")
    func encodings() throws {
        let head = Array("name,url,username,password\nx,,ada,one\n".utf8)
        let odd = Array("r,,b,".utf8) + [0xe9, 0x0a]
        let contents = try ForeignReading.read(
            head + Array(repeating: odd, count: 100).joined() + Array("y,,b,two\n".utf8), as: CSVFormat())
        #expect(try contents.listing == ["genp svce=x acct=ada: one", "genp svce=y acct=b: two"])
        #expect(contents.refused.map(\.name) == (3...102).map { "line \($0)" })
        #expect(Set(contents.refused.map(\.problem)) == [.damaged("it is not UTF-8")])
        #expect(throws: ForeignFailure.notUTF8(line: 103)) {
            try ForeignReading.read(head + Array(repeating: odd, count: 101).joined(), as: CSVFormat())
        }
        #expect(throws: ForeignFailure.notUTF8(line: 1)) {
            try ForeignReading.read([0xe9, 0x2c] + head, as: CSVFormat())
        }
    }

    @Test("What follows an item without a date in a plain keyring may be a part of its secret, and is not imported")
    func undated() throws {
        func read(_ parts: [String]) throws -> ForeignContents {
            try Self.text(["[keyring]\n\n"] + parts, as: GnomeKeyringFormat())
        }
        let odd = "[2]\nitem-type=0\ndisplay-name=D2\nsecret=x\n\n"
        let inside = "[3]\nitem-type=0\ndisplay-name=SECRET\nsecret=y\n\n"
        let contents = try read([Self.plain(1, "a"), odd, inside, Self.plain(4, "z"), Self.plain(5, "b")])
        #expect(try contents.secretsByLabel == ["D1": Array("a".utf8), "D5": Array("b".utf8)])
        #expect(contents.refused.map(\.name) == ["line 15", "line 20", "line 25"])
        // A file that ends within an item may lack more of them.
        #expect(throws: ForeignFailure.damagedLine(15, "an item has no date")) { try read([Self.plain(1, "a"), odd]) }
        #expect(throws: ForeignFailure.self) { try read([odd]) }
    }

    @Test(
        "Damage of a group concerns the item that it belongs to",
        arguments: [
            ("[2:attribute1\nname=x\nvalue=y\n", "line 27"), ("[2:attribute0]\nname=x\nvalue=y\n", "line 27"),
            ("[2:thing]\n", "line 27"), ("[2:attribute1]\nname=x\nvalue=y\nvalue=z\n", "line 30"),
            ("[2:attribute1]\nno value\n", "line 28"),
        ])
    func parts(odd: String, name: String) throws {
        let contents = try Self.text(
            ["[keyring]\n\n", Self.plain(1, "a"), Self.plain(2, "x"), odd, Self.plain(3, "b")], as: GnomeKeyringFormat()
        )
        #expect(try Set(contents.secretsByLabel.keys) == ["D1", "D3"])
        #expect(contents.refused.map(\.name) == [name])
    }

    @Test("A group of no item, a second group of one name and an incomplete name are named, and no item is lost")
    func strays() throws {
        for (odd, name) in [
            ("[9:attribute0]\nname=x\nvalue=y\n", "line 15"), ("[1]\nmtime=1\n", "line 15"),
            ("[1\nmtime=1\n", "line 15"),
        ] {
            let contents = try Self.text(
                ["[keyring]\n\n", Self.plain(1, "a"), odd, Self.plain(3, "b")], as: GnomeKeyringFormat())
            #expect(try Set(contents.secretsByLabel.keys) == ["D1", "D3"], "\(odd)")
            #expect(contents.refused.map(\.name) == [name], "\(odd)")
        }
    }
}

/// Decrypts every file to its name, except for one.
private struct GPGOfAll: ForeignSecrets {
    func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {
        throw GivenSecrets.Unexpected()
    }

    func keyFile() throws -> ForeignFile? { nil }

    func decryptedByGPG(_ path: String, skipping count: Int, limit: Int) throws -> SecretBytes {
        let name = Path.split(path).name
        if name == "odd.gpg" { throw UnopenedFile.damaged }
        return SecretBytes(copying: name.utf8)
    }
}
