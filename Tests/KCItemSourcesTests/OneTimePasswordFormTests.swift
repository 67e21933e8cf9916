import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@Suite("Addresses of one-time passwords as programs and people write them")
struct OneTimePasswordFormTests {
    private static let seed = "JBSWY3DPEHPK3PXP"

    private func made(_ text: String, issuer: String = "shop.example", user: String? = "zoe") -> String? {
        OneTimePasswordAddress.make(of: SecretBytes(copying: text.utf8), issuer: issuer, user: user).utf8Text
    }

    private func givesCodes(_ text: String) -> Bool {
        OneTimePasswordAddress.givesCodes(SecretBytes(copying: text.utf8))
    }

    private func code(_ address: String) throws -> [UInt8] {
        let time = try #require(Timestamp(microseconds: 1_700_000_000_000_000))
        return try OneTimePasswordCode(of: SecretBytes(copying: address.utf8), at: time).text.bytesForTest()
    }

    private static let forms: [(String, String)] = [
        // Apple Passwords writes no label.
        (
            "otpauth://totp?secret=\(seed)&algorithm=SHA1&digits=6&period=30",
            "otpauth://totp/shop.example:zoe?secret=\(seed)&issuer=shop.example"
        ),
        ("otpauth://totp?secret=\(seed)&issuer=Shop", "otpauth://totp/Shop:zoe?secret=\(seed)&issuer=Shop"),
        (
            "apple-otpauth://totp?secret=\(seed)&digits=8",
            "otpauth://totp/shop.example:zoe?secret=\(seed)&issuer=shop.example&digits=8"
        ),
        (
            "otpauth://totp/Shop:ada?secret=\(seed)&issuer=Shop&issuer=Other",
            "otpauth://totp/Shop:ada?secret=\(seed)&issuer=Shop"
        ),
        (
            "otpauth://totp/Shop:ada?secret=\(seed)&period=60&digits=8&period=30&secret=\(seed)&image=x&image=y",
            "otpauth://totp/Shop:ada?secret=\(seed)&issuer=Shop&digits=8&period=60&image=x"
        ),
        ("otpauth://totp/Old:ada?secret=JBSW+Y3DP&issuer=New", "otpauth://totp/Old:ada?secret=JBSWY3DP&issuer=New"),
        ("otpauth://totp/ada?secret=jbsw%20y3dp%20ehpk%203pxp", "otpauth://totp/ada?secret=\(seed)"),
        ("otpauth://totp/ada?secret=JBSW Y3DP EHPK 3PXP", "otpauth://totp/ada?secret=\(seed)"),
        ("otpauth://totp/ada?secret=JBSW-Y3DP-EHPK-3PXP%3D", "otpauth://totp/ada?secret=\(seed)"),
        ("otpauth://hotp/ada?counter=7&secret=JBSW+Y3DP+EHPK+3PXP", "otpauth://hotp/ada?secret=\(seed)&counter=7"),
        (" jbsw y3dp\tehpk 3pxp \n", "otpauth://totp/shop.example:zoe?secret=\(seed)&issuer=shop.example"),
    ]

    @Test("An address that not every authenticator understands is made anew, with all that it says", arguments: forms)
    func mended(given: String, expected: String) throws {
        #expect(made(given) == expected)
        // An address that was mended needs no mending.
        #expect(made(expected, issuer: "other", user: nil) == expected)
        #expect(givesCodes(expected))
        if given.hasPrefix("otpauth://totp") { #expect(try code(given) == code(expected)) }
    }

    @Test(
        "An address that each of them understands stays byte for byte",
        arguments: [
            "otpauth://totp/Shop:ada?secret=\(seed)&algorithm=SHA1&digits=6&period=30",
            "otpauth://totp/Shop:ada?secret=jbswy3dpehpk3pxp", "otpauth://totp/?secret=\(seed)%3D%3d",
            "OTPAUTH://TOTP/Shop%3Aada?SECRET=\(seed)", "otpauth://totp/a?secret=\(seed)&period=&counter=0&digits=",
        ])
    func kept(address: String) throws {
        #expect(made(address) == address)
        #expect(try code(address) == code("otpauth://totp/x?secret=\(Self.seed)"))
    }

    @Test(
        "Text that gives no code is kept as it is, and so is an address with two seeds",
        arguments: [
            "otpauth://totp/x?secret=\(seed)&secret=MZXQ", "otpauth://totp/x", "otpauth://totp/x?secret=0189",
            "otpauth://totp?secret=", "otpauth://yaotp?secret=\(seed)", "otpauth://totp/x?secret=ABC", "otpauth:",
            "x&y",
        ])
    func noCode(text: String) {
        #expect(made(text) == text)
        #expect(!givesCodes(text))
    }

    @Test("A record keeps the text that gives no code, and it is named")
    func named() throws {
        let collector = RecordCollector(format: "test", date: .reference)
        let record = RecordWriter(collector, identity: "1", title: "Bank")
        try record.addLogin(user: "ada", password: SecretBytes(copying: "pw".utf8))
        try record.addOneTimePassword(SecretBytes(copying: "ask my phone 1".utf8))
        let parameters = try #require(OneTimePasswordParameters(.time(period: 60), digits: 8))
        try record.addOneTimePassword(seed: SecretBytes(copying: "0 1?".utf8), parameters)
        let contents = try collector.finish(details: "", isPlaintext: true)
        var visitor = ListingVisitor()
        try contents.items.visitItems(&visitor)
        #expect(
            Set(visitor.secrets) == [
                "pw", "ask my phone 1", "otpauth://totp/Bank:ada?secret=0%201%3F&issuer=Bank&digits=8&period=60",
            ])
        let problem = ForeignContents.Problem.kept("no code can be made of it")
        #expect(contents.refused.map(\.name) == Array(repeating: "Bank: one-time password", count: 2))
        #expect(contents.refused.map(\.problem) == [problem, problem])
    }
}
