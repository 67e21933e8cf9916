import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

/// Each format is given a record with one member that no version of its program writes today.
@Suite("Members whose meaning is not known", .waitsForPrograms)
struct UnknownMemberTests {
    private static let bitwarden =
        #"{"encrypted":false,"folders":[{"id":"f","name":"F"}],"items":[{"id":"a","organizationId":null,"folderId":"f","type":1,"#
        + #""reprompt":0,"name":"n","notes":null,"favorite":false,"fields":[{"name":"x","value":"y","type":0,"linkedId":null}],"#
        + #""login":{"uris":[{"match":null,"uri":"https://a.example"}],"username":"u","password":"p","totp":null,"#
        + #""fido2Credentials":[]},"collectionIds":null,"creationDate":"2026-03-01T09:30:00.000Z","#
        + #""revisionDate":"2026-03-01T09:30:00.000Z","deletedDate":null,"passwordHistory":[]}]}"#
    private static let proton =
        #"{"version":"1.31","userId":"U","encrypted":false,"vaults":{"v":{"name":"V","description":"","display":{"color":1},"#
        + #""items":[{"itemId":"a","shareId":"s","data":{"metadata":{"name":"n","note":"","itemUuid":"i"},"extraFields":[],"#
        + #""platformSpecific":{},"type":"login","content":{"itemEmail":"","itemUsername":"u","password":"p","urls":[],"#
        + #""totpUri":"","passkeys":[]}},"state":1,"aliasEmail":null,"contentFormatVersion":6,"createTime":1,"modifyTime":2,"#
        + #""pinned":false}]}}}"#
    private static let onePassword =
        #"{"accounts":[{"attrs":{"accountName":"A","email":"a@b"},"vaults":[{"attrs":{"uuid":"v","desc":"","name":"V","type":"P"},"#
        + #""items":[{"uuid":"a","favIndex":0,"createdAt":1,"updatedAt":2,"state":"active","categoryUuid":"001","details":{"#
        + #""loginFields":[{"value":"u","id":"","name":"username","fieldType":"T","designation":"username"},"#
        + #"{"value":"p","id":"","name":"password","fieldType":"P","designation":"password"}],"notesPlain":"","#
        + #""sections":[{"title":"s","name":"x","fields":[{"title":"t","id":"i","value":{"concealed":"1"},"indexAtSource":0,"#
        + #""guarded":false,"multiline":false,"dontGenerate":false,"inputTraits":{"keyboard":"default"}}]}],"#
        + #""passwordHistory":[]},"overview":{"subtitle":"u","urls":[{"label":"website","url":"https://a.example"}],"#
        + #""title":"t","url":"https://a.example","ps":50,"pbe":9.5,"pgrng":true,"tags":[]}}]}]}]}"#
    private static let cxf =
        #"{"version":{"major":1,"minor":0},"exporterRpId":"e","exporterDisplayName":"E","timestamp":1,"accounts":[{"id":"A","#
        + #""username":"u","email":"e","collections":[{"id":"c","title":"C","items":[{"item":"aQ"}]}],"items":[{"id":"aQ","#
        + #""creationAt":1,"modifiedAt":2,"title":"T","tags":[],"scope":{"urls":["https://a.example"],"androidApps":[]},"#
        + #""credentials":[{"type":"basic-auth","username":{"id":"i","fieldType":"string","value":"ada"},"#
        + #""password":{"fieldType":"concealed-string","value":"pw"}},{"type":"totp","secret":"MZXQ","period":30,"digits":6,"#
        + #""algorithm":"sha1"},{"type":"note","content":{"fieldType":"string","value":"n"}}]}]}]}"#
    private static let keepass = KDBXForge.xml(
        KDBXForge.entry(
            1, [("Title", "T"), ("UserName", "u"), ("Password", "{{p}}"), ("Notes", "n")],
            more: "<IconID>0</IconID><Times><CreationTime>2026-03-01T09:30:00Z</CreationTime><UsageCount>3</UsageCount>"
                + "</Times><AutoType><Enabled>True</Enabled></AutoType>"), meta: "<Generator>KeePassXC</Generator>")

