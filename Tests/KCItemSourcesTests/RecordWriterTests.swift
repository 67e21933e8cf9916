import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@Suite("Items made from a password manager's record")
struct RecordWriterTests {
    private func secret(_ text: String) -> SecretBytes { SecretBytes(copying: text.utf8) }

    private func collect(
        _ body: (RecordCollector) throws(ForeignFailure) -> Void
    ) throws -> (contents: ForeignContents, items: [Item], secrets: [String]) {
        let collector = RecordCollector(format: "test", date: .reference)
        try body(collector)
        let contents = try collector.finish(details: "", isPlaintext: true)
        var visitor = ListingVisitor()
        try contents.items.visitItems(&visitor)
        return (contents, visitor.items, visitor.secrets)
    }

    @Test("Each secret becomes an item, and only fields of the same name need a marker to be distinct")
    func parts() throws {
        for title in ["Bank", "bank.example", ""] {
            for addresses in [["https://bank.example:8443/in?x=1", "https://b.example"], []] {
                for user in ["ada", nil] {
                    let collected = try collect { collector throws(ForeignFailure) in
                        let record = RecordWriter(collector, identity: "1", title: title)
                        record.addresses = addresses
                        try record.addLogin(user: user, password: secret("p"))
                        try record.addOneTimePassword(secret("JBSW Y3DP"))
                        try record.addNote(secret("n"))
                        try record.addField("PIN", secret("1"))
                        try record.addField("PIN", secret("2"))
                        try record.addObject("card", secret("{}"))
                        try record.addPasskey(host: "bank.example", user: user, secret("{}"))
                        try record.addPrivateKey(secret("k"))
                        try record.addAttachment("a.pdf", secret("%"))
                    }
                    // Two fields with the same name in one record differ only in their secrets. So would a card and a
                    // login without an address, but no program has both in one record.
                    #expect(collected.contents.marked.filter { $0.attributes.text(.desc) != "card" }.count == 1)
                    #expect(collected.items.count == 9)
                    #expect(Set(collected.items.map(\.uuid)).count == 9)
                }
            }
        }
    }

    @Test("A file of another program sets no mark of kcbackup's own: the item is refused by name")
    func reservedNames() throws {
        let collected = try collect { collector throws(ForeignFailure) in
            let record = RecordWriter(collector, identity: "1", title: "t")
            record.extra = [ExtraAttribute(name: "kcbackup:attribute:kcbackup:accessible", value: "akpu")]
            try record.addLogin(user: nil, password: secret("p"))
        }
        #expect(collected.items.isEmpty)
        #expect(collected.contents.refused.map(\.problem) == [.item(.reservedExtra)])
    }

