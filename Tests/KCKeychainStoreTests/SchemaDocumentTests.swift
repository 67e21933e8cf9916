import KCTestSupport
import Testing

@testable import KCKeychainStore

@Suite("The description of the keychain file")
struct SchemaDocumentTests {
    @Test("The SQL in the description is that of the file, statement by statement")
    func schema() throws {
        let text = try Project.text("docs/keychain-file.md")
        let start = try #require(text.firstRange(of: "```sql\n")).upperBound
        let end = try #require(text[start...].firstRange(of: "```")).lowerBound
        let statements = text[start..<end].split(separator: ";\n").map { $0.split(separator: "\n").joined() }
        #expect(statements == Schema.entries.map(\.sql))
    }
}