    /// The formats, a file of each, and places in it where another member fits.
    private static let cases: [(any ForeignFormat, String, places: [String])] = [
        (BitwardenFormat(), bitwarden, [#""reprompt":0"#, #""username":"u""#, #""match":null"#, #""linkedId":null"#]),
        (ProtonPassFormat(), proton, [#""shareId":"s""#, #""itemUuid":"i""#, #""type":"login""#]),
        (
            OnePasswordFormat(), onePassword,
            [
                #""favIndex":0"#, #""subtitle":"u""#, #""indexAtSource":0"#, #""label":"website""#, #""name":"x""#,
                #""fieldType":"P""#,
            ]
        ),
        (
            CXFFormat(), cxf,
            [
                #""creationAt":1"#, #""androidApps":[]"#, #""period":30"#, #""id":"i""#, #""email":"e""#,
                #""title":"C""#,
            ]
        ),
        (
            AegisFormat(), AuthenticatorSamples.aegis,
            [#""note":"n""#, #""digits":6"#, #""uuid":"g""#, #""icons_optimized":true"#]
        ),
        (
            TwoFASFormat(), AuthenticatorSamples.twoFAS,
            [#""source":"Link""#, #""groupId":"g""#, #""appOrigin":"android""#]
        ),
        (AndOTPFormat(), AuthenticatorSamples.andOTP, [#""period":30"#, #""tags":["Home"]"#]),
        (FreeOTPPlusFormat(), AuthenticatorSamples.freeOTPPlus, [#""label":"ada""#, #""tokenOrder":["Forum:ada"]"#]),
        (
            StratumFormat(), AuthenticatorSamples.stratum,
            [#""CopyCount":2"#, #""Name":"Home""#, #""CategoryId":"c""#, #""CustomIcons":[]"#]
        ),
        (ProtonAuthenticatorFormat(), AuthenticatorSamples.proton, [#""note":"n""#, #""name":"ada""#]),
        (TwoFAuthFormat(), AuthenticatorSamples.twoFAuth, [#""digits":6"#, #""schema":1"#]),
        (
            KeeperFormat(), KeeperEnpassTests.keeper,
            [#""can_edit":true"#, #""publicKey":"ssh-x""#]
        ),
        (
            EnpassFormat(), KeeperEnpassTests.enpass,
            [#""uid":10"#, #""auto_submit":1"#, #""icon":"1","parent_uuid":"""#, #""kind":"text/plain""#]
        ),
        (KeePassFormat(), keepass, ["<IconID>0</IconID>", "<UsageCount>3</UsageCount>", "<Name>R</Name>"]),
    ]

    private func read(_ text: String, as format: any ForeignFormat) throws -> ForeignContents {
        switch format {
        case is KeePassFormat: return try ForeignReading.read(KDBXForge().file(text), as: format, password: "pw")
        case is OnePasswordFormat:
            let members = [("export.attributes", #"{"version":3}"#), ("export.data", text)]
            return try ForeignReading.read(ZipWriter.zip(members.map { ($0.0, Array($0.1.utf8)) }), as: format)
        default: return try ForeignReading.read(text, as: format)
        }
    }

    @Test("All that programs write today is known", arguments: 0..<cases.count)
    func known(index: Int) throws {
        let (format, text, _) = Self.cases[index]
        let contents = try read(text, as: format)
        #expect(contents.items.count > 0)
        #expect(contents.leftOut.map(\.kind).filter { $0 == "unknown member" } == [], "\(contents.remarks)")
    }

    @Test(
        "A text that is not known is a field of its record, or counted outside of records, and named",
        arguments: 0..<cases.count)
    func unknown(index: Int) throws {
        let (format, text, places) = Self.cases[index]
        let count = try read(text, as: format).items.count
        for place in places {
            try #require(text.contains(place), "\(place)")
            let new = format is KeePassFormat ? "<brandNew>x</brandNew>" : #","brandNew":{"deep":["x"]}"#
            let contents = try read(text.replacing(place, with: place + new, maxReplacements: 1), as: format)
            let fields = try contents.listing.count { $0.contains("brandNew.deep") && $0.hasSuffix("desc=field: x") }
            #expect(contents.items.count == count + fields, "\(place)")
            let lost = contents.leftOut.filter { $0.kind == "unknown member" }.map(\.count).reduce(0, +)
            #expect(fields + lost == 1, "\(place): \(contents.leftOut)")
            #expect(
                contents.remarks.contains { $0.contains(format is KeePassFormat ? "brandNew" : "deep") }, "\(place)")
        }
    }

    @Test("A text of a record that is not known is a field with its path, and a number is counted")
    func paths() throws {
        let places: [(any ForeignFormat, String, String, String)] = [
            (BitwardenFormat(), Self.bitwarden, #""username":"u""#, "login.brandNew.k"),
            (BitwardenFormat(), Self.bitwarden, #""reprompt":0"#, "brandNew.k"),
            (CXFFormat(), Self.cxf, #""creationAt":1"#, "brandNew.k"),
            (AegisFormat(), AuthenticatorSamples.aegis, #""digits":6"#, "info.brandNew.k"),
        ]
        for (format, text, place, path) in places {
            try #require(text.contains(place))
            let new = #","brandNew":{"k":"secret","l":["","\n"],"m":7}"#
            let contents = try read(text.replacing(place, with: place + new, maxReplacements: 1), as: format)
            #expect(try contents.listing.count { $0.contains("\(path)") && $0.hasSuffix("desc=field: secret") } == 1)
            #expect(contents.leftOut.filter { $0.kind == "unknown member" }.map(\.count) == [1])
            #expect(
                contents.remarks.contains { $0.hasSuffix("became fields: \(path), \(path.dropLast())l") },
                "\(contents.remarks)")
        }
    }

    @Test("A credential of an unknown kind is kept with its type")
    func unknownCredential() throws {
        let credential = #"{"type":"brandnew","foo":{"bar":"S"}}"#
        let text = Self.cxf.replacing(#"{"type":"totp""#, with: credential + #",{"type":"totp""#)
        let contents = try read(text, as: CXFFormat())
        #expect(try contents.listing.contains { $0.hasSuffix("desc=other: " + credential) })
    }

    @Test("The content of a login or a details object that is not known becomes a field")
    func fields() throws {
        let changes: [(any ForeignFormat, String, String)] = [
            (OnePasswordFormat(), Self.onePassword, #""notesPlain":"""#),
            (ProtonPassFormat(), Self.proton, #""totpUri":"""#),
            (CXFFormat(), Self.cxf, #""type":"basic-auth""#),
        ]
        for (format, text, place) in changes {
            try #require(text.contains(place))
            let contents = try read(text.replacing(place, with: place + #","brandNew":"secret""#), as: format)
            let listing = try contents.listing
            #expect(listing.contains { $0.contains("acct=brandNew") }, "\(listing)")
        }
    }

    @Test("An unknown column of a table is a field, and columns that only the program needs are counted")
    func columns() throws {
        var contents = try ForeignReading.read(
            "\"url\",\"username\",\"password\",\"httpRealm\",\"formActionOrigin\",\"guid\",\"timeLastUsed\",\"brandNew\"\n"
                + "\"https://a.example\",\"u\",\"p\",,\"https://b.example\",\"{g}\",\"1700000000000\",\"x\"\n",
            as: CSVFormat())
        #expect(try contents.listing.contains { $0.hasSuffix("desc=field: x") })
        #expect(contents.leftOut.map(\.kind) == ["date of last use", "address of a form"])
        contents = try ForeignReading.read(
            "\"Group\",\"Title\",\"Username\",\"Password\",\"URL\",\"Notes\",\"TOTP\",\"Icon\",\"Last Modified\",\"Created\"\n"
                + "\"R\",\"T\",\"u\",\"p\",\"\",\"\",\"\",\"7\",\"2026-03-01T09:30:00Z\",\"2026-03-01T09:30:00Z\"\n",
            as: CSVFormat())
        #expect(contents.leftOut.map(\.kind) == ["icon"])
    }

    /// The other formats: a file with something that the format does not know, of which `news` is the value.
    private static let others: [String: @Sendable () throws -> ForeignContents] = [
        "csv": { try ForeignReading.read("name,url,username,password,brandNew\nT,,u,p,news\n", as: other) },
        "dashlane": {
            let credentials = "username,username2,username3,title,password,note,url,category,brandNew\n,,,T,p,,,,news\n"
            return try ForeignReading.read(
                ZipWriter.zip([("credentials.csv", Array(credentials.utf8))]), as: DashlaneFormat())
        },
        "gnome-keyring": {
            var writer = KeyringWriter()
            writer.items = [WrittenItem(label: "T", attributes: [("brandNew", "news")], secret: [1])]
            return try ForeignReading.read(writer.file(), as: GnomeKeyringFormat(), password: "correct horse")
        },
        "kwallet": {
            var writer = WalletWriter()
            writer.form = .old
            writer.folders = [("f", [("k", .raw(9, Array("news".utf8)))])]
            return try ForeignReading.read(writer.file(), as: KWalletFormat(), password: "correct horse")
        },
        "password-safe": {
            let contents = try ForeignReading.read(
                ForeignReading.fixture(PasswordSafeTests.fixture), as: PasswordSafeFormat(), password: "pw one")
            #expect(try contents.listing.contains { $0.hasSuffix("desc=attachment: news") })
            return contents
        },
        "1pif": {
            let text = OldOnePasswordTests.pif.replacing(
                #""contentsHash":"x""#, with: #""contentsHash":"x","brandNew":{"deep":["x"]}"#)
            let contents = try ForeignReading.read(text, as: PIFFormat())
            #expect(try contents.listing.contains { $0.contains("brandNew.deep") && $0.hasSuffix("desc=field: x") })
            return try ForeignReading.read(
                OldOnePasswordTests.pif.replacing(#""notesPlain":"n""#, with: #""notesPlain":"n","brandNew":"news""#),
                as: PIFFormat())
        },
        "opvault": {
            let folder = try TemporaryFolder(inMemory: true)
            var writer = OldOnePasswordTests.vault
            writer.records[0].record.details = #"{"notesPlain":"n","brandNew":"news"}"#
            writer.records[0].record.overview = #"{"title":"T","brandNew":"x"}"#
            writer.records[0].record.members.append(("brandNew", "\"x\""))
            try writer.write(to: folder)
            let contents = try OPVaultFormat().read(
                ForeignInput(path: folder.path, .folder), GivenSecrets(text: "correct horse"))
            #expect(contents.leftOut.filter { $0.kind == "unknown member" }.map(\.count) == [1])
            return contents
        },
        "kwallet-xml": {
            let contents = try ForeignReading.read(
                "<wallet name=\"w\"><folder name=\"f\"><news name=\"k\">x</news></folder></wallet>",
                as: KWalletXMLFormat())
            #expect(contents.leftOut.map(\.kind) == ["unknown member"])
            #expect(contents.remarks.contains { $0.contains("news") })
            return try ForeignReading.read(
                "<wallet><folder name=\"f\"><password name=\"k\">news</password></folder></wallet>",
                as: KWalletXMLFormat())
        },
        "keychain-dump": { try ForeignReading.read(KeychainDumpTests.generic, as: KeychainDumpFormat()) },
        "macos-keychain": {
            var writer = KychWriter()
            try writer.addPassword(0x8000_0000, [("svce", .text("T")), ("Bran", .text("news"))], [1])
            return try ForeignReading.read(writer.file(), as: MacKeychainFormat(), password: "correct horse")
        },
        "apple-backup": {
            let folder = try TemporaryFolder()
            let members: [(String, PlistValue)] = [
                ("svce", .text("T")), ("pdmn", .text("ak")), ("brandNew", .text("news")),
            ]
            try BackupForge(entries: [BackupForge.Entry(members: members)]).write(to: folder)
            return try AppleBackupFormat().read(
                ForeignInput(path: folder.path(""), .folder), GivenSecrets(text: "backup pw"))
        },
    ]

    /// Formats in which nothing can be unknown, each with the reason.
    private static let closed = [
        "kcbackup-items": "a member that is not known is refused, since it is an instruction",
        "git-credentials": "a line has the parts of an address only",
        "networkmanager": "the file itself is an item, with all that is in it",
        "netrc": "an unknown word damages its entry, which is named",
        "otpauth": "a line is kept as a whole", "qr-picture": "a line of a code is kept as a whole",
        "ente": "a line is kept as a whole",
        "pass": "lines are text of the user", "passage": "lines are text of the user",
    ]

    /// Formats for which the tests of the format try it.
    private static let elsewhere = ["firefox", "chromium", "keepass-xml", "keepass-1", "kubernetes", "freeotp"]

    private static let other = CSVFormat(columns: [.title: "name", .password: "password"])

    @Test("What another format does not know is kept: as a secret, or as an attribute without a code")
    func kept() throws {
        for (name, read) in Self.others {
            let contents = try read()
            let isKept = try contents.entries.contains { item, secret in
                item.extra.contains { $0.value == "news" }
                    || String(decoding: secret ?? [], as: UTF8.self).contains("news")
            }
            #expect(isKept, "\(name)")
        }
    }

    @Test("Every format that can be read is tried here, or can have nothing unknown")
    func complete() {
        let tried = Self.cases.map(\.0.name) + Self.others.keys + Self.closed.keys + Self.elsewhere
        #expect(tried.sorted() == KnownFormats.all.map(\.name).sorted())
    }
}
