import Testing

@testable import KCAsking

@Suite("Where secrets come from, as text")
struct SecretSourceTests {
    @Test(
        "The text of a source is read as that source",
        arguments: [
            SecretSource.terminal, .file("a:b"), .file(" "), .descriptor(0), .descriptor(.max),
            .command("pass show 'x'"),
            .credential("door@2"), .file("\u{301}"),
        ])
    func roundTrip(source: SecretSource) {
        #expect(SecretSource(source.text) == source)
    }
}
