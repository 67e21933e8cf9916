/// Plain files of authenticators, with made-up entries.
enum AuthenticatorSamples {
    private static let seed = AuthenticatorTests.seed
    /// The bytes of the seed as signed numbers: "12345678901234567890".
    private static let numbers = "49,50,51,52,53,54,55,56,57,48,49,50,51,52,53,54,55,56,57,48"

    static let yandex =
        #"{"type":"yandex","uuid":"4","name":"ada","issuer":"Bank","info":{"secret":"\#(seed)","algo":"SHA256","digits":8,"period":30,"pin":"1234"}}"#
    static let aegisEntry =
        #"{"type":"totp","uuid":"1","name":"ada","issuer":"Forum","note":"n","favorite":true,"icon":"AA==","#
        + #""icon_mime":"image/png","icon_hash":"00","info":{"secret":"\#(seed)","algo":"SHA1","digits":6,"period":30},"#
        + #""groups":["g","h"]}"#
    static let aegis =
        #"{"version":1,"header":{"slots":null,"params":null},"db":{"version":3,"entries":["# + aegisEntry
        + #",{"type":"hotp","uuid":"2","name":"","issuer":"Shop","info":{"secret":"\#(seed)","algo":"SHA256","digits":7,"counter":9}}"#
        + #",{"type":"steam","uuid":"3","name":"eve","issuer":"Steam","info":{"secret":"\#(seed)","algo":"SHA1","digits":5,"period":30}},"#
        + yandex + #"],"groups":[{"uuid":"g","name":"Home"},{"uuid":"h","name":"Work"}],"icons_optimized":true}}"#
    static let twoFAS =
        #"{"services":[{"name":"Forum","secret":"\#(seed)","updatedAt":1700000000000,"otp":{"link":"otpauth://totp/x","#
        + #""label":"ada","account":"ada","issuer":"Forum","digits":6,"period":30,"algorithm":"SHA1","tokenType":"TOTP","#
        + #""source":"Link"},"order":{"position":0},"groupId":"g","icon":{"selected":"Label","label":{"text":"F"}}},"#
        + #"{"name":"Shop","secret":"\#(seed)","updatedAt":1700000000000,"otp":{"label":"eve","account":"eve","issuer":"Shop","#
        + #""digits":8,"algorithm":"SHA512","counter":5,"tokenType":"HOTP","source":"Manual"},"order":{"position":1}}],"#
        + #""groups":[{"id":"g","name":"Home","isExpanded":true}],"updatedAt":1700000000000,"schemaVersion":4,"#
        + #""appVersionCode":5000000,"appVersionName":"5.0.0","appOrigin":"android"}"#
    static let andOTP =
        #"[{"secret":"\#(seed)======","issuer":"Forum","label":"ada","digits":6,"type":"TOTP","algorithm":"SHA1","#
        + #""thumbnail":"Github","last_used":1700000000000,"used_frequency":3,"period":30,"tags":["Home"]},"#
        + #"{"secret":"\#(seed)","issuer":"Shop","label":"eve","digits":8,"type":"HOTP","algorithm":"SHA512","#
        + #""thumbnail":"Default","last_used":0,"used_frequency":0,"counter":5,"tags":[]}]"#
    static let freeOTPPlus =
        #"{"tokenOrder":["Forum:ada"],"tokens":[{"algo":"SHA1","counter":0,"digits":6,"issuerExt":"Forum","issuerInt":"Forum","#
        + #""label":"ada","period":30,"secret":[\#(numbers)],"type":"TOTP"},{"algo":"SHA512","counter":5,"digits":8,"#
        + #""issuerExt":"Shop","issuerInt":"Shop","label":"eve","period":30,"secret":[\#(numbers)],"type":"HOTP"}]}"#
    static let stratum =
        #"{"Authenticators":[{"Type":2,"Icon":"forum","Issuer":"Forum","Username":"ada","Secret":"\#(seed)","Pin":null,"#
        + #""Algorithm":0,"Digits":6,"Period":30,"Counter":0,"Ranking":0,"CopyCount":2},{"Type":1,"Icon":null,"Issuer":"Shop","#
        + #""Username":"eve","Secret":"\#(seed)","Pin":null,"Algorithm":2,"Digits":8,"Period":30,"Counter":5,"Ranking":1}],"#
        + #""Categories":[{"Id":"c","Name":"Home","Ranking":0}],"AuthenticatorCategories":[{"CategoryId":"c","#
        + #""AuthenticatorSecret":"\#(seed)","Ranking":0}],"CustomIcons":[]}"#
    static let proton =
        #"{"version":1,"entries":[{"id":"1","content":{"uri":"otpauth://totp/Forum:ada?secret=\#(seed)&issuer=Forum","#
        + #""entry_type":"Totp","name":"ada"},"note":"n"},{"id":"2","content":{"uri":"steam://MTIzNDU2Nzg=","#
        + #""entry_type":"Steam","name":"eve"},"note":null}]}"#
    static let twoFAuth =
        #"{"app":"2fauth_v5.0.3","schema":1,"datetime":"2026-01-01T00:00:00Z","data":[{"otp_type":"totp","account":"ada","#
        + #""service":"Forum","icon":null,"secret":"\#(seed)","digits":6,"algorithm":"sha1","period":30,"counter":null,"#
        + #""legacy_uri":"otpauth://totp/Forum%3Aada?secret=\#(seed)"}]}"#
    static let freeOTP =
        #"<map><string name="Forum:ada">{"algo":"SHA1","counter":0,"digits":6,"issuerExt":"Forum","label":"ada","#
        + #""period":30,"secret":[\#(numbers)],"type":"TOTP"}</string><string name="tokenOrder">["Forum:ada"]</string></map>"#
    static let addresses =
        "otpauth://totp/Forum:ada?secret=\(seed)&issuer=Forum\r\n\notpauth://hotp/Shop:eve?secret=\(seed)&counter=5\n"
        + transfer + "\n"
    /// A transfer of one code and one entry, which other programs decode to the seed
    /// `GFCDMNZZIMYTORJZGNCTERKFGAZDERSB`.
    static let transfer =
        "otpauth-migration://offline?data=CjMKFDFENjc5QzE3RTkzRTJFRTAyMkZBEgl0ZXNzZXJhY3QaCm11bHRpdmVyc2UgASgBMAIQARgBIAA%3D"
}
