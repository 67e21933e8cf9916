import ByteStreams
import ItemSources
import KeychainModel
import TestSupport
import Testing

@testable import ForeignFormats

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
            ("default login \"a", 1),
        ])
    func broken(text: String, line: Int) throws {
        let failure = #expect(throws: ForeignFailure.self) { try ForeignReading.read(text, as: NetrcFormat()) }
        guard case .damagedLine(let found, _) = failure else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
        #expect(found == line)
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
}
