import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Tables whose rows name their own fields, and other tables without --columns")
struct RaggedTableTests {
    private func read(_ text: String) throws -> ForeignContents {
        let input = ForeignReading.input(Array(text.utf8))
        return try KnownFormats.recognise(input).read(input, GivenSecrets(text: nil))
    }

    static let keeper = """
        "Work\\Infra","Mail","ada","p1","https://mail.example/x","a note",""
        "","Bank","bob","p2","https://bank.example","","Team","Account ID","12345","TFC:Keeper","otpauth://totp/B?secret=JBSWY3DP"
        "","Note","","","","only text",""

        """

    @Test("Keeper's table has no column names, and names and values of own fields behind the fixed cells")
    func keeperTable() throws {
        let contents = try read(Self.keeper)
        #expect(contents.details == "of Keeper")
        #expect(contents.refused == [])
        #expect(
            try contents.listing == [
                "genp svce=Bank acct=Account ID (bob) desc=field: 12345",
                "genp svce=Mail acct=note (ada) desc=secure note: a note", "genp svce=Note desc=secure note: only text",
                "genp svce=bank.example acct=one-time password (bob) desc=one-time password: otpauth://totp/B?secret=JBSWY3DP",
                "inet srvr=bank.example acct=bob: p2", "inet srvr=mail.example acct=ada: p1",
            ])
        let folders = try contents.entries.compactMap { $0.item.extraValue("source.folder") }
        #expect(Set(folders) == ["Work\\Infra", "Team"])
        let header = "Folder,Title,Login,Password,Website Address,Notes,Shared Folder,Custom Fields\n"
        let named = try read(header + Self.keeper)
        #expect(try named.listing == contents.listing)
        #expect(try named.uuids == contents.uuids)
        // Both folders of a record are kept.
        let both = try read(header + "A,T,ada,p,https://a.example,,B\n")
        #expect(
            try both.listing
                == ["genp svce=T acct=Shared Folder (ada) desc=field: B", "inet srvr=a.example acct=ada: p"])
    }

    @Test("A row of Keeper's table with a name and no value, or with too few cells, is named by its line")
    func keeperRows() throws {
        let header = "Folder,Title,Login,Password,Website Address,Notes,Shared Folder,Custom Fields\n"
        let contents = try read(header + "a,b\nA,T,ada,p,https://a.example,,,PIN\nA,T,ada,p,https://a.example,\n")
        #expect(contents.refused.map(\.name) == ["line 2", "line 3"])
        #expect(try contents.listing == ["inet srvr=a.example acct=ada: p"])
    }

    static let enpass = """
        "Title","Field","Value","Field","Value",.........,"Note"
        "Mail","Username","ada","*Password","p1","Website","https://mail.example","Website","https://m.example","a note"
        "Card","Cardholder","Ada","*CVC","123",""
        "Router","*Password","p2"
        "Alone","only text"

        """

    @Test("Enpass's rows have a title, names and values, and a note; a row of an odd length has none")
    func enpassTable() throws {
        let contents = try read(Self.enpass)
        #expect(contents.details == "of Enpass")
        #expect(contents.refused == [])
        let listing = try contents.listing
        #expect(
            listing == [
                "genp svce=Alone desc=secure note: only text", "genp svce=Card acct=CVC desc=field: 123",
                "genp svce=Card acct=Cardholder desc=field: Ada",
                "genp svce=Mail acct=note (ada) desc=secure note: a note", "genp svce=Router: p2",
                "inet srvr=mail.example acct=ada: p1",
            ])
        let login = try #require(contents.entries.first { $0.item.itemClass == .internetPassword })
        #expect(login.item.extraValue("url.2") == "https://m.example")
        // Without the first line.
        let start = try #require(Self.enpass.firstIndex(of: "\n"))
        #expect(try read(String(Self.enpass[Self.enpass.index(after: start)...])).listing == listing)
    }

    @Test(
        "A table with column names is not taken for one of rows that name their fields",
        arguments: [
            "Title,Username,URL,Password,Notes,Group\nMail,ada,https://a.example,p,,\n",
            "Title,Username,Email,Password,Website\nMail,ada,,p,https://a.example\n",
            "\"name\",\"username\",\"url\",\"password\"\n\"Mail\",\"ada\",\"https://a.example\",\"p\"\n",
        ])
    func ordinary(text: String) throws {
        #expect(text.utf8.span.withRagged == nil)
        #expect(try read(text).listing.contains("inet srvr=a.example acct=ada: p"))
    }

    @Test("A table that has neither column names nor names of fields is not guessed at")
    func unknown() throws {
        for text in [
            "a,b,c,d,e,f,g\n", "\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\"\n", "Mail,Username,ada,Memo,x\n",
            "\"f\",\"t\",\"ada\",\"p\",\"https://a.example\",\"\",\"\",\"PIN\"\n",
        ] {
            #expect(throws: ForeignFailure.unknownFormat) { try read(text) }
        }
    }

    static let zoho =
        "\"Password Name\",\"Description\",\"Password URL\",\"SecretData\",\"Notes\",\"CustomData\",\"Tags\","
        + "\"Classification\",\"Favorite\",\"TOTP\",\"Folder Name\"\n"
        + "Mail,mine,https://mail.example,\"SecretType:Web Account\nUser Name:ada\nPassword:p:1\n\",n,\"pin:12\n\",t,E,1,"
        + "JBSWY3DP,Work\n"
        + "Host,,,\"SecretType:SSH\nUser Name:root\nPassword:p2\nKey:-----BEGIN\nPort: 22\n\",,\"a:1\nb:2\n\",,P,0,,Work,\n"

    @Test("Zoho Vault: the lines of a login are parted, and all others stay secret together")
    func zohoVault() throws {
        let contents = try read(Self.zoho)
        #expect(contents.details == "of Zoho Vault")
        #expect(contents.refused == [])
        #expect(
            try contents.listing
                == [
                    "genp svce=Host acct=SecretData (root) desc=field: Key:-----BEGIN\nPort: 22",
                    "genp svce=Host acct=fields (root) desc=field: a:1\nb:2", "genp svce=Host acct=root: p2",
                    "genp svce=Mail acct=Description (ada) desc=field: mine",
                    "genp svce=Mail acct=note (ada) desc=secure note: n",
                    "genp svce=Mail acct=pin (ada) desc=field: 12",
                    "genp svce=mail.example acct=one-time password (ada) desc=one-time password: otpauth://totp/Mail:ada?secret=JBSWY3DP&issuer=Mail",
                    "inet srvr=mail.example acct=ada: p:1",
                ].sorted())
        #expect(contents.leftOut.map { "\($0.count) \($0.kind)" } == ["1 favorite mark", "2 classification"])
        #expect(Set(try contents.entries.compactMap { $0.item.extraValue("type") }) == ["Web Account", "SSH"])
        // Two passwords in one cell are not told apart, and without a type it is another kind of text.
        let twice = try read(
            "Secret Name,SecretData,CustomData,Classification\nA,\"SecretType:x\nUser Name:ada\nPassword:p\nPassword:q\n\",,\n"
                + "B,\"User Name:SECRET\nSecretType:SECRET\n\",,\n")
        #expect(
            try twice.listing
                == [
                    "genp svce=A acct=SecretData desc=field: SecretType:x\nUser Name:ada\nPassword:p\nPassword:q\n",
                    "genp svce=B acct=SecretData desc=field: User Name:SECRET\nSecretType:SECRET\n",
                ])
    }

    @Test("Zoho's general table has user name and password behind its columns")
    func zohoGeneral() throws {
        let contents = try read(
            "\u{feff}\"Secret Name\",\"Secret URL\",\"Notes\"\n\"A\",\"https://a.example\",\"\",\"ada\",\"p\"\n\"B\",\"\",\"n\"\n"
                + "\"C\",\"\",\"\",\"\",\"\",\"x\"\n")
        #expect(contents.details == "of Zoho Vault")
        #expect(try contents.listing == ["genp svce=B desc=secure note: n", "inet srvr=a.example acct=ada: p"])
        #expect(contents.refused.map(\.name) == ["line 4"])
    }

    @Test("RoboForm: fields of old versions, and apostrophes that keep a value from being a formula")
    func roboForm() throws {
        let contents = try read(
            "Name,Url,Login,Pwd,Note,Folder,Rf_fields\n"
                + "R,https://r.example,'@ada,''p,,/Bank,User ID$:txt:x:y,PIN$:pwd:12\n"
                + "S,https://s.example,ada,'p,,/,\n")
        #expect(contents.details == "of RoboForm")
        #expect(
            try contents.listing == [
                "genp svce=R acct=PIN (@ada) desc=field: 12", "genp svce=R acct=User ID (@ada) desc=field: x:y",
                "inet srvr=r.example acct=@ada: 'p", "inet srvr=s.example acct=ada: 'p",
            ])
    }

    @Test("Dashlane: each table of the export is read alone too")
    func dashlane() throws {
        let tables: [(String, String, [String])] = [
            (
                "type,number,name,issue_date,expiration_date,place_of_issue,state\npassport,P1,Ada,,,,\n", "ids.csv",
                [#"genp svce=Ada desc=identity document: {"type":"passport","number":"P1","name":"Ada"}"#]
            ),
            (
                "type,account_name,account_holder,cc_number,code\npayment_card,Visa,,4111,123\n", "payments.csv",
                [
                    #"genp svce=Visa desc=card: {"type":"payment_card","account_name":"Visa","cc_number":"4111","code":"123"}"#
                ]
            ),
            (
                "type,title,first_name,last_name,item_name,email_type\nname,MR,Ada,L,Me,\n", "personalInfo.csv",
                [
                    #"genp svce=Me desc=identity: {"type":"name","title":"MR","first_name":"Ada","last_name":"L","item_name":"Me"}"#
                ]
            ),
            ("title,note\nN,text\n", "securenotes.csv", ["genp svce=N desc=secure note: text"]),
            ("title,note,category\nN,text,Work\n", "securenotes.csv", ["genp svce=N desc=secure note: text"]),
            (
                "ssid,passphrase,name,note,hidden,encription_type\nhome,pw,,n,false,wpa2\n", "wifi.csv",
                [
                    "genp svce=AirPort acct=home desc=AirPort network password: pw",
                    "genp svce=home acct=encription_type desc=field: wpa2",
                    "genp svce=home acct=hidden desc=field: false",
                    "genp svce=home acct=note desc=secure note: n",
                ]
            ),
        ]
        for (text, name, items) in tables {
            let contents = try read(text)
            #expect(contents.details == "'\(name)' of it")
            #expect(try contents.listing == items)
            let zip = try read(in: name, text)
            #expect(try zip.listing == items)
            #expect(try zip.uuids == contents.uuids)
        }
        for text in ["title,note,color\nN,text,red\n", "type,number,name\na,b,c\n"] {
            #expect(throws: ForeignFailure.unknownFormat) { try read(text) }
        }
    }

    private func read(in member: String, _ text: String) throws -> ForeignContents {
        let bytes = ZipWriter.zip([
            ("credentials.csv", Array("title,url,username,password\n".utf8)), (member, Array(text.utf8)),
        ])
        return try ForeignReading.read(bytes, as: DashlaneFormat())
    }
}

extension Span<UInt8> {
    /// The table of rows that name their fields, if these are the bytes of one.
    fileprivate var withRagged: RaggedTable.Product? { RaggedTable(self)?.product }
}
