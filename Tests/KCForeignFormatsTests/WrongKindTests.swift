import KCItemSources
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Values of the wrong kind in JSON")
struct WrongKindTests {
    private static let cxf =
        #"{"version":{"major":1,"minor":0},"exporterRpId":"e","accounts":[{"id":"A","collections":[],"items":[{"id":"aQ","#
        + #""title":"T","tags":[],"scope":{"urls":["https://a.example"],"androidApps":[]},"credentials":[{"type":"basic-auth","#
        + #""username":{"value":"ada"},"password":{"value":"pw"}},{"type":"totp","secret":"MZXQ","period":30,"digits":6},"#
        + #"{"type":"custom-fields","fields":[{"label":"l","value":"v"}]}],"extensions":[]}]}]}"#
    private static let bitwarden =
        #"{"encrypted":false,"folders":[],"collections":[],"items":[{"id":"a","type":1,"name":"n","collectionIds":[],"#
        + #""fields":[],"passwordHistory":[],"login":{"uris":[{"uri":"https://a.example"}],"username":"u","#
        + #""password":"p","fido2Credentials":[]}}]}"#
    private static let proton =
        #"{"encrypted":false,"vaults":{"v":{"name":"V","items":[{"itemId":"a","data":{"metadata":{"name":"n"},"extraFields":[],"#
        + #""type":"login","content":{"itemUsername":"u","password":"p","urls":[],"passkeys":[]}}}]}}}"#
    private static let onePassword =
        #"{"accounts":[{"vaults":[{"attrs":{"name":"V"},"items":[{"uuid":"a","categoryUuid":"001","details":{"#
        + #""loginFields":[{"value":"p","designation":"password"}],"sections":[{"title":"s","fields":[]}],"#
        + #""passwordHistory":[]},"overview":{"title":"t","urls":[],"tags":[]}}]}]}]}"#

