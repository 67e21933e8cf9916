import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

/// A record with a login, as each format writes it.
private struct Login: Sendable, CustomTestStringConvertible {
    var user = ""
    var password: String?
    var address: String?
    var hasNote = false
    var hasCode = false
    var hasPasskey = false

    static let note = "expires in May"
    static let seed = "JBSWY3DPEHPK3PXP"
    static let passkey = PasskeySample.key

    var testDescription: String {
        let parts = [(hasNote, "note"), (hasCode, "code"), (hasPasskey, "passkey")].filter(\.0).map(\.1)
        return "\(user):\(password ?? "-") \(address ?? "") \(parts)"
    }
}

private func quoted(_ text: String?) -> String { text.map { "\"\($0)\"" } ?? "null" }

/// A reader of records, with what its format has a place for.
private struct Reader: Sendable, CustomTestStringConvertible {
    let name: String
    var hasAddress = true
    var hasParts = true
    var hasPasskey = false
    /// True if a missing password differs from an empty one.
    var tellsNull = false
    let read: @Sendable (Login) throws -> ForeignContents

    var testDescription: String { name }

    static let all: [Reader] = [
        Reader(name: "bitwarden", hasPasskey: true, tellsNull: true) { login in
            let key =
                #"{"credentialId":"b64.AQ","keyValue":"\#(Login.passkey)","rpId":"site.example","userName":"\#(login.user)"}"#
            return try ForeignReading.read(
                #"""
                {"encrypted":false,"items":[{"id":"1","type":1,"name":"Site","notes":\#(quoted(login.hasNote ? Login.note : nil)),
                "login":{"username":"\#(login.user)","password":\#(quoted(login.password)),
                "uris":[\#(login.address.map { #"{"uri":"\#($0)"}"# } ?? "")],
                "totp":\#(quoted(login.hasCode ? Login.seed : nil)),"fido2Credentials":[\#(login.hasPasskey ? key : "")]}}]}
                """#, as: BitwardenFormat())
        },
        Reader(name: "1pux") { login in
            let password = login.password.map { #",{"value":"\#($0)","designation":"password"}"# } ?? ""
            let code = login.hasCode ? #"{"title":"code","value":{"totp":"\#(Login.seed)"}}"# : ""
            let data = #"""
                {"accounts":[{"attrs":{},"vaults":[{"attrs":{},"items":[{"uuid":"a","state":"active","categoryUuid":"001",
                "details":{"loginFields":[{"value":"\#(login.user)","designation":"username"}\#(password)],
                "notesPlain":\#(quoted(login.hasNote ? Login.note : nil)),"sections":[{"fields":[\#(code)]}]},
                "overview":{"title":"Site","url":\#(quoted(login.address))}}]}]}]}
                """#
            let zip = ZipWriter.zip([
                ("export.attributes", Array(#"{"version":3}"#.utf8)), ("export.data", Array(data.utf8)),
            ])
            return try ForeignReading.read(zip, as: OnePasswordFormat())
        },
        Reader(name: "proton-pass", hasPasskey: true) { login in
            let key = #"{"rpId":"site.example","userName":"\#(login.user)","content":"\#(Login.passkey)"}"#
            return try ForeignReading.read(
                #"""
                {"encrypted":false,"vaults":{"v":{"name":"V","items":[{"itemId":"1","state":1,"data":{"type":"login",
                "metadata":{"name":"Site","note":\#(quoted(login.hasNote ? Login.note : ""))},"extraFields":[],
                "content":{"itemUsername":"\#(login.user)","itemEmail":"","password":\#(quoted(login.password ?? "")),
                "urls":[\#(login.address.map { quoted($0) } ?? "")],"totpUri":\#(quoted(login.hasCode ? Login.seed : "")),
                "passkeys":[\#(login.hasPasskey ? key : "")]}}}]}}}
                """#, as: ProtonPassFormat())
        },
        Reader(name: "dashlane") { login in
            let table =
                "username,username2,username3,title,password,note,url,category,otpSecret\n"
                + "\(login.user),,,Site,\(login.password ?? ""),\(login.hasNote ? Login.note : ""),"
                + "\(login.address ?? ""),,\(login.hasCode ? Login.seed : "")\n"
            return try ForeignReading.read(
                ZipWriter.zip([("credentials.csv", Array(table.utf8))]), as: DashlaneFormat())
        },
        Reader(name: "apple csv") { login in
            try ForeignReading.read(
                "Title,URL,Username,Password,Notes,OTPAuth\nSite,\(login.address ?? ""),\(login.user),"
                    + "\(login.password ?? ""),\(login.hasNote ? Login.note : ""),\(login.hasCode ? Login.seed : "")\n",
                as: CSVFormat())
        },
        Reader(name: "keepassxc csv") { login in
            try ForeignReading.read(
                "\"Group\",\"Title\",\"Username\",\"Password\",\"URL\",\"Notes\",\"TOTP\",\"Icon\",\"Last Modified\",\"Created\"\n"
                    + "\"\",\"Site\",\"\(login.user)\",\"\(login.password ?? "")\",\"\(login.address ?? "")\","
                    + "\"\(login.hasNote ? Login.note : "")\",\"\(login.hasCode ? Login.seed : "")\",\"0\",\"\",\"\"\n",
                as: CSVFormat())
        },
        Reader(name: "pass") { login in
            var text = "\(login.password ?? "")\nuser: \(login.user)\n"
            if let address = login.address { text += "url: \(address)\n" }
            if login.hasNote { text += Login.note + "\n" }
            if login.hasCode { text += "otpauth://totp/x?secret=\(Login.seed)\n" }
            let collector = RecordCollector(format: "pass", date: .reference)
            try StoreEntry(path: "work/Site", modified: .reference)
                .add(SecretBytes(copying: text.utf8), to: collector)
            return try collector.finish(details: "", isPlaintext: false)
        },
        Reader(name: "keepass", hasPasskey: true) { login in
            var strings = [("Title", "Site"), ("UserName", login.user), ("Password", "{{\(login.password ?? "")}}")]
            if let address = login.address { strings.append(("URL", address)) }
            if login.hasNote { strings.append(("Notes", Login.note)) }
            if login.hasCode { strings.append(("otp", "otpauth://totp/x?secret=\(Login.seed)")) }
            if login.hasPasskey {
                strings += [
                    ("KPEX_PASSKEY_CREDENTIAL_ID", "AQ"), ("KPEX_PASSKEY_RELYING_PARTY", "site.example"),
                    ("KPEX_PASSKEY_USERNAME", login.user), ("KPEX_PASSKEY_PRIVATE_KEY_PEM", Login.passkey),
                ]
            }
            let file = try KDBXForge().file(KDBXForge.xml(KDBXForge.entry(1, strings)))
            return try ForeignReading.read(file, as: KeePassFormat(), password: "pw")
        },
        Reader(name: "cxf", hasPasskey: true, tellsNull: true) { login in
            let password = login.password.map { #","password":{"value":"\#($0)"}"# } ?? ""
            var credentials = [#"{"type":"basic-auth","username":{"value":"\#(login.user)"}\#(password)}"#]
            if login.hasNote { credentials.append(#"{"type":"note","content":{"value":"\#(Login.note)"}}"#) }
            if login.hasCode { credentials.append(#"{"type":"totp","secret":"\#(Login.seed)","username":"ada"}"#) }
            if login.hasPasskey {
                credentials.append(
                    #"{"type":"passkey","rpId":"site.example","username":"\#(login.user)","key":"\#(Login.passkey)"}"#)
            }
            return try ForeignReading.read(
                #"""
                {"version":{"major":1,"minor":0},"exporterRpId":"e.example","exporterDisplayName":"E","timestamp":1,
                "accounts":[{"id":"A","username":"","email":"","collections":[],"items":[{"id":"aQ","title":"Site",
                "scope":{"urls":[\#(login.address.map { quoted($0) } ?? "")],"androidApps":[]},
                "credentials":[\#(credentials.joined(separator: ","))]}]}]}
                """#, as: CXFFormat())
        },
        Reader(name: "netrc", hasAddress: false, hasParts: false) { login in
            try ForeignReading.read(
                "machine site.example login \(login.user) \(login.password.map { "password \"\($0)\"" } ?? "")\n",
                as: NetrcFormat())
        },
        Reader(name: "git-credentials", hasAddress: false, hasParts: false) { login in
            let password = login.password.map { ":" + $0 } ?? ""
            return try ForeignReading.read(
                "https://\(login.user)\(password)@site.example\n", as: GitCredentialsFormat())
        },
    ]

    /// The record with each combination of parts that the format has a place for.
    func variants(of login: Login) -> [Login] {
        var variants: [Login] = []
        for address in hasAddress ? [nil, "https://site.example/login"] : [nil] {
            for parts in hasParts ? (hasPasskey ? 0..<8 : 0..<4) : 0..<1 {
                var login = login
                login.address = address
                login.hasNote = parts & 1 != 0
                login.hasCode = parts & 2 != 0
                login.hasPasskey = parts & 4 != 0
                variants.append(login)
            }
        }
        return variants
    }
}

@Suite("The login of a record, in each format", .waitsForPrograms)
struct LoginTests {
    private static let old = "0123456789abcdef0123456789abcdef01234567"
    private static let new = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"

    @Test(
        "An access token in place of the user name is in no attribute, and neither it nor any other part is lost",
        arguments: Reader.all)
    private func tokens(reader: Reader) throws {
        var logins = [
            Login(user: Self.new), Login(user: Self.new, password: "x-oauth-basic"),
            Login(user: Self.new, password: "real password"), Login(user: Self.old),
            Login(user: Self.old, password: "x-oauth-basic"), Login(user: "SHORTTOKEN", password: "x-oauth-basic"),
        ]
        if reader.tellsNull || reader.name == "git-credentials" {
            logins += [Login(user: Self.old, password: ""), Login(user: Self.new, password: "")]
        }
        for login in logins.flatMap(reader.variants) {
            let contents = try reader.read(login)
            let entries = try contents.entries
            let secrets = entries.map { String(decoding: $0.secret ?? [], as: UTF8.self) }
            for (item, _) in entries {
                #expect(!"\(item.attributes) \(item.extra)".contains(login.user), "\(login): \(item)")
            }
            #expect(secrets.count { $0 == login.user } == 1, "\(login)")
            let parts = [
                (login.hasNote, Login.note), (login.hasCode, Login.seed), (login.hasPasskey, Login.passkey),
                (login.password == "real password", "real password"),
            ]
            for (isThere, secret) in parts {
                #expect(secrets.count { $0.contains(secret) } == (isThere ? 1 : 0), "\(login): \(secret)")
            }
            #expect(entries.count == 1 + parts.count(where: \.0), "\(login)")
            #expect(
                contents.leftOut.isEmpty && contents.refused.allSatisfy { $0.problem.isKept },
                "\(login): \(contents.leftOut)")
        }
    }

    @Test(
        "A user name is the account of the login and in those of the other parts, even if it begins like a token",
        arguments: Reader.all)
    private func users(reader: Reader) throws {
        for user in ["ada", "npm_registry.example.com", "hf_space.of.somebody.example", Self.old] {
            for login in reader.variants(of: Login(user: user, password: "real password")) {
                let contents = try reader.read(login)
                for (item, secret) in try contents.entries {
                    let account = item.attributes.text(.acct) ?? ""
                    if secret == Array("real password".utf8) {
                        #expect(account == user, "\(login): \(item)")
                    } else if item.attributes.text(.desc) != "passkey" {
                        #expect(account.hasSuffix(" (\(user))"), "\(login): \(item)")
                    }
                }
                #expect(
                    try contents.entries.count == 1 + [login.hasNote, login.hasCode, login.hasPasskey].count { $0 })
                #expect(
                    contents.leftOut.isEmpty && contents.refused.allSatisfy { $0.problem.isKept },
                    "\(login): \(contents.leftOut)")
            }
        }
    }

    @Test("A user without a password is not lost, whatever else the record has", arguments: Reader.all)
    private func withoutPassword(reader: Reader) throws {
        for login in reader.variants(of: Login(user: "ada")) where reader.hasParts {
            let accounts = try reader.read(login).entries.map { $0.item.attributes.text(.acct) ?? "" }
            #expect(accounts.contains { $0 == "ada" || $0.hasSuffix("(ada)") }, "\(login): \(accounts)")
        }
    }

    @Test("An access token among further names of the user is in no attribute, and becomes a field")
    func furtherNames() throws {
        let token = Self.new
        let tables = [
            "username,username2,username3,title,password,note,url,category,otpSecret\nada,\(token),bob,Site,p,n,,,\n",
            "username,username2,username3,title,password,note,url,category,otpSecret\nada,bob,\(token),Site,,n,,,\n",
            "type,name,url,email,username,password,note,totp,createTime,modifyTime,vault\n"
                + "login,Site,,\(token),ada,p,n,,,,V\n",
        ]
        for table in tables {
            let contents = try ForeignReading.read(table, as: CSVFormat())
            try expectField(token, in: contents)
        }
        try expectField(
            token,
            in: ForeignReading.read(
                #"""
                {"encrypted":false,"vaults":{"v":{"name":"V","items":[{"itemId":"1","state":1,"data":{"type":"login",
                "metadata":{"name":"Site","note":"n"},"content":{"itemUsername":"ada","itemEmail":"\#(token)","password":"p"}}}]}}}
                """#, as: ProtonPassFormat()))
    }

    @Test("An access token with white space around it is one too")
    func spaces() throws {
        for name in [Self.new + " ", " \(Self.new)", Self.old + "\t"] {
            let contents = try ForeignReading.read(
                "name,url,username,password\nSite,,\"\(name)\",\n", as: CSVFormat())
            let (item, secret) = try #require(try contents.entries.first)
            #expect(item.attributes.text(.acct) == nil && secret == Array(name.utf8))
        }
    }

    private func expectField(_ token: String, in contents: ForeignContents) throws {
        let entries = try contents.entries
        for (item, _) in entries { #expect(!"\(item)".contains(token)) }
        let field = try #require(entries.first { $0.secret == Array(token.utf8) })
        #expect(field.item.attributes.text(.desc) == "field")
        #expect(contents.leftOut.isEmpty)
    }
}
