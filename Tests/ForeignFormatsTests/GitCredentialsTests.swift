import ItemSources
import KeychainModel
import TestSupport
import Testing

@testable import ForeignFormats

@Suite("Importing git's credentials")
struct GitCredentialsTests {
    private static let text =
        "https://al%20ice:p%40ss%3aw%zz@example.com%3a8443/r.git\nhttps://bob:@example.org\n\nhttps://carol@example.net\nhttps://bob:other@example.org\n"

    @Test("addresses are taken apart before they are decoded, as git does it")
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
        "a line that is none is refused by its number",
        arguments: [("https://a:b@c\ntext", 2), ("https://a:b@c\nhttps://a:b@", 2), ("https://%ff:b@c", 1)])
    func broken(text: String, line: Int) {
        let failure = #expect(throws: ForeignFailure.self) { try ForeignReading.read(text, as: GitCredentialsFormat()) }
        guard case .damagedLine(line, _) = failure else {
            Issue.record("another failure: \(String(describing: failure))")
            return
        }
    }

    @Test("changed at random, a file is read or refused, and never ends the program")
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
}
