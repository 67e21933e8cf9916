import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@Suite("Addresses in a password manager's record")
struct WebAddressTests {
    private func collect(
        _ addresses: [String], _ body: (RecordWriter) throws -> Void
    ) throws -> (contents: ForeignContents, items: [Item], secrets: [String]) {
        let collector = RecordCollector(format: "test", date: .reference)
        let record = RecordWriter(collector, identity: "1", title: "")
        record.addresses = addresses
        try body(record)
        try record.finish()
        let contents = try collector.finish(details: "", isPlaintext: true)
        var visitor = ListingVisitor()
        try contents.items.visitItems(&visitor)
        return (contents, visitor.items, visitor.secrets)
    }

    @Test(
        "A password in a mistyped address is in no attribute, and the address becomes a secret",
        arguments: [
            "http://http://u:SECRET@h.example", "https://user:SE/CRET@host/", "https:/u:SECRET@h.example",
            "https:\\\\u:SECRET@h.example", "https://u:SE?CRET@h.example", "https://u:SE#CRET@h.example",
            "https://u:12/CRET@h.example", "https://u:12?CRET@h.example", "https://SE/CRET@h.example",
            "https://SE?CRET@h.example", "https://u:SE;CRET@h.example", "https://u:12;CRET@h.example",
            "https://u:SE CRET@h.example", "https://u:SE\\CRET@h.example", "https:///u:SECRET@h.example",
            "jdbc:mysql://h.example/db;password=SECRET", "cmd://ssh u@h.example -p SECRET",
            "cmd://ssh -p SECRET u@h.example", "data:text/plain,SECRET", "javascript://x.example/SECRET",
            "steam://SECRET", "https://h.example:SECRET/", "u:SECRET@h.example", "SECRET", "ada@x.example:SECRET",
            "https://u:12/34SECRET@\u{fe0f}h.example", "https://u:12/34SECRET@\u{301}h.example",
            "https://u:12/\u{301}SECRET@\u{20dd}h.example", "https:/\u{301}/u:SECRET@h.example",
            "https://h/\u{301}SECRET@h.example", "https:///\u{301}/u:SECRET@h.example", "u.v:12/x://SECRET",
            "https://h.example/ -p SECRET", "https://SECRET%40h.example/", "broken:url",
        ])
    func mistyped(address: String) throws {
        let collected = try collect([address]) { record in
            try record.addLogin(user: nil, password: SecretBytes(copying: "p".utf8))
        }
        for item in collected.items {
            let text = "\(item.attributes) \(item.extra)".lowercased()
            for piece in ["secret", "cret@", "u:se", "u:12"] { #expect(!text.contains(piece), "\(item)") }
        }
        #expect(Set(collected.secrets) == ["p", address])
        #expect(collected.contents.remarks.count == 1)
    }

    @Test(
        "A password or token before the @ is in no attribute, and the address becomes a secret beside that of the login",
        arguments: [
            ("https://u:SECRET@h.example", "https://u@h.example"),
            ("https://u%3ASECRET@h.example", "https://u@h.example"),
            ("https://:SECRET@h.example/x", "https://h.example/x"),
            ("https://u:SE@CRET@h.example/x", "https://u@h.example/x"),
            ("u.v:SECRET@h.example", "u.v@h.example"),
            ("https://short:x-oauth-basic@h.example", "https://h.example"),
        ])
    func secretBeforeAt(address: String, readable: String) throws {
        let collected = try collect([address]) { record in
            try record.addLogin(user: nil, password: SecretBytes(copying: "p".utf8))
        }
        let login = try #require(collected.items.first { $0.attributes.text(.srvr) == "h.example" })
        #expect(login.extra.filter { $0.name == "url.1" }.map(\.value) == [readable])
        #expect(!collected.items.contains { "\($0)".contains("SECRET") || "\($0)".contains("short") })
        #expect(collected.secrets.sorted() == [address, "p"].sorted())
        #expect(collected.contents.leftOut.isEmpty)
    }

    @Test(
        "What follows ?, # and ; is removed and counted",
        arguments: [
            ("https://h.example/x;jsessionid=SECRET", "https://h.example/x"),
            ("https://h.example/x%3Ftoken=SECRET", "https://h.example/x"),
            ("https://h.example/x%23SECRET", "https://h.example/x"),
            ("https://h.example/x%3bid=SECRET", "https://h.example/x"),
            ("https://h.example/x%2525253fSECRET", "https://h.example/x"),
            ("https://h.example/x?\u{301}SECRET", "https://h.example/x"),
            ("https://h.example?SECRET", "https://h.example"), ("//h.example#SECRET", "//h.example"),
            ("https://h.example/x?to=ada@SECRET", "https://h.example/x"),
        ])
    func removed(address: String, readable: String) throws {
        let collected = try collect([address]) { record in
            try record.addLogin(user: nil, password: SecretBytes(copying: "p".utf8))
        }
        let item = try #require(collected.items.first)
        #expect(collected.items.count == 1)
        #expect(!"\(item)".contains("SECRET"))
        #expect(item.extra.filter { $0.name == "url.1" }.map(\.value) == [readable])
        #expect(item.attributes.text(.srvr) == "h.example")
        #expect(collected.contents.leftOut.map(\.count) == [1])
    }

    @Test(
        "A well-formed address is kept as it is",
        arguments: [
            "https://example.com", "http://10.0.0.1:8080/admin/", "https://ada@example.com:8443/x", "example.com/login",
            "https://example.com/@ada", "https://[2001:db8::1]:8443/x", "https://müller.example/ä",
            "https://web.example/2020/http://example.com/", "ssh://git@example.com/r.git", "//router/x",
            "https://h.example/100%25/x%2Fy", "https://h.example/%", "https://h.example/%3", "https://h.example/%25",
            "android://aGFzaA==@com.example.app/", "androidapp://com.example.app",
        ])
    func kept(address: String) throws {
        let collected = try collect([" \(address)\n"]) { record in
            try record.addLogin(user: nil, password: SecretBytes(copying: "p".utf8))
        }
        #expect(collected.items.count == 1)
        #expect(collected.items[0].extra.contains(ExtraAttribute(name: "url.1", value: address)))
        #expect(collected.contents.leftOut.isEmpty && collected.contents.remarks.isEmpty)
    }

    @Test("Without a login, seeds among the addresses become one-time passwords, and other items have the addresses")
    func withoutLogin() throws {
        let seed = "otpauth://totp/Bank:ada?secret=JBSWY3DP"
        let addresses = ["apple-\(seed)", "https://bank.example", "mistyped:SECRET"]
        for part in ["note", "passkey", "nothing"] {
            let collected = try collect(addresses) { record in
                func secret() -> SecretBytes { SecretBytes(copying: "x".utf8) }
                if part == "note" { try record.addNote(secret(), isWhole: true) }
                if part == "passkey" { try record.addPasskey(host: "h", user: nil, secret()) }
            }
            #expect(Set(collected.secrets).isSuperset(of: [seed, "mistyped:SECRET"]))
            #expect(collected.items.count == (part == "nothing" ? 2 : 3))
            #expect(collected.items.allSatisfy { $0.extra.contains { $0.value == "https://bank.example" } })
            let code = try #require(collected.items.first { $0.attributes.text(.desc) == "one-time password" })
            #expect(code.attributes.text(.svce) == "bank.example")
        }
    }

    @Test(
        "A record that consists of a user or an address becomes a login without a password; one of nothing is counted")
    func nothing() throws {
        #expect(try collect([]) { _ in }.contents.leftOut.map(\.kind) == ["record without a secret"])
        #expect(try collect(["https://a.example"]) { _ in }.items.map(\.secretSize) == [nil])
        let collected = try collect([]) { record in try record.addUser("ada") }
        #expect(collected.items.map { $0.attributes.text(.acct) } == ["ada"])
    }

    @Test("More addresses than an item has room for are counted, and the login is kept")
    func many() throws {
        let collected = try collect((0..<300).map { "https://\($0).example" }) { record in
            try record.addLogin(user: nil, password: nil)
        }
        #expect(collected.items.count == 1 && collected.contents.refused.isEmpty)
        #expect(collected.contents.leftOut.map { "\($0.count) \($0.kind)" } == ["100 further address"])
    }

    @Test("The names that identify a record have no password, token or query of its address in them")
    func identity() {
        func names(_ address: String, _ user: String, _ password: String) -> [String] {
            RecordWriter.names(
                title: "t", addresses: [address], user: user, password: SecretBytes(copying: password.utf8))
        }
        #expect(names("https://ada:SECRET@a.example/?k=SECRET", "ada", "p") == ["t", "https://ada@a.example/", "ada"])
        #expect(names("otpauth://totp/x?secret=SECRET", "ada", "p") == ["t", "", "ada"])
        #expect(names("https:/u:SECRET@h", "SECRETname", "x-oauth-basic") == ["t", "", ""])
    }
}