    private static let cases: [(any ForeignFormat, String, [(String, String)])] = [
        (
            CXFFormat(), cxf,
            [
                (#""items":["#, #""items":{"a":1},"x":["#), (#""items":["#, #""itemz":["#),
                (#""tags":[]"#, #""tags":"x""#), (#""urls":["https://a.example"]"#, #""urls":"https://a.example""#),
                (#""urls":["https://a.example"]"#, #""urls":[7]"#), (#""scope":{"#, #""scope":[],"x":{"#),
                (#""androidApps":[]"#, #""androidApps":{}"#), (#""androidApps":[]"#, #""androidApps":["x"]"#),
                (#""credentials":["#, #""credentials":{},"x":["#), (#""credentials":["#, #""credentials":null,"x":["#),
                (#""credentials":["#, #""credentials":["x","#), (#""extensions":[]"#, #""extensions":1"#),
                (#""value":"pw""#, #""value":1234"#), (#""value":"pw""#, #""value":["pw"]"#),
                (#""value":"ada""#, #""value":1"#), (#"{"value":"pw"}"#, "7"), (#""title":"T""#, #""title":1"#),
                (#""period":30"#, #""period":"30""#), (#""digits":6"#, #""digits":6.5"#),
                (#""secret":"MZXQ""#, #""secret":1"#), (#""fields":["#, #""fields":{},"x":["#),
                (#""collections":[]"#, #""collections":{}"#),
            ]
        ),
        (
            BitwardenFormat(), bitwarden,
            [
                (#""items":["#, #""items":{},"x":["#), (#""folders":[]"#, #""folders":{}"#),
                (#""uris":[{"uri":"https://a.example"}]"#, #""uris":{"uri":"https://a.example"}"#),
                (#""uris":[{"uri":"https://a.example"}]"#, #""uris":["https://a.example"]"#),
                (#""fields":[]"#, #""fields":{}"#), (#""fido2Credentials":[]"#, #""fido2Credentials":{}"#),
                (#""collectionIds":[]"#, #""collectionIds":"x""#), (#""password":"p""#, #""password":1"#),
                (#""type":1,"name":"n""#, #""type":2,"name":"n","login":[],"x":1"#),
            ]
        ),
        (
            ProtonPassFormat(), proton,
            [
                (#""items":["#, #""items":{},"x":["#), (#""items":["#, #""itemz":["#),
                (#""extraFields":[]"#, #""extraFields":{}"#), (#""urls":[]"#, #""urls":"x""#),
                (#""passkeys":[]"#, #""passkeys":{}"#), (#""metadata":{"#, #""metadata":[],"x":{"#),
                (#""content":{"#, #""content":[],"x":{"#), (#""extraFields":[]"#, #""extraFields":[{"data":"x"}]"#),
            ]
        ),
        (
            OnePasswordFormat(), onePassword,
            [
                (#""accounts":["#, #""accounts":{},"x":["#), (#""vaults":["#, #""vaults":{},"x":["#),
                (#""items":["#, #""items":{},"x":["#), (#""items":["#, #""itemz":["#),
                (#""loginFields":["#, #""loginFields":{},"x":["#), (#""sections":["#, #""sections":{},"x":["#),
                (#""fields":[]"#, #""fields":{}"#), (#""fields":[]"#, #""fields":[{"value":"x"}]"#),
                (#""urls":[]"#, #""urls":"x""#), (#""urls":[]"#, #""urls":["x"]"#), (#""tags":[]"#, #""tags":"x""#),
                (#""details":{"#, #""details":[],"x":{"#), (#""overview":{"#, #""overview":[],"x":{"#),
                (#""attrs":{"name":"V"}"#, #""attrs":"V""#),
            ]
        ),
    ]

    private static let others: [(any ForeignFormat, String, [(String, String)])] = [
        (
            KeeperFormat(),
            #"{"shared_folders":[],"records":[{"uid":"a","title":"t","login":"u","password":"p","folders":[],"#
                + #""custom_fields":{"PIN":"1"},"references":{},"attachments":[]}]}"#,
            [
                (#""records":["#, #""records":{},"x":["#), (#""shared_folders":[]"#, #""shared_folders":{}"#),
                (#""folders":[],"cus"#, #""folders":"f","cus"#), (#"{"PIN":"1"}"#, #"["1"]"#),
                (#""references":{}"#, #""references":[]"#), (#""attachments":[]"#, #""attachments":{}"#),
            ]
        ),
        (
            EnpassFormat(),
            #"{"folders":[{"uuid":"f","title":"F","parent_uuid":""}],"items":[{"uuid":"a","title":"t","note":"n","#
                + #""fields":[],"attachments":[],"folders":["f"]}]}"#,
            [
                (#""items":["#, #""items":{},"x":["#), (#""folders":[{"#, #""folders":{},"x":[{"#),
                (#""fields":[]"#, #""fields":{}"#), (#""attachments":[]"#, #""attachments":{}"#),
                (#""folders":["f"]"#, #""folders":"f""#), (#""title":"F""#, #""title":7"#),
            ]
        ),
    ]

    private static let authenticators: [(any ForeignFormat, String, [(String, String)])] = [
        (
            AegisFormat(),
            #"{"version":1,"header":{},"db":{"version":3,"entries":[\#(AuthenticatorSamples.aegisEntry)],"#
                + #""groups":[{"uuid":"g","name":"H"},{"uuid":"h","name":"W"}]}}"#,
            [
                (#""entries":["#, #""entries":{},"x":["#), (#""entries":["#, #""entriez":["#),
                (#""db":{"#, #""db":[],"x":{"#),
                (#""groups":["g","h"]"#, #""groups":"g""#), (#""groups":[{"#, #""groups":{},"x":[{"#),
                (#""name":"ada""#, #""name":1"#), (#""digits":6"#, #""digits":"6""#),
                (#""note":"n""#, #""note":["n"]"#),
                (#""uuid":"1""#, #""uuid":1"#), (#""version":1"#, #""version":"1""#),
            ]
        ),
        (
            TwoFASFormat(),
            #"{"schemaVersion":4,"groups":[],"services":[{"name":"F","secret":"MZXQ","otp":{"account":"u"}}]}"#,
            [
                (#""services":["#, #""services":{},"x":["#), (#""services":["#, #""servicez":["#),
                (#""groups":[]"#, #""groups":{}"#), (#""otp":{"#, #""otp":"o","x":{"#),
                (#""account":"u""#, #""account":{}"#),
                (#""secret":"MZXQ""#, #""secret":["MZXQ"]"#), (#""groups":[]"#, #""servicesEncrypted":{}"#),
                (#""schemaVersion":4"#, #""schemaVersion":"4""#),
            ]
        ),
        (
            AndOTPFormat(), #"[{"secret":"MZXQ","label":"u","type":"TOTP","algorithm":"SHA1","tags":[]}]"#,
            [
                (#""tags":[]"#, #""tags":"x""#), (#""label":"u""#, #""label":7"#),
                (#""secret":"MZXQ""#, #""secret":null"#),
            ]
        ),
        (
            FreeOTPPlusFormat(), #"{"tokenOrder":[],"tokens":[{"issuerExt":"F","secret":[1,2],"type":"TOTP"}]}"#,
            [
                (#""tokens":["#, #""tokens":{},"x":["#), (#""tokens":["#, #""tokenz":["#), ("[1,2]", #""MZXQ""#),
                (#""issuerExt":"F""#, #""issuerExt":[]"#),
            ]
        ),
        (
            StratumFormat(),
            #"{"Authenticators":[{"Type":2,"Issuer":"F","Secret":"MZXQ"}],"Categories":[],"AuthenticatorCategories":[]}"#,
            [
                (#""Authenticators":["#, #""Authenticators":{},"x":["#), (#""Categories":[]"#, #""Categories":{}"#),
                (#""AuthenticatorCategories":[]"#, #""AuthenticatorCategories":7"#), (#""Issuer":"F""#, #""Issuer":7"#),
            ]
        ),
    ]

    private func read(_ text: String, as format: any ForeignFormat) throws -> ForeignContents {
        guard format is OnePasswordFormat else { return try ForeignReading.read(text, as: format) }
        let members = [("export.attributes", #"{"version":3}"#), ("export.data", text)]
        return try ForeignReading.read(ZipWriter.zip(members.map { ($0.0, Array($0.1.utf8)) }), as: format)
    }

    @Test(
        "A list, an object or a text of the wrong kind is damage of the file, of its record or of its part; it never looks empty",
        arguments: 0..<cases.count + authenticators.count + others.count)
    func wrongKind(index: Int) throws {
        let (format, text, changes) = (Self.cases + Self.authenticators + Self.others)[index]
        let sound = try read(text, as: format)
        #expect(sound.items.count > 0 && sound.refused == [])
        for (from, to) in changes {
            try #require(text.contains(from), "\(from)")
            let changed = text.replacing(from, with: to, maxReplacements: 1)
            do {
                let contents = try read(changed, as: format)
                let listing = try contents.listing
                #expect(!contents.refused.isEmpty, "\(to): \(listing)")
            } catch ForeignFailure.damaged {
            } catch ForeignFailure.notOfFormat {
                // The document does not begin like one of this format any more.
            }
        }
    }
}