    @Test("A URL becomes server, port and path, without any password in it")
    func address() throws {
        let collected = try collect { collector throws(ForeignFailure) in
            let record = RecordWriter(collector, identity: "1", title: "t")
            record.addresses = ["https://ada:swordfish@bank.example:8443/in?x=1#y", "", "https://b.example"]
            record.folder = "Work"
            record.id = "id-1"
            record.authentication = .http(realm: "r")
            try record.addLogin(user: nil, password: secret("p"))
        }
        let item = try #require(collected.items.first)
        #expect(item.itemClass == .internetPassword)
        #expect(item.attributes.text(.srvr) == "bank.example")
        #expect(item.attributes.text(.acct) == "ada")
        #expect(item.attributes.number(.port) == 8_443)
        #expect(item.attributes.text(.path) == "/in")
        #expect(item.attributes.text(.sdmn) == "r")
        #expect(
            item.extra.map { "\($0.name)=\($0.value)" } == [
                "source.folder=Work", "source.format=test", "source.id=id-1", "source.part=password",
                "url.1=https://ada@bank.example:8443/in", "url.2=https://b.example",
            ])
    }

    @Test("An app's address becomes its package name")
    func apps() throws {
        for (address, service) in [
            ("android://aGFzaA==@com.example.app/", "com.example.app"),
            ("androidapp://com.example.app", "com.example.app"),
            ("iosapp://com.example.ios", "com.example.ios"),
        ] {
            let collected = try collect { collector throws(ForeignFailure) in
                let record = RecordWriter(collector, identity: "1", title: "t")
                record.addresses = [address]
                try record.addLogin(user: nil, password: secret("p"))
            }
            #expect(collected.items.map { $0.attributes.text(.svce) } == [service])
            #expect(collected.items[0].extra.contains { $0.name == "url.1" && $0.value == address })
        }
    }

    @Test("A login without a password has no secret, rather than an empty one")
    func absent() throws {
        let collected = try collect { collector throws(ForeignFailure) in
            let one = RecordWriter(collector, identity: "1", title: "a")
            try one.addLogin(user: nil, password: nil)
            let two = RecordWriter(collector, identity: "2", title: "b")
            try two.addLogin(user: nil, password: secret(""))
        }
        #expect(collected.items.map(\.secretSize) == [nil, 0])
    }

    @Test(
        "A seed becomes an otpauth URL, and other text is kept",
        arguments: [
            ("jbsw y3dp-ehpk 3pxp", "otpauth://totp/A%20B:ada%40c?secret=JBSWY3DPEHPK3PXP&issuer=A%20B"),
            ("otpauth://totp/x?secret=A&digits=8", "otpauth://totp/x?secret=A&digits=8"),
            (
                "steam://JBSWY3DP",
                "otpauth://totp/A%20B:ada%40c?secret=JBSWY3DP&issuer=A%20B&digits=5&encoder=steam"
            ),
            ("key=1&step=2", "key=1&step=2"), ("", ""),
        ])
    func oneTimePassword(given: String, expected: String) {
        let address = OneTimePasswordAddress.make(of: secret(given), issuer: "A B", user: "ada@c")
        #expect(
            address.withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) } == expected)
    }

    @Test("Dates are read with and without fractions and time zones, and other text is not a date")
    func dates() {
        #expect(ForeignDate.iso("2026-03-01T09:30:00.5Z")?.description == "2026-03-01T09:30:00.500000Z")
        #expect(ForeignDate.iso("2026-03-01T11:30:00+02:00")?.description == "2026-03-01T09:30:00.000000Z")
        #expect(ForeignDate.iso("2026-03-01 09:30")?.description == "2026-03-01T09:30:00.000000Z")
        #expect(ForeignDate.iso("2026-03-01T04:00:00,123456789-0530")?.description == "2026-03-01T09:30:00.123456Z")
        #expect(ForeignDate.iso("2026-03-01 09:30 Z")?.description == "2026-03-01T09:30:00.000000Z")
        #expect(ForeignDate.iso("2026-03-01")?.description == "2026-03-01T00:00:00.000000Z")
        for text in ["", "2026-02-30", "2026-03-01T25:00", "٢٠٢٦-٠٣-٠١", "now", "2026-03-01T09:30:00+99:00"] {
            #expect(ForeignDate.iso(text) == nil, "\(text)")
        }
        #expect(ForeignDate.seconds(.max) == nil)
        #expect(ForeignDate.milliseconds(1_500)?.microseconds == 1_500_000)
    }

    @Test("An access token in place of a user name or in a URL is in no attribute of any item")
    func tokens() throws {
        let token = "ghp_0123456789abcdefABCDEF0123456789abcd"
        let collected = try collect { collector throws(ForeignFailure) in
            let record = RecordWriter(collector, identity: "1", title: "")
            record.addresses = ["https://\(token):x@github.com/r", "https://\(token)@github.com"]
            try record.addNote(secret("n"))
            try record.addLogin(user: token, password: secret("p"))
            try record.addOneTimePassword(secret("JBSWY3DP"))
            try record.finish()
        }
        for item in collected.items { #expect(!"\(item)".contains(token)) }
        #expect(Set(collected.secrets).isSuperset(of: ["n", token, "p", "https://\(token):x@github.com/r"]))
        #expect(!collected.secrets.contains("https://\(token)@github.com"))
        #expect(collected.contents.leftOut.isEmpty)
        let addresses = collected.items.flatMap(\.extra).filter { $0.name.hasPrefix("url.") }.map(\.value)
        #expect(Set(addresses) == ["https://github.com/r", "https://github.com"])
    }

    @Test(
        "The password or token in an address is the secret of a login that has none, else the address becomes a secret",
        arguments: [
            ("https://oauth2:p%40w@h.example/x", nil, nil, ["inet oauth2: p@w"]),
            ("https://oauth2:pw@h.example/x", "oauth2", "", ["inet oauth2: pw"]),
            (
                "https://ghp_0123456789abcdefABCDEF0123456789abcd@h.example", nil, nil,
                ["inet -: ghp_0123456789abcdefABCDEF0123456789abcd"]
            ),
            ("https://short:x-oauth-basic@h.example", "ada", nil, ["inet ada: short"]),
            ("https://ada:pw@h.example", "bob", nil, ["genp address (bob): https://ada:pw@h.example", "inet bob: -"]),
            ("https://ada:pw@h.example", "ada", "pw", ["inet ada: pw"]),
            (
                "https://ada:pw@h.example", "ada", "other",
                ["genp address (ada): https://ada:pw@h.example", "inet ada: other"]
            ),
            ("https://ada:@h.example", "ada", nil, ["inet ada: -"]),
        ] as [(String, String?, String?, [String])])
    func secretOfAddress(address: String, user: String?, password: String?, expected: [String]) throws {
        let collected = try collect { collector throws(ForeignFailure) in
            let record = RecordWriter(collector, identity: "1", title: "t")
            record.addresses = [address]
            try record.addLogin(user: user, password: password.map { SecretBytes(copying: $0.utf8) })
            try record.finish()
        }
        let items = zip(collected.items, collected.secrets).map { item, secret in
            let account = item.attributes.text(.acct) ?? "-"
            let itemClass = item.itemClass == .internetPassword ? "inet" : "genp"
            return "\(itemClass) \(account): \(item.secretSize == nil ? "-" : secret)"
        }
        #expect(items.sorted() == expected)
        #expect(collected.contents.leftOut.isEmpty)
    }

    @Test("The password in an address of another host is not that of the login")
    func secretOfOtherAddress() throws {
        let collected = try collect { collector throws(ForeignFailure) in
            let record = RecordWriter(collector, identity: "1", title: "t")
            record.addresses = ["https://a.example", "https://ada:pw@b.example"]
            try record.addLogin(user: "ada", password: nil)
            try record.finish()
        }
        #expect(Set(collected.secrets) == ["", "https://ada:pw@b.example"])
    }

    @Test("Apple's protocol codes map to URL schemes and back, and an IPv6 address in an item has no brackets")
    func schemes() throws {
        let schemes = [
            "https", "pop3s", "https-proxy", "ftpaccount", "nntps", "telnets", "ircs", "eppc", "socks", "rtsp-proxy",
        ]
        for scheme in schemes {
            let code = WebAddress.protocolCode(ofScheme: scheme)
            #expect(code != 0 && WebAddress.scheme(ofProtocolCode: code) == scheme, "\(scheme)")
        }
        let address = try #require(WebAddress("https://[2001:db8::1]:8443/x"))
        #expect(address.host == "2001:db8::1" && address.port == 8_443 && address.path == "/x")
        #expect(WebAddress("//localhost/x")?.host == "localhost")
        #expect(WebAddress("//localhost/x")?.protocolCode == 0)
    }
}
