import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing a table of passwords")
struct CSVTests {
    private func read(_ text: String) throws -> ForeignContents { try ForeignReading.read(text, as: CSVFormat()) }

    /// A table of each program, with the expected items.
    static let tables: [(name: String, text: String, items: [String])] = [
        (
            "Chrome",
            "name,url,username,password,note\r\nexample.com,https://example.com/login,ada, pass ,\"two\nlines\"\r\n",
            [
                "genp svce=example.com acct=note (ada) desc=secure note: two\nlines",
                "inet srvr=example.com acct=ada:  pass ",
            ]
        ),
        (
            "Chrome", "name,url,username,password\ncom.example,android://aGFzaA==@com.example.app/,ada,p\n",
            ["genp svce=com.example.app acct=ada: p"]
        ),
        (
            "Apple",
            "Title,URL,Username,Password,Notes,OTPAuth\n\"a.example (ada)\",https://a.example/,ada,\"q\"\"q\",,otpauth://totp/x?secret=MZXQ\n",
            [
                "genp svce=a.example acct=one-time password (ada) desc=one-time password: otpauth://totp/x?secret=MZXQ",
                "inet srvr=a.example acct=ada: q\"q",
            ]
        ),
        (
            "Firefox",
            """
            "url","username","password","httpRealm","formActionOrigin","guid","timeCreated","timeLastUsed","timePasswordChanged"
            "https://a.example","ada","",,"https://a.example","{1}","1700000000000","1","1700000001000"
            "https://a.example","ada","p","","","{2}","1700000000000","1","1700000001000"
            "chrome://FirefoxAccounts","x","{}","Firefox Accounts credentials",,"{3}","1","1","1"

            """, ["inet srvr=a.example acct=ada sdmn=: p", "inet srvr=a.example acct=ada: "]
        ),
        (
            "1Password",
            "Title,Url,Username,Password,OTPAuth,Favorite,Archived,Tags,Notes\nT,,,,,false,false,,\nN,,,,,false,false,,text\nL,https://l.example,a,p,,true,false,x;y,\nO,https://o.example,a,p,,false,true,,\n",
            ["genp svce=N desc=secure note: text", "inet srvr=l.example acct=a: p"]
        ),
        (
            "Bitwarden",
            "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\nWork,1,login,B,,\"PIN: 12: 3\nmore\nSite: \",0,\"https://b.example,https://c.example/a,b\",ada,p,JBSWY3DP\n,,note,N,text,,0,,,,\n",
            [
                "genp svce=B acct=fields (ada) desc=field: PIN: 12: 3\nmore\nSite: ",
                "genp svce=N desc=secure note: text",
                "genp svce=b.example acct=one-time password (ada) desc=one-time password: otpauth://totp/B:ada?secret=JBSWY3DP&issuer=B",
                "inet srvr=b.example acct=ada: p",
            ]
        ),
        (
            "LastPass",
            "url,username,password,totp,extra,name,grouping,fav\nhttp://sn,,,,\"NoteType:SSH Key\nPrivate Key:a\nb\",Key,Work\\x,0\nhttps://l.example,ada,p,,,L,,1\n",
            ["genp svce=Key desc=secure note: NoteType:SSH Key\nPrivate Key:a\nb", "inet srvr=l.example acct=ada: p"]
        ),
        (
            "Dashlane",
            "username,username2,username3,title,password,note,url,category,otpSecret\nada,ada2,,D,p,,https://d.example,Work,\n",
            ["inet srvr=d.example acct=ada: p"]
        ),
        (
            "Proton",
            "type,name,url,email,username,password,note,totp,createTime,modifyTime,vault\nlogin,P,\"https://p.example, https://q.example\",ada@p.example,,p,,,1700000000,1700000001,Personal\ncreditCard,C,,,,,\"{\"\"number\"\":\"\"1\"\"}\",,1,1,Personal\n",
            ["genp svce=C desc=card: {\"number\":\"1\"}", "inet srvr=p.example acct=ada@p.example: p"]
        ),
        (
            "KeePassXC",
            "\"Group\",\"Title\",\"Username\",\"Password\",\"URL\",\"Notes\",\"TOTP\",\"Icon\",\"Last Modified\",\"Created\"\n\"Root/Web\",\"K\",\"ada\",\"p\",\"\",\"\",\"\",\"0\",\"2024-01-02T03:04:05Z\",\"2023-01-02T03:04:05Z\"\n",
            ["genp svce=K acct=ada: p"]
        ),
    ]

    @Test("Each program's table is recognized by its columns, and no cell is lost", arguments: tables.indices)
    func knownTable(index: Int) throws {
        let table = Self.tables[index]
        let input = ForeignReading.input(Array(table.text.utf8))
        #expect(try KnownFormats.recognise(input).name == "csv")
        let contents = try read(table.text)
        #expect(contents.details.contains(table.name))
        #expect(try contents.listing == table.items.sorted())
        #expect(contents.isPlaintext)
        #expect(contents.refused == [])
        // A byte order mark and a missing final line end change nothing.
        #expect(try read("\u{feff}" + table.text).uuids == contents.uuids)
        #expect(try read(String(table.text.dropLast())).listing == contents.listing)
    }

