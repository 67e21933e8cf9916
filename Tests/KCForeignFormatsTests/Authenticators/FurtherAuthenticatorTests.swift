import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Exports of Proton Authenticator, 2FAuth, FreeOTP and Ente Auth")
struct FurtherAuthenticatorTests {
    private static let seed = AuthenticatorTests.seed
    private static let forge = "genp svce=GitForge acct=one-time password (zoe) desc=one-time password: "

    private func recognised(_ text: String) throws -> String {
        try KnownFormats.recognise(ForeignReading.input(Array(text.utf8))).name
    }

    @Test("Proton Authenticator: each entry has its ID, and its note is one")
    func proton() throws {
        let text =
            #"{"version":1,"entries":[{"id":"e1","content":{"uri":"otpauth://totp/GitForge:zoe?secret=JBSWY3DPEHPK3PXP&issuer=GitForge&algorithm=SHA1&digits=6&period=30","#
            + #""entry_type":"Totp","name":"zoe"},"note":"hello"}]}"#
        #expect(try recognised(text) == "proton-authenticator")
        let contents = try ForeignReading.read(text, as: ProtonAuthenticatorFormat())
        #expect(
            try contents.listing == [
                "genp svce=GitForge acct=note (zoe) desc=secure note: hello",
                Self.forge
                    + "otpauth://totp/GitForge:zoe?secret=JBSWY3DPEHPK3PXP&issuer=GitForge&algorithm=SHA1&digits=6&period=30",
            ])
        #expect(contents.isPlaintext && contents.refused == [] && contents.leftOut.isEmpty && contents.remarks == [])
        #expect(try contents.entries.allSatisfy { $0.item.extraValue("source.id") == "e1" })
        #expect("a newer version") {
            let newer = text.replacing(#""version":1"#, with: #""version":2"#)
            return try ForeignReading.read(newer, as: ProtonAuthenticatorFormat())
        } throws: { error in
            if case .unknownVariant = error as? ForeignFailure { true } else { false }
        }
    }

    @Test("Proton Authenticator: an encrypted export opens with its password alone, and not if it was altered")
    func protonEncrypted() throws {
        let bytes = try ForeignReading.fixture("Authenticators/proton-authenticator.json")
        #expect(try KnownFormats.recognise(ForeignReading.input(bytes)).name == "proton-authenticator")
        let contents = try ForeignReading.read(bytes, as: ProtonAuthenticatorFormat(), password: "pw one")
        #expect(
            try contents.listing == [
                "genp svce=Forum acct=note (ada) desc=secure note: spare",
                "genp svce=Forum acct=one-time password (ada) desc=one-time password: otpauth://totp/Forum:ada?secret="
                    + "\(Self.seed)&issuer=Forum",
                "genp svce=Steam acct=one-time password (eve) desc=one-time password: otpauth://totp/Steam:eve?secret="
                    + "\(Self.seed)&issuer=Steam&digits=5&encoder=steam",
            ])
        #expect(contents.details == "encrypted" && !contents.isPlaintext && contents.refused == [])
        for wrong in ["pw two", ""] {
            #expect(throws: ForeignFailure.wrongPasswordOrDamaged) {
                try ForeignReading.read(bytes, as: ProtonAuthenticatorFormat(), password: wrong)
            }
        }
        for place in [bytes.count - 20, bytes.count / 2] {
            let other = bytes.replacing(
                at: place, with: bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A"))
            #expect(throws: ForeignFailure.wrongPasswordOrDamaged) {
                try ForeignReading.read(other, as: ProtonAuthenticatorFormat(), password: "pw one")
            }
        }
        for text in [
            #"{"version":1,"salt":"AAAA","content":"AAAA"}"#,
            #"{"version":1,"salt":"AAAAAAAAAAAAAAAAAAAAAA==","content":"AAAA"}"#,
        ] {
            #expect("\(text)") {
                try ForeignReading.read(text, as: ProtonAuthenticatorFormat(), password: "pw one")
            } throws: { error in
                if case .damaged = error as? ForeignFailure { true } else { false }
            }
        }
    }

    private static let account =
        #"{"otp_type":"totp","account":"zoe","service":"GitForge","icon":null,"secret":"JBSWY3DPEHPK3PXP","digits":6,"#
        + #""algorithm":"sha1","period":30,"counter":null,"legacy_uri":"otpauth://totp/GitForge%3Azoe?issuer=GitForge&secret=JBSWY3DPEHPK3PXP"}"#

    @Test("2FAuth: accounts of each kind, and the list of addresses")
    func twoFAuth() throws {
        let start = #"{"app":"2fauth_v5.0.3","schema":1,"datetime":"2026-01-01T00:00:00Z","data":["#
        let others =
            #",{"otp_type":"hotp","account":"eve","service":"Shop","icon":"a.png","icon_mime":"image/png","icon_file":"AA==","#
            + #""secret":"MZXW6YTB====","digits":8,"algorithm":"sha512","period":null,"counter":5,"legacy_uri":""},"#
            + #"{"otp_type":"steamtotp","account":"eve","service":"Steam","icon":null,"secret":"MZXW6YTB","digits":5,"#
            + #""algorithm":"sha1","period":30,"counter":null,"legacy_uri":""}"#
        let text = start + Self.account + others + "]}"
        #expect(try recognised(text) == "2fauth")
        let contents = try ForeignReading.read(text, as: TwoFAuthFormat())
        #expect(
            try contents.listing == [
                Self.forge + "otpauth://totp/GitForge:zoe?secret=JBSWY3DPEHPK3PXP&issuer=GitForge",
                "genp svce=Shop acct=one-time password (eve) desc=one-time password: otpauth://hotp/Shop:eve?secret="
                    + "MZXW6YTB&issuer=Shop&algorithm=SHA512&digits=8&counter=5",
                "genp svce=Steam acct=one-time password (eve) desc=one-time password: otpauth://totp/Steam:eve?secret="
                    + "MZXW6YTB&issuer=Steam&digits=5&encoder=steam",
            ])
        #expect(contents.leftOut.map(\.kind) == ["icon"] && contents.remarks == [] && contents.refused == [])
        let list = start + #""otpauth:\/\/totp\/GitForge:zoe?secret=JBSWY3DPEHPK3PXP&issuer=GitForge"]}"#
        #expect(try recognised(list) == "2fauth")
        #expect(
            try ForeignReading.read(list, as: TwoFAuthFormat()).listing == [
                Self.forge + "otpauth://totp/GitForge:zoe?secret=JBSWY3DPEHPK3PXP&issuer=GitForge"
            ])
    }

    private static let token =
        #"{"algo":"SHA1","counter":0,"digits":6,"issuerExt":"GitForge","label":"zoe","period":30,"secret":[72,101,108],"type":"TOTP"}"#

    @Test("FreeOTP: tokens in the settings of the app, also those of its first versions")
    func freeOTP() throws {
        let head = #"<?xml version="1.0" encoding="UTF-8" standalone="yes" ?>"#
        let names = #""label":"zoe","labelAlt":"eve","issuerAlt":"Forge""#
        let renamed = Self.token.replacing(#""label":"zoe""#, with: names)
        let text =
            head + #"<map><string name="GitForge:zoe">"# + Self.token + #"</string><string name="b">"#
            + renamed.replacing("\"", with: "&quot;") + #"</string><string name="tokenOrder">["a"]</string>"#
            + #"<string name="c">otpauth://totp/Shop:ada?secret=MZXW6YTB&amp;issuer=Shop</string>"#
            + #"<string name="d">other</string><int name="e" value="1" /></map>"#
        #expect(try recognised(text) == "freeotp")
        let contents = try ForeignReading.read(text, as: FreeOTPFormat())
        #expect(
            try contents.listing == [
                "genp svce=Forge acct=one-time password (eve) desc=one-time password: otpauth://totp/Forge:eve?secret="
                    + "JBSWY&issuer=Forge",
                Self.forge + "otpauth://totp/GitForge:zoe?secret=JBSWY&issuer=GitForge",
                "genp svce=Shop acct=one-time password (ada) desc=one-time password: otpauth://totp/Shop:ada?secret="
                    + "MZXW6YTB&issuer=Shop",
            ])
        #expect(contents.refused.map(\.name) == ["d"] && contents.leftOut.map(\.kind) == ["unknown member"])
        #expect(contents.isPlaintext)
    }

    @Test("FreeOTP: the XML of the case is one code")
    func freeOTPAlone() throws {
        let text =
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\" ?>\n<map><string name=\"GitForge:zoe\">\(Self.token)</string></map>"
        #expect(try recognised(text) == "freeotp")
        #expect(
            try ForeignReading.read(text, as: FreeOTPFormat()).listing == [
                Self.forge + "otpauth://totp/GitForge:zoe?secret=JBSWY&issuer=GitForge"
            ])
    }

    /// Exports with the password "test", by libsodium, whose message has a tag that does not mark its end, and another one.
    private static let tagged = [
        (
            0,
            #"{"version":1,"kdfParams":{"memLimit":8192,"opsLimit":1,"salt":"AAECAwQFBgcICQoLDA0ODw=="},"encryptedData":"#
                + #""bA2HOJRiofPlnZWfRovJyt90E1ojRj50dFJQbp8GTTaPusMeEZqmKEDwaCd7DmOu+ZmKIwqNWBpcwPKaCKWmcifBRnl1cUPCco47","#
                + #""encryptionNonce":"Lr9KNPun6WbyxcGjA2VhLWVPWpIyioDK"}"#
        ),
        (
            1,
            #"{"version":1,"kdfParams":{"memLimit":8192,"opsLimit":1,"salt":"AAECAwQFBgcICQoLDA0ODw=="},"encryptedData":"#
                + #""BIcVziaf15e8hX4Ck29xvD1+QfHAeJfBxNs9rOoZ+PpxzUz7RR8YfRlkevZdz1pD9BkI8F8TOZr8wmpVk8tcZxlv74FPhjT1tf9F","#
                + #""encryptionNonce":"OhwwLnq4Z1i+gxoqvJfkRsX6GxOHLi4s"}"#
        ),
    ]

    @Test("Ente Auth: an export whose message is not marked as the last one is read, and no other tag")
    func enteTag() throws {
        for (tag, text) in Self.tagged {
            guard tag == 0 else {
                #expect(throws: ForeignFailure.wrongPasswordOrDamaged) {
                    try ForeignReading.read(text, as: EnteFormat(), password: "test")
                }
                continue
            }
            #expect(
                try ForeignReading.read(text, as: EnteFormat(), password: "test").listing == [
                    "genp svce=Iss acct=one-time password (ada) desc=one-time password: otpauth://totp/Iss:ada?secret="
                        + "JBSWY3DPEHPK3PXP&issuer=Iss"
                ])
        }
    }
}
