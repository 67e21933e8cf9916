import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("JSON exports of Keeper and Enpass")
struct KeeperEnpassTests {
    static let keeper =
        #"{"shared_folders":[{"uid":"s","path":"Team","manage_users":true,"permissions":[{"name":"ben"}]}],"records":["#
        + #"{"uid":"id1","title":"Mail","$type":"login","login":"ada","password":"p","login_url":"https://a.example","#
        + #""notes":"n","last_modified":1700000000,"custom_fields":{"$oneTimeCode::1":["otpauth://totp/x?secret=JBSWY3DP"],"#
        + #""$text:Security: answer:1":"blue","$secret::2":["s1","s2"],"$url::1":"https://b.example","$date::1":1700,"#
        + #""TFC:Keeper":"JBSWY3DP","PIN":"12","$host::1":{"hostName":"h","port":"22"}},"folders":[{"shared_folder":"Team","#
        + #""folder":"Ops","can_edit":true},{"folder":"Own"}],"references":{"$addressRef::1":["x"]},"#
        + #""schema":["$login::1"],"attachments":[{"name":"a.txt"}]},"#
        + #"{"uid":2,"title":"Card","$type":"bankCard","custom_fields":{"$paymentCard::1":{"cardNumber":"4111"}}},"#
        + #"{"uid":3,"title":"Key","$type":"sshKeys","login":"git","password":"phrase","custom_fields":{"$keyPair::1":"#
        + #"{"publicKey":"ssh-x","privateKey":"KEY"}}},"#
        + #"{"uid":4,"title":"Net","$type":"wifiCredentials","password":"w","custom_fields":{"$text:SSID:1":"home"}},"#
        + #"{"uid":5,"title":"Note","$type":"encryptedNotes","notes":"only","custom_fields":{"$note::1":"more"}},"#
        + #"{"uid":6,"title":"Pass","$type":"login","login":"ada","login_url":"https://p.example","custom_fields":"#
        + #"{"$passkey::1":{"relyingParty":"p.example","username":"ada","privateKey":{"d":"K"}}}}]}"#

