import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing a .netrc file")
struct NetrcTests {
    @Test("Machines become internet passwords, and quoted and unquoted names and passwords are kept exactly")
    func machines() throws {
        let contents = try ForeignReading.read(
            #"""
            # made by hand
            machine example.com login ada password p#ss
            machine two.example
              login "ada lovelace"
              password "a \"quoted\" word" account second
            default login anonymous password guest
            """#, as: NetrcFormat())
        #expect(
            try contents.listing
                == [
                    "genp svce=default acct=anonymous: guest",
                    "genp svce=two.example acct=ada lovelace desc=account password: second",
                    #"inet srvr=two.example acct=ada lovelace: a "quoted" word"#,
                    "inet srvr=example.com acct=ada: p#ss",
                ].sorted())
        #expect(contents.isPlaintext)
    }

    @Test("The port of Emacs' form is kept, as a number or as the name of a protocol")
    func ports() throws {
        let text =
            "machine a login u password p port 993\nmachine a login u port imaps password p\n"
            + "machine a:25 login u password q port smtp\n"
        let contents = try ForeignReading.read(text, as: NetrcFormat())
        #expect(try contents.listing == ["inet srvr=a acct=u: p", "inet srvr=a acct=u: p", "inet srvr=a acct=u: q"])
        let items = try contents.entries.map { $0.item }
        #expect(Set(items.map { $0.attributes.number(.port) }) == [993, nil, 25])
        #expect(items.flatMap(\.extra).filter { $0.name == "netrc.port" }.map(\.value).sorted() == ["imaps", "smtp"])
        let file = try #require(ForeignReading.input(Array(text.utf8)).file)
        let staying = NetrcFormat().separableRecords(of: file).staying
        #expect(staying == 0)
    }

    @Test("Macros and entries without a password are counted, and the entries after them are imported")
    func macros() throws {
        let contents = try ForeignReading.read(
            "machine a login b\nmacdef init\ncd /tmp\nmachine c password no\n\nmachine d login e password f\n",
            as: NetrcFormat())
        #expect(try contents.listing == ["inet srvr=d acct=e: f"])
        #expect(contents.leftOut.map(\.kind) == ["macro", "entry without a password"])
    }

    @Test("Two entries with the same host and login but different passwords are both imported")
    func clash() throws {
        let text = "machine a login b password one\nmachine a login b password two\nmachine a login b password one\n"
        let contents = try ForeignReading.read(text, as: NetrcFormat())
        #expect(contents.items.count == 2)
        #expect(contents.marked.count == 1)
        #expect(contents.duplicates == 1)
        #expect(try ForeignReading.read(text, as: NetrcFormat()).uuids == contents.uuids)
    }

    @Test(
        "A file that ends within an entry, and an unknown word, are refused with the line number",
        arguments: [
            ("machine a login b\npassword", 2), ("machine a\nuser b password c", 2), ("machine", 1),
            ("default login \"a", 1), ("machine a login b password c\n\"machine d login e password f\n", 2),
            ("machine a login b\nlogin c", 2), ("machine a port 1\nport 2", 2),
            ("machine a password \"x\"\n\npassword y", 3),
            ("default account x account x", 1),
        ])
    func broken(text: String, line: Int) throws {
        #expect(try NetrcFormat().recognises(ForeignReading.input(Array(text.utf8))) == (text != "machine"))
        let failure = #expect(throws: ForeignFailure.self) { try ForeignReading.read(text, as: NetrcFormat()) }
        guard case .damagedLine(let found, _) = failure else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
        #expect(found == line)
    }

    @Test(
        "A file that begins with the word 'default' is one only if an entry follows",
        arguments: [
            ("default\t\t0.0.0.0\nloopback\t127.0.0.0\n", false), ("default", false),
            ("default\n  login ada\n  password x\n", true), ("default password x", true),
        ])
    func defaultAlone(text: String, isRecognised: Bool) throws {
        #expect(try NetrcFormat().recognises(ForeignReading.input(Array(text.utf8))) == isRecognised)
    }

    @Test("An access token in place of a login becomes the secret, and is in no attribute")
    func tokens() throws {
        let token = "ghp_0123456789abcdefABCDEF"
        let contents = try ForeignReading.read(
            "machine a.example login \(token) password x-oauth-basic\nmachine b.example login \(token)\n"
                + "machine c.example login ada password \(token)\nmachine d.example login tok password x-oauth-basic\n",
            as: NetrcFormat())
        #expect(
            try contents.listing == [
                "inet srvr=a.example: \(token)", "inet srvr=b.example: \(token)",
                "inet srvr=c.example acct=ada: \(token)", "inet srvr=d.example: tok",
            ])
    }

    @Test("An address in the place of a host keeps its parts, and the password in it is in no attribute")
    func addresses() throws {
        let contents = try ForeignReading.read(
            "machine https://ada:SECRET@n.example:8443/x?SECRET login u password p1\n"
                + "machine m.example:25 login u password p2 account p3\nmachine 2001:db8::1 login u password p4\n"
                + "machine bob@o.example password p5\n",
            as: NetrcFormat())
        let entries = try contents.entries
        for (item, _) in entries { #expect(!"\(item)".contains("SECRET"), "\(item)") }
        #expect(
            try contents.listing == [
                "genp svce=m.example acct=u desc=account password: p3",
                "genp svce=n.example acct=address (u) desc=field: https://ada:SECRET@n.example:8443/x?SECRET",
                "inet srvr=2001:db8::1 acct=u: p4", "inet srvr=m.example acct=u: p2", "inet srvr=n.example acct=u: p1",
                "inet srvr=o.example acct=bob: p5",
            ])
        let first = try #require(entries.first { $0.secret == Array("p1".utf8) }).item
        #expect(first.attributes.number(.port) == 8_443 && first.attributes.text(.path) == "/x")
        #expect(contents.leftOut.isEmpty)
        // The UUID, which is not secret, depends on neither.
        let other = try ForeignReading.read(
            "machine https://ada:OTHER@n.example:8443/x?OTHER login u password p1\n", as: NetrcFormat())
        let expected = entries.map(\.item).filter { $0.attributes.text(.labl) == "n.example" }.map(\.uuid)
        #expect(try Set(other.uuids) == Set(expected))
    }

    @Test("A byte order mark is skipped")
    func byteOrderMark() throws {
        let text = "\u{feff}machine a.example login u password p\n"
        #expect(try KnownFormats.recognise(ForeignReading.input(Array(text.utf8))).name == "netrc")
        #expect(try ForeignReading.read(text, as: NetrcFormat()).listing == ["inet srvr=a.example acct=u: p"])
    }

    @Test("The password or token in an address is the secret of an entry that has none")
    func secretsOfAddresses() throws {
        let token = "0123456789abcdef0123456789abcdef01234567"
        let contents = try ForeignReading.read(
            "machine https://ada:p%40w@a.example/x?y\nmachine https://\(token)@b.example login u\n"
                + "machine https://ada@c.example\nmachine https://ada:@d.example\n",
            as: NetrcFormat())
        #expect(
            try contents.listing == ["inet srvr=a.example acct=ada: p@w", "inet srvr=b.example acct=u: \(token)"])
        for (item, _) in try contents.entries { #expect(!"\(item)".contains("p@w") && !"\(item)".contains(token)) }
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" } == [
                "1 part of an address behind '?', '#' or ';'", "2 entry without a password",
            ])
    }

    @Test(
        "What is neither a host nor an address is refused, since it may hold a password",
        arguments: ["ada:SECRET", "https:/ada:SECRET@n.example", "ada:12/34SECRET@n.example", "a%40b"])
    func noHosts(word: String) {
        #expect(throws: ForeignFailure.damagedLine(2, "the word after 'machine' is not a host")) {
            try ForeignReading.read("\nmachine \(word) login u password p\n", as: NetrcFormat())
        }
    }
}
