import KCArchiveForgery
import KCBackupArchive
import Testing

/// Freedom that docs/format.md gives to writers.
@Suite("Archives of other writers")
struct OtherWriterTests {
    /// Reads an encrypted archive after a change, and expects all its items.
    private func expectRead(_ change: (inout Forgery) throws -> Void) throws {
        let genuine = try Genuine.all.get()
        var forgery = try Forgery(genuine.encrypted)
        let count = forgery.metadata.count - 2
        let before = forgery.metadata + [forgery.header]
        try change(&forgery)
        #expect(forgery.metadata + [forgery.header] != before)
        let outcome = try genuine.outcome(of: forgery.bytes())
        #expect(outcome.error == nil && outcome.read == count, "\(String(describing: outcome.error))")
    }

    @Test(
        "The name of a source is any text of at most 1,024 bytes",
        arguments: ["", "../../etc/passwd", #"\u0000\u001b[2J"#, String(repeating: "n", count: 1_024)])
    func sourceName(name: String) throws {
        try expectRead { forgery in
            forgery.metadata[0].replace(/"name":"[^"]*"/, with: "\"name\":\"\(name)\"")
        }
    }

    @Test(
        "The name of the program is any text that fits the header",
        arguments: ["", String(repeating: "t", count: 16_000)])
    func tool(name: String) throws {
        try expectRead { forgery in forgery.header.replace(/"tool":"[^"]*"/, with: "\"tool\":\"\(name)\"") }
    }

    @Test("A free attribute may have the name of a code, and is another attribute")
    func extraLikeCode() throws {
        try expectRead { forgery in
            for index in forgery.metadata.indices where forgery.metadata[index].contains("\"acct\":\"ak\"") {
                forgery.metadata[index].removeLast()
                forgery.metadata[index] += ",\"extra\":{\"acct\":\"other\"}}"
            }
        }
    }
}
