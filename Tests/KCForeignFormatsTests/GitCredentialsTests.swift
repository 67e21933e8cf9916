import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing git credentials")
struct GitCredentialsTests {
    private static let text =
        "https://al%20ice:p%40ss%3aw%zz@example.com%3a8443/r.git\nhttps://bob:@example.org\n\nhttps://carol@example.net\nhttps://bob:other@example.org\n"

    @Test("URLs are split before they are percent-decoded, as in git")
    func addresses() throws {
        #expect(try KnownFormats.recognise(ForeignReading.input(Array(Self.text.utf8))).name == "git-credentials")
        let contents = try ForeignReading.read(Self.text, as: GitCredentialsFormat())
        #expect(
            try contents.listing.map { $0.replacing(/import:[0-9a-f]{8}/, with: "import:…") } == [
                "inet srvr=example.com acct=al ice: p@ss:w%zz", "inet srvr=example.org acct=bob sdmn=import:…: other",
                "inet srvr=example.org acct=bob: ",
            ])
        #expect(contents.leftOut.map(\.kind) == ["address without a password"])
        var visitor = ListingVisitor()
        try contents.items.visitItems(&visitor)
        let first = try #require(visitor.items.first { $0.attributes.text(.srvr) == "example.com" })
        #expect(first.attributes.number(.port) == 8_443)
        #expect(first.attributes.text(.path) == "/r.git")
        #expect(first.attributes.number(.ptcl) == WebAddress.protocolCode(ofScheme: "https"))
    }

    @Test(
        "An access token in place of the user name becomes the secret, and is in no attribute",
        arguments: [
            ("https://ghp_0123456789abcdefABCDEF0123456789abcd:x-oauth-basic@github.com", true),
            ("https://ghp_0123456789abcdefABCDEF0123456789abcd:@github.com", true),
            ("https://ghp_0123456789abcdefABCDEF0123456789abcd@github.com", true),
            ("https://github_pat_0123456789_abcdefABCDEF@github.com", true),
            ("https://glpat-0123456789abcdefABCD:@gitlab.example", true),
            ("https://corp-glpat-0123456789abcdefABCD@gitlab.example", true),
            ("https://0123456789abcdef0123456789abcdef01234567@github.com", true),
            ("https://short:x-oauth-basic@github.com", true),
            ("https://x-access-token:ghs_0123456789abcdef0123@github.com", false),
            ("https://oauth2:glpat-0123456789abcdefABCD@gitlab.com", false),
            ("https://glpat-ada:secret@gitlab.com", false),
            ("https://0123456789abcdef0123456789abcdef01234567:secret@github.com", false),
        ])
    func tokens(line: String, isToken: Bool) throws {
        #expect(try KnownFormats.recognise(ForeignReading.input(Array(line.utf8))).name == "git-credentials")
        let contents = try ForeignReading.read(line, as: GitCredentialsFormat())
        let (item, secret) = try #require(try contents.entries.first)
        let parts = line.dropFirst("https://".count).split(separator: "@")[0].split(separator: ":")
        #expect(contents.items.count == 1)
        #expect(item.attributes.text(.acct) == (isToken ? nil : String(parts[0])))
        #expect(secret == Array(String(parts[isToken ? 0 : 1]).utf8))
        if isToken {
            #expect(!"\(item)".contains(String(parts[0])))
            // The UUID, which is not secret, does not depend on the token.
            let other = try ForeignReading.read(
                line.replacing(parts[0], with: parts[0] + "0"), as: GitCredentialsFormat())
            if parts[0].count != 40, parts[0] != "short" { #expect(try other.uuids == contents.uuids) }
        }
    }

    @Test("As in git, '%00' is no zero byte")
    func zeroByte() throws {
        let contents = try ForeignReading.read("https://u:a%00b@git.example", as: GitCredentialsFormat())
        #expect(try contents.listing == ["inet srvr=git.example acct=u: a%00b"])
    }

    @Test("A password next to a token is kept as well")
    func tokenAndPassword() throws {
        let contents = try ForeignReading.read(
            "https://ghp_0123456789abcdefABCDEF0123456789abcd:other@github.com", as: GitCredentialsFormat())
        #expect(
            try contents.entries.compactMap(\.secret).map { String(decoding: $0, as: UTF8.self) }.sorted()
                == ["ghp_0123456789abcdefABCDEF0123456789abcd", "other"])
    }

    @Test(
        "What follows a '?', '#' or ';' of a path is in no attribute, however it is written, and is counted",
        arguments: [
            "/repo;jsessionid=SECRET", "/repo%3Ftoken=SECRET%23x", "/repo?SECRET", "/repo#SECRET", "/repo%3bSECRET",
            "/repo%253FSECRET",
        ])
    func cutPaths(path: String) throws {
        let contents = try ForeignReading.read("https://u:p@git.example\(path)", as: GitCredentialsFormat())
        let (item, secret) = try #require(try contents.entries.first)
        #expect(item.attributes.text(.path) == "/repo" && !"\(item)".contains("SECRET"))
        #expect(secret == Array("p".utf8))
        #expect(contents.leftOut.map(\.count) == [1])
    }

    @Test(
        "A file of malformed lines is refused with the number of the first",
        arguments: [
            // The text that git takes for the host may have a part of the password in it.
            ("https://ada:p@ss@host.example", 1), ("https://u:x@h.example%3Fq=SECRET", 1),
            ("https://u:x@%61da%3ASECRET%40z.example", 1), ("https://u:x@h.example%2Fq", 1),
            ("https://u:x@h.example;SECRET", 1),
            ("https://%ff:b@c", 1), ("text\nhttps://a:b@", 1),
        ])
    func broken(text: String, line: Int) {
        let failure = #expect(throws: ForeignFailure.self) { try ForeignReading.read(text, as: GitCredentialsFormat()) }
        guard case .damagedLine(line, _) = failure else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
    }

    @Test("A malformed line among others is left out, and named by its number", arguments: ["text", "https://a:b@"])
    func odd(line: String) throws {
        let contents = try ForeignReading.read(
            "https://a:b@c\n\(line)\nhttps://d:e@f\n", as: GitCredentialsFormat())
        #expect(try contents.listing == ["inet srvr=c acct=a: b", "inet srvr=f acct=d: e"])
        #expect(contents.refused.map(\.name) == ["line 2"])
    }

    @Test("A randomly altered file is read or refused, and never crashes the program")
    func fuzzed() {
        var random = SeededRandom(seed: 2)
        for _ in 0..<2_000 {
            var bytes = Array(Self.text.utf8)
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
            }
            do {
                _ = try ForeignReading.read(bytes, as: GitCredentialsFormat()).listing
            } catch is ForeignFailure {
                // Refused.
            } catch {
                Issue.record("another failure: \(error)")
            }
        }
    }

    @Test("The password of a certificate's file, which has no host, is left out and counted")
    func withoutHost() throws {
        let text = "cert:///p@x\ncert://:pw@/home/ada/key.pem\nhttps://a:b@c.example/r.git?k=SECRET\n"
        #expect(try KnownFormats.recognise(ForeignReading.input(Array(text.utf8))).name == "git-credentials")
        let contents = try ForeignReading.read(text, as: GitCredentialsFormat())
        #expect(try contents.listing == ["inet srvr=c.example acct=a: b"])
        #expect(try !contents.entries.contains { "\($0.item)".contains("SECRET") })
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" }
                == ["2 address without a host", "1 part of an address behind '?', '#' or ';'"])
    }
}
