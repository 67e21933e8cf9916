import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("CSV dialects of spreadsheets and password managers")
struct CSVShapeTests {
    private static let chrome = "name,url,username,password,note\nT,https://t.example,ada,\u{fc}ber 🔑,n\n"
    private static let items = [
        "genp svce=T acct=note (ada) desc=secure note: n", "inet srvr=t.example acct=ada: \u{fc}ber 🔑",
    ]

    private func read(_ bytes: [UInt8], name: String = "file") throws -> ForeignContents {
        let input = ForeignReading.input(bytes, name: name)
        return try KnownFormats.recognise(input).read(input, GivenSecrets(text: nil))
    }

    @Test("UTF-16 of either byte order, semicolons, tabs, a sep= line and CR line ends are read")
    func shapes() throws {
        let text = Self.chrome
        let units = Array("\u{feff}\(text)".utf16)
        var shapes = [
            units.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }, units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] },
        ]
        for separator in [";", "\t", ","] {
            let changed = text.replacing(",", with: separator)
            shapes += [changed, "sep=\(separator)\r\n" + changed, "\u{feff}" + changed].map { Array($0.utf8) }
        }
        shapes += ["\r", "\r\n"].map { Array(text.replacing("\n", with: $0).utf8) }
        shapes.append(Array("sep=|\n".utf8) + Array(text.replacing(",", with: "|").utf8))
        for shape in shapes {
            #expect(try read(shape).listing == Self.items, "\(String(decoding: shape.prefix(40), as: UTF8.self))")
        }
    }

    @Test("Commas in cells between semicolons, and line ends within quotation marks, are kept")
    func kept() throws {
        let text = "name;url;username;password\r\"a, b\";;ada;\"x;\"\"\r\n\"\r"
        #expect(try read(Array(text.utf8)).listing == ["genp svce=a, b acct=ada: x;\"\r\n"])
    }

    @Test("Text that is neither valid UTF-16 nor UTF-8 is refused")
    func encodings() throws {
        #expect(throws: ForeignFailure.damaged("it begins like UTF-16, but is not UTF-16")) {
            try read([0xff, 0xfe, 0x61], name: "a.csv")
        }
        #expect(throws: ForeignFailure.unknownFormat) { try read([0xff, 0xfe, 0x61]) }
        #expect(throws: ForeignFailure.notUTF8(line: 2)) {
            try read(Array("name,url,username,password\n".utf8) + [0xfc, 0x0a])
        }
    }

    @Test("A malformed first row is reported if the file name or the user says that the file is a table")
    func firstRow() throws {
        let text = "name,url,\"username,password\nT,,ada,p\n"
        #expect(throws: ForeignFailure.damagedLine(1, "a quotation mark is not closed")) {
            try read(Array(text.utf8), name: "Export.CSV")
        }
        #expect(throws: ForeignFailure.unknownFormat) { try read(Array(text.utf8)) }
        let format = CSVFormat()
        #expect(
            try format.problem(with: ForeignReading.input(Array(text.utf8)))
                == .damagedLine(1, "a quotation mark is not closed"))
        #expect(try format.problem(with: ForeignReading.input(Array("a;b;c".utf8))) == .unknownColumns)
        #expect(try format.problem(with: ForeignReading.input(Array(Self.chrome.utf8))) == nil)
    }

    @Test("The error for a missing column lists the existing columns, and a duplicate column is refused by name")
    func columns() throws {
        func read(_ text: String, _ columns: [ChosenColumn: String]) throws -> ForeignContents {
            try ForeignReading.read(text, as: CSVFormat(columns: columns))
        }
        let text = "Site;Login;Code\nexample.com;ada;p\n"
        #expect(try read(text, [.url: "site", .password: "CODE"]).items.count == 2)
        #expect(throws: ForeignFailure.noSuchColumn("Cod", columns: ["Site", "Login", "Code"])) {
            try read(text, [.url: "Site", .password: "Cod"])
        }
        #expect(throws: ForeignFailure.columnTwice("CODE")) {
            try read("Site,Code,CODE\na.example,1,2\n", [.password: "code"])
        }
        #expect(throws: ForeignFailure.columnTwice("Password")) {
            try self.read(Array("name,url,username,password,Password\na,b,c,d,e\n".utf8))
        }
        // Columns without a role may share a name, and spreadsheets add some that have none.
        let fields = try read("Code,x,x,,\np,1,2,,\n", [.password: "Code"])
        #expect(fields.refused == [] && fields.items.count == 3)
    }

    @Test("If a table has no header, no message shows the secrets in its first row")
    func nameless() throws {
        let text = "example.com,ada,hunter2\nexample.org,bob,hunter3\n"
        #expect(throws: ForeignFailure.unknownFormat) { try read(Array(text.utf8)) }
        // Some passwords are column names, or contain one.
        for secret in ["hunter2", "mypass1", "password"] {
            #expect(throws: ForeignFailure.noSuchColumn("Code", columns: [])) {
                try ForeignReading.read(
                    text.replacing("hunter2", with: secret), as: CSVFormat(columns: [.password: "Code"]))
            }
        }
        // A cell may have a searched name by chance.
        #expect(throws: ForeignFailure.noSuchColumn("Code", columns: [])) {
            try ForeignReading.read(text, as: CSVFormat(columns: [.username: "Ada", .password: "Code"]))
        }
    }

    @Test("Several fields in a Bitwarden row become one item, since a line of a secret may look like a field")
    func fields() throws {
        func listing(_ fields: String) throws -> [String] {
            let head =
                "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp"
            return try read(Array("\(head)\n,,login,B,,\"\(fields)\",0,,,p,\n".utf8)).listing
        }
        #expect(try listing("PIN: 12: 3") == ["genp svce=B acct=PIN desc=field: 12: 3", "genp svce=B: p"])
        #expect(try listing("PIN: ") == ["genp svce=B acct=PIN desc=field: ", "genp svce=B: p"])
        for text in ["key: -----BEGIN\nComment: secret\nline", "A: 1\nB: 2", "no field"] {
            #expect(try listing(text) == ["genp svce=B acct=fields desc=field: \(text)", "genp svce=B: p"])
        }
    }

    @Test("LastPass folders and Proton Pass aliases are not logins, and a possible HTML escape is reported")
    func noLogins() throws {
        let lastPass =
            "url,username,password,totp,extra,name,grouping,fav\nhttp://group,,,,,,Work,0\nhttps://l.example,a,x&amp;y,,,L,,0\n"
        var contents = try read(Array(lastPass.utf8))
        #expect(try contents.listing == ["inet srvr=l.example acct=a: x&amp;y"])
        #expect(contents.leftOut.map { "\($0.count) \($0.kind)" } == ["1 empty folder"])
        #expect(contents.remarks.count == 1)
        let proton =
            "type,name,url,email,username,password,note,totp,createTime,modifyTime,vault\nalias,A,,x@y.example,,,n,,1,1,P\n"
        contents = try read(Array(proton.utf8))
        #expect(try contents.listing == ["genp svce=A acct=x@y.example desc=secure note: n"])
        #expect(contents.leftOut.map { "\($0.count) \($0.kind)" } == ["1 alias of an address"])
    }

    @Test("Rows without own fields, as RoboForm and Keeper write them, are a cell short, and others have more")
    func ownFields() throws {
        let roboForm =
            "Name,Url,MatchUrl,Login,Pwd,Note,Folder,RfFieldsV2\nCard,,,,,secret note,\n"
            + "R,https://r.example,,ada,p,,/f,\"PIN$,,,txt,1\",\"-no-name-,,,txt,2\"\nshort,,,,\n"
        var contents = try read(Array(roboForm.utf8))
        #expect(
            try contents.listing == [
                "genp svce=Card desc=secure note: secret note", "genp svce=R acct=PIN (ada) desc=field: 1",
                "genp svce=R acct=field (ada) desc=field: 2", "inet srvr=r.example acct=ada: p",
            ])
        #expect(contents.refused.map(\.name) == ["line 4"])
        let keeper =
            "Folder,Title,Login,Password,URL,Notes,Shared Folder,Fields\n"
            + "\"f\",\"K\",\"ada\",\"p\",\"https://k.example\",\"\",\"\"\n"
            + "\"\",\"L\",\"bob\",\"q\",\"\",\"\",\"\",\"PIN\",\"1\"\n"
        let format = CSVFormat(columns: [
            .folder: "folder", .title: "title", .username: "login", .password: "password", .url: "url", .notes: "notes",
        ])
        contents = try ForeignReading.read(keeper, as: format)
        #expect(contents.refused == [])
        #expect(
            try contents.listing
                == [
                    "genp svce=L acct=Fields (bob) desc=field: PIN",
                    "genp svce=L import:\(try mark(of: contents)) acct=Fields (bob) desc=field: 1",
                    "genp svce=L acct=bob: q", "inet srvr=k.example acct=ada: p",
                ].sorted())
        // A column with a role may not be missing.
        let short = try ForeignReading.read(
            "title,password,notes\na,p\nb,q,n\n",
            as: CSVFormat(columns: [
                .title: "title", .password: "password", .notes: "notes",
            ]))
        #expect(short.refused.map(\.name) == ["line 2"])
    }

    private func mark(of contents: ForeignContents) throws -> String {
        let service = try #require(contents.marked.first?.attributes.text(.svce))
        return String(service.suffix(8))
    }

    @Test("Tables of NordPass, RoboForm, KeePass and 1Password are read")
    func products() throws {
        let nordPass = """
            name,url,additional_urls,username,password,note,cardholdername,cardnumber,cvc,pin,expirydate,zipcode,folder,full_name,phone_number,email,address1,address2,city,country,state,type,custom_fields
            N,https://n.example,"[""https://m.example""]",ada,p,,,,,,,,Work,,,,,,,,,password,"[{""label"":""L"",""type"":""hidden"",""value"":""v""}]"
            Card,,,,,text,Ada,4111,123,,12/30,,,,,,,,,,,credit_card,
            Work,,,,,,,,,,,,,,,,,,,,,folder,

            """
        var contents = try read(Array(nordPass.utf8))
        #expect(contents.details == "of NordPass")
        #expect(
            try contents.listing == [
                "genp svce=Card acct=cardholdername desc=field: Ada", "genp svce=Card acct=cardnumber desc=field: 4111",
                "genp svce=Card acct=cvc desc=field: 123", "genp svce=Card acct=expirydate desc=field: 12/30",
                "genp svce=Card desc=secure note: text",
                #"genp svce=N acct=custom_fields (ada) desc=field: [{"label":"L","type":"hidden","value":"v"}]"#,
                "inet srvr=n.example acct=ada: p",
            ])
        #expect(contents.leftOut.map(\.kind) == ["record without a secret"])
        let odd = try read(Array(nordPass.replacing(#""[""https://m.example""]""#, with: "m.example").utf8))
        #expect(try odd.listing.contains("genp svce=N acct=additional_urls (ada) desc=field: m.example"))
        #expect(try contents.entries.flatMap(\.item.extra).contains { $0.value == "https://m.example" })

        let roboForm = """
            Name,Url,MatchUrl,Login,Pwd,Note,Folder,RfFieldsV2
            R,https://r.example,https://r.example,ada,p,n,/Home,"User ID$,,,txt,ada","PIN$,,,pwd,1,2","TOTP KEY$,,,txt,JBSWY3DP","hunter2,x"
            S,https://s.example,,bob,q,,/,

            """
        contents = try read(Array(roboForm.utf8))
        #expect(contents.details == "of RoboForm")
        #expect(contents.refused == [])
        #expect(
            try contents.listing == [
                "genp svce=R acct=PIN (ada) desc=field: 1,2", "genp svce=R acct=User ID (ada) desc=field: ada",
                "genp svce=R acct=field (ada) desc=field: hunter2,x", "genp svce=R acct=note (ada) desc=secure note: n",
                "genp svce=r.example acct=one-time password (ada) desc=one-time password: otpauth://totp/R:ada?secret=JBSWY3DP&issuer=R",
                "inet srvr=r.example acct=ada: p", "inet srvr=s.example acct=bob: q",
            ])

        contents = try read(
            Array(
                "\"Account\",\"Login Name\",\"Password\",\"Web Site\",\"Comments\"\n\"K\",\"ada\",\"p\",\"\",\"n\"\n"
                    .utf8))
        #expect(contents.details == "of KeePass")
        // Some Dashlane logins have only a second user name.
        contents = try read(
            Array(
                "username,username2,username3,title,password,note,url,category,otpUrl\n,ada,,D,p,,https://d.example,,\n"
                    .utf8))
        #expect(try contents.listing == ["inet srvr=d.example acct=ada: p"])
        // Two columns for the same thing that differ are both imported.
        contents = try read(
            Array(
                ("username,username2,username3,title,password,note,url,category,otpSecret,otpUrl\n"
                    + "ada,,,D,p,,https://d.example,,JBSWY3DP,otpauth://totp/D?secret=KRSXG5A\n"
                    + "ben,,,D,p,,https://d.example,,JBSWY3DP,JBSWY3DP\n").utf8))
        #expect(
            try contents.listing.filter { $0.contains("desc=field") }
                == ["genp svce=D acct=otpUrl (ada) desc=field: otpauth://totp/D?secret=KRSXG5A"])
        #expect(try contents.listing.count == 5)
        contents = try read(
            Array(
                "Title,url,Website,Username,Password,Favorite,Archived,Tags\nO,https://a.example,https://b.example,ada,p,,,\n"
                    .utf8))
        #expect(try contents.listing == ["inet srvr=a.example acct=ada: p"])
        contents = try read(
            Array(
                "Title,Website,Username,Password,One-time password,Favorite status,Archived status,Tags,Notes\nO,https://o.example,ada,p,,false,false,t,\n"
                    .utf8))
        #expect(contents.details == "of 1Password")
        #expect(try contents.listing == ["inet srvr=o.example acct=ada: p"])
    }

    @Test("KeePass's escapes are resolved, in its own table alone")
    func keepassEscapes() throws {
        let header = #""Account","Login Name","Password","Web Site","Comments""#
        let contents = try ForeignReading.read(
            header + "\r\n" + #""A","ada","p\\y\"q\n","","x\\""# + "\r\n" + #""B","bob","","","""# + "\r\n",
            as: CSVFormat())
        #expect(
            try contents.listing == [
                #"genp svce=A acct=ada: p\y"q\n"#, #"genp svce=A acct=note (ada) desc=secure note: x\"#,
                "genp svce=B acct=bob: no secret",
            ])
        let other = try ForeignReading.read("name,url,username,password\nA,,ada,\"p\\\\y\"\n", as: CSVFormat())
        #expect(try other.listing == [#"genp svce=A acct=ada: p\\y"#])
    }

    @Test("The UUID of a row depends on no password in its address, no query, no seed and no token")
    func identity() throws {
        func uuids(_ row: String) throws -> [ItemUUID] {
            try ForeignReading.read("name,url,username,password\n\(row)\n", as: CSVFormat()).uuids
        }
        for row in [
            "A,https://ada:SECRET@a.example/,ada,p", "A,https://a.example/?t=SECRET,ada,p",
            "A,ghost:SECRET,ada,p", "A,,SECRETname,x-oauth-basic", "A,,ghp_0123456789SECRETabcdef,",
            "A,otpauth://totp/x?secret=SECRET,ada,p",
        ] {
            #expect(try uuids(row) == uuids(row.replacing("SECRET", with: "OTHERS")), "\(row)")
        }
        #expect(try uuids("A,https://a.example,ada,p") != uuids("A,https://b.example,ada,p"))
    }

    @Test(
        "A list of addresses is split at commas, but not where a password may have one",
        arguments: [
            (
                "https://a.example,https://b.example/x,c.example",
                ["https://a.example", "https://b.example/x", "c.example"]
            ),
            ("https://a.example/x,y", ["https://a.example/x,y"]),
            ("https://a.example,https://ada@b.example", ["https://a.example", "https://ada@b.example"]),
            ("https://ada:12,//SECRET@b.example", []),
            ("https://ada:12,SEC.RET,34@b.example", ["https://ada@b.example"]),
            ("https://ada:12,x.SECRET@b.example", ["https://ada@b.example"]),
        ])
    func addressLists(list: String, expected: [String]) throws {
        let contents = try ForeignReading.read(
            "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n"
                + ",,login,T,,,0,\"\(list)\",ada,p,\n",
            as: CSVFormat())
        for (item, secret) in try contents.entries where secret == Array("p".utf8) {
            #expect(item.extra.filter { $0.name.hasPrefix("url.") }.map(\.value) == expected)
        }
        for (item, _) in try contents.entries {
            for piece in ["SECRET", "SEC.RET", "12"] { #expect(!"\(item.attributes) \(item.extra)".contains(piece)) }
        }
    }
}