    @Test("Data that is not imported is counted")
    func leftOut() throws {
        #expect(try read(Self.tables[3].text).leftOut.map(\.kind) == ["date of last use", "key of a Firefox account"])
        #expect(
            try read(Self.tables[4].text).leftOut.map { "\($0.count) \($0.kind)" }
                == ["1 record without a secret", "1 favorite mark", "1 archived record"])
    }

    @Test("Dates, realms, folders and additional names are kept")
    func attributes() throws {
        var visitor = ListingVisitor()
        try read(Self.tables[3].text).items.visitItems(&visitor)
        #expect(visitor.items.map { $0.attributes.text(.atyp) }.sorted { $0 ?? "" < $1 ?? "" } == ["form", "http"])
        #expect(
            visitor.items.allSatisfy { $0.created.seconds == 1_700_000_000 && $0.modified.seconds == 1_700_000_001 })
        visitor = ListingVisitor()
        try read(Self.tables[7].text).items.visitItems(&visitor)
        let extra = visitor.items[0].extra.map { "\($0.name)=\($0.value)" }
        #expect(extra.contains("username.2=ada2") && extra.contains("source.folder=Work"))
    }

    @Test("The order of rows and columns does not change the items, and passwords do not affect the UUIDs")
    func stable() throws {
        let one = try read("name,url,username,password\na,https://a.example,x,1\nb,https://b.example,y,2\n")
        let other = try read("password,name,username,url\n22,b,y,https://b.example\n11,a,x,https://a.example\n")
        #expect(try one.uuids == other.uuids)
    }

    @Test("A table with unknown columns is refused unless the user names them; other columns become fields")
    func named() throws {
        let text = "Site,Login,Passcode,PIN\nexample.com,ada,p,1234\n"
        let input = ForeignReading.input(Array(text.utf8))
        #expect(throws: ForeignFailure.unknownColumns) { try KnownFormats.recognise(input) }
        let format = CSVFormat(columns: [.url: "Site", .username: "LOGIN", .password: "passcode"])
        let contents = try ForeignReading.read(text, as: format)
        #expect(
            try contents.listing == [
                "genp svce=example.com acct=PIN (ada) desc=field: 1234", "inet srvr=example.com acct=ada: p",
            ])
        #expect(throws: ForeignFailure.noSuchColumn("password", columns: ["Site", "Login", "Passcode", "PIN"])) {
            try ForeignReading.read(text, as: CSVFormat(columns: [.url: "site", .password: "password"]))
        }
    }

    @Test("A row with the wrong number of cells is refused by its line number, and the others are read")
    func ragged() throws {
        let contents = try read("name,url,username,password\na,https://a.example,x\nb,https://b.example,y,2\nc,,,d,e\n")
        #expect(contents.items.count == 1)
        #expect(contents.refused.map(\.name) == ["line 2", "line 4"])
    }

    @Test(
        "A table whose rows end in two ways is refused with the line number",
        arguments: [("a,b,c,d\re,f,g,h", 2), ("a,b,c,d\r", 2)])
    func broken(rows: String, line: Int) throws {
        let failure = #expect(throws: ForeignFailure.self) { try read("name,url,username,password\n" + rows) }
        guard case .damagedLine(line, _) = failure else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
    }

    @Test(
        "A row with a misplaced quotation mark is named by its first line, and reading goes on in the next line",
        arguments: [
            ("a,b,c,\"d\n", ["line 3"]), ("a,b,c,\"d\"e\n", ["line 3"]), ("a,b,c,d\"e\n", ["line 3"]),
            ("\"a,b,c,d\n", ["line 3"]), ("a,\"b \"c\" d\n,e\",f\n", ["line 3", "line 4"]),
            ("\n\na,b,c,\"d\r", ["line 5"]), ("a,b,\"c\n\nd\",e\"\n", ["line 3", "line 5"]),
        ])
    func badQuote(rows: String, lines: [String]) throws {
        let good = "name,url,username,password\nx,https://x.example,ada,one\n"
        let last = "y,https://y.example,ada,two\n\"z\",https://z.example,ada,\"th\"\"ree\"\n"
        for ending in ["\n", "\r\n"] where !rows.contains("\r") || ending == "\n" {
            let text = (good + rows.replacing("\r", with: "\n") + last).replacing("\n", with: ending)
            let contents = try read(text)
            #expect(
                try contents.listing == [
                    "inet srvr=x.example acct=ada: one", "inet srvr=y.example acct=ada: two",
                    "inet srvr=z.example acct=ada: th\"ree",
                ], "\(rows)")
            #expect(contents.refused.map(\.name) == lines, "\(rows)")
        }
    }

    @Test("A table with more misplaced quotation marks than an accident makes is refused")
    func manyBadQuotes() throws {
        let head = "name,url,username,password\nx,https://x.example,ada,one\n"
        #expect(try read(head + String(repeating: "\"a\n", count: 100)).refused.count == 100)
        #expect(throws: ForeignFailure.damagedLine(103, "a quotation mark is not closed")) {
            try read(head + String(repeating: "\"a\n", count: 101))
        }
    }

    @Test("Text that is not UTF-8 is refused, and a zero byte is read as a character")
    func bytes() throws {
        let head = Array("name,url,username,password\na,,b,".utf8)
        #expect(throws: ForeignFailure.notUTF8(line: 2)) {
            try ForeignReading.read(head + [0xff, 0x0a], as: CSVFormat())
        }
        #expect(
            try ForeignReading.read(head + [0x61, 0, 0x62], as: CSVFormat()).listing == ["genp svce=a acct=b: a\0b"])
        #expect(throws: ForeignFailure.self) { try read("name,url,username,password,Password\na,b,c,d,e\n") }
    }

    @Test("A cell of 1 MiB is read, and a larger one is refused")
    func large() throws {
        let head = "name,url,username,password,note\na,,b,c,"
        let note = String(repeating: "x", count: CSVReader.cellLimit)
        #expect(try read(head + note).items.count == 2)
        #expect(throws: ForeignFailure.limit("bytes of a cell", found: 1_048_577, allowed: 1_048_576)) {
            try read(head + note + "x")
        }
        let failure = #expect(throws: ForeignFailure.self) { try read(String(repeating: "a,", count: 300)) }
        #expect(failure == .limit("columns", found: 257, allowed: 256))
        #expect(throws: ForeignFailure.self) {
            try read(head + "\"" + String(repeating: "x", count: CSVReader.rowLimit + 1))
        }
    }

    @Test("A truncated table yields the secrets of its rows or is refused")
    func truncated() throws {
        let bytes = Array(Self.tables[0].text.utf8)
        for length in 0..<bytes.count {
            do {
                for line in try ForeignReading.read(Array(bytes.prefix(length)), as: CSVFormat()).listing {
                    // Without a checksum, a file that ends in the middle of a cell is valid.
                    #expect(
                        line.hasPrefix("inet srvr=example.com acct=ada: ") || line.hasPrefix("genp svce=example.com"))
                }
            } catch is ForeignFailure {
                // Refused.
            }
        }
    }

    @Test("A randomly altered table is read or refused, and never crashes the program")
    func fuzzed() {
        var random = SeededRandom(seed: 11)
        for _ in 0..<3_000 {
            var bytes = Array(Self.tables.randomElement(using: &random)?.text.utf8 ?? "".utf8)
            for _ in 0...Int.random(in: 0..<5, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(Array("\",\n\r\0:".utf8).randomElement(using: &random) ?? 0, at: index)
                }
            }
            do {
                _ = try ForeignReading.read(bytes, as: CSVFormat()).listing
            } catch is ForeignFailure {
                // Refused.
            } catch {
                Issue.record("another failure: \(error)")
            }
        }
    }

    @Test("Apple Passwords: an address without a label is a one-time password, of the code that its seed gives")
    func appleCode() throws {
        let contents = try read(
            "Title,URL,Username,Password,Notes,OTPAuth\n"
                + "shop.example (zoe),https://shop.example/,zoe,pw-1,,otpauth://totp?secret=JBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30\n"
        )
        #expect(
            try contents.listing == [
                "genp svce=shop.example acct=one-time password (zoe) desc=one-time password: "
                    + "otpauth://totp/shop.example%20%28zoe%29:zoe?secret=JBSWY3DPEHPK3PXP&issuer=shop.example%20%28zoe%29",
                "inet srvr=shop.example acct=zoe: pw-1",
            ])
        #expect(contents.refused == [])
    }

    @Test("Firefox: a repeated ID refuses the later row, by its line, and an equal row is the same record")
    func repeatedID() throws {
        let head =
            #""url","username","password","httpRealm","formActionOrigin","guid","timeCreated","timeLastUsed","timePasswordChanged""#
            + "\n"
        func row(_ host: String, _ id: String, date: String = "1600000000000") -> String {
            #""https://\#(host).example","ada","pw-\#(host)",,"https://\#(host).example","{\#(id)}","\#(date)","\#(date)","\#(date)""#
                + "\n"
        }
        let contents = try read(
            head + row("a", "4d99") + row("b", "4d99") + row("c", "4d9a") + row("a", "4d99", date: "1600000000001"))
        #expect(
            try contents.listing == ["inet srvr=a.example acct=ada: pw-a", "inet srvr=c.example acct=ada: pw-c"])
        #expect(contents.refused.map(\.name) == ["line 3"] && contents.duplicates == 1)
        #expect(contents.refused.map(\.problem) == [.damaged("another record has the same ID")])
    }
}