    @Test("Keeper: fields of all types, keys, networks and passkeys are read, and references are counted")
    func keeperRecords() throws {
        let bytes = Array(Self.keeper.utf8)
        #expect(try KnownFormats.recognise(ForeignReading.input(bytes)).name == "keeper")
        let contents = try ForeignReading.read(bytes, as: KeeperFormat())
        #expect(contents.refused.map(\.name) == ["Pass"] && contents.refused.allSatisfy { $0.problem.isKept })
        let otp = "desc=one-time password: otpauth://totp/"
        #expect(
            try contents.listing.filter { !$0.contains("import:") }
                == [
                    #"genp svce=Card desc=card: {"$paymentCard::1":{"cardNumber":"4111"}}"#,
                    "genp svce=Key acct=git: phrase", "genp svce=Key acct=private key (git) desc=private key: KEY",
                    "genp svce=Mail acct=PIN (ada) desc=field: 12",
                    "genp svce=Mail acct=Security: answer (ada) desc=field: blue",
                    "genp svce=Mail acct=date (ada) desc=field: 1700",
                    #"genp svce=Mail acct=host (ada) desc=field: {"hostName":"h","port":"22"}"#,
                    "genp svce=Mail acct=note (ada) desc=secure note: n",
                    "genp svce=Mail acct=secret (ada) desc=field: s1",
                    "genp svce=AirPort acct=home desc=AirPort network password: w",
                    "genp svce=Note acct=note desc=field: more", "genp svce=Note desc=secure note: only",
                    "genp svce=a.example acct=one-time password (ada) \(otp)x?secret=JBSWY3DP",
                    #"genp svce=p.example acct=passkey (ada) desc=passkey: {"relyingParty":"p.example","username":"ada","privateKey":{"d":"K"}}"#,
                    "inet srvr=a.example acct=ada: p", "inet srvr=p.example acct=ada: no secret",
                ].sorted())
        #expect(try contents.listing.filter { $0.contains("import:") }.count == 2)
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" } == [
                "1 attachment outside the export", "1 reference to another record", "1 right in a shared folder",
            ])
        let login = try #require(try contents.entries.first { $0.item.attributes.text(.srvr) == "a.example" })
        #expect(login.item.extraValue("source.id") == "id1")
        #expect(login.item.extraValue("source.folder") == "Team\\Ops, Own")
        #expect(login.item.extraValue("url.2") == "https://b.example")
        #expect(login.item.modified.seconds == 1_700_000_000)
        // The number of a record is its place in the export, and identifies nothing.
        let moved = Self.keeper.replacing(#""uid":2"#, with: #""uid":9"#)
        #expect(try ForeignReading.read(moved, as: KeeperFormat()).uuids == contents.uuids)
        #expect(try contents.entries.filter { $0.item.extraValue("source.id") == "2" }.isEmpty)
    }

    static let enpass =
        #"{"folders":[{"icon":"1","parent_uuid":"","title":"Work","updated_at":1,"uuid":"f1"},{"icon":"1","parent_uuid":"f1","#
        + #""title":"Mail","updated_at":1,"uuid":"f2"}],"items":[{"archived":0,"auto_submit":1,"category":"login","#
        + #""createdAt":1700000000,"favorite":1,"fields":[{"deleted":0,"label":"Username","order":1,"sensitive":0,"#
        + #""type":"username","uid":10,"updated_at":1,"value":"ada","value_updated_at":1,"history":[{"value":"old"}]},"#
        + #"{"label":"E-mail","type":"email","value":"a@b.example"},{"label":"Password","type":"password","value":"p","#
        + #""sensitive":1},{"label":"Website","type":"url","value":"https://a.example"},{"label":"More","type":"section","#
        + #""value":""},{"label":"Code","type":"totp","value":"jbsw y3dp"},{"label":"PIN","type":"pin","value":"12","#
        + #""sensitive":1},{"label":"Gone","type":"text","value":"x","deleted":1},{"label":"App","type":".Android#","#
        + #""value":"com.example"},{"label":"Empty","type":"text","value":""}],"folders":["f2"],"icon":{"fav":"a","type":1,"#
        + #""uuid":""},"note":"n","subtitle":"ada","template_type":"login.default","title":"Mail","trashed":0,"#
        + #""updated_at":1700000001,"uuid":"u1","attachments":[{"data":"QUJD","kind":"text/plain","name":"a.txt"}]},"#
        + #"{"category":"creditcard","fields":[{"label":"Number","type":"ccNumber","value":"4111"},{"label":"CVC","#
        + #""type":"ccCvc","value":"123"},{"label":"CVC","type":"text","value":"9"}],"title":"Visa","uuid":"u2"},"#
        + #"{"category":"note","note":"text","title":"N","uuid":"u3","trashed":0},"#
        + #"{"category":"login","title":"T","uuid":"u4","trashed":1,"note":"x"},"#
        + #"{"category":"login","title":"A","uuid":"u5","archived":1,"note":"x"}]}"#

    @Test("Enpass: fields, sections, folders, cards and attachments are read; deleted and earlier values are counted")
    func enpassRecords() throws {
        let bytes = Array(Self.enpass.utf8)
        #expect(try KnownFormats.recognise(ForeignReading.input(bytes)).name == "enpass")
        let contents = try ForeignReading.read(bytes, as: EnpassFormat())
        #expect(contents.refused == [])
        #expect(
            try contents.listing == [
                "genp svce=Mail acct=More: PIN (ada) desc=field: 12",
                "genp svce=Mail acct=a.txt (ada) desc=attachment: ABC",
                "genp svce=Mail acct=note (ada) desc=secure note: n", "genp svce=N desc=secure note: text",
                "genp svce=Visa acct=CVC desc=field: 9",
                #"genp svce=Visa desc=card: {"Number":"4111","CVC":"123"}"#,
                "genp svce=a.example acct=one-time password (ada) desc=one-time password: otpauth://totp/Mail:ada?secret=JBSWY3DP&issuer=Mail",
                "inet srvr=a.example acct=ada: p",
            ])
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" } == [
                "1 favorite mark", "1 earlier value of a field", "1 deleted field", "1 record in the trash",
                "1 archived record",
            ])
        let login = try #require(try contents.entries.first { $0.item.itemClass == .internetPassword })
        #expect(login.item.extraValue("source.folder") == "Work/Mail")
        #expect(login.item.extraValue("email") == "a@b.example")
        #expect(login.item.extraValue("url.2") == "androidapp://com.example")
        #expect(login.item.created.seconds == 1_700_000_000)
    }

    @Test("Folders of Enpass that are in one another do not end the program")
    func enpassFolders() throws {
        let text =
            #"{"folders":[{"uuid":"a","title":"A","parent_uuid":"b"},{"uuid":"b","title":"B","parent_uuid":"a"}],"#
            + #""items":[{"uuid":"u","title":"T","note":"n","folders":["a","none"]}]}"#
        let contents = try ForeignReading.read(text, as: EnpassFormat())
        let folder = try #require(try contents.entries.first?.item.extraValue("source.folder"))
        #expect(folder.hasSuffix("B/A") && folder.count < 100)
        #expect(contents.leftOut.map(\.kind) == ["folder without a name"])
    }
}
