import Testing

@testable import KCSecretService

@Suite("Replies of a service")
struct ReplyTests {
    /// The new item, and the prompt.
    private func answer(_ reply: BusValue, _ method: String) throws -> [String?] {
        let answer = try ServiceOutbox.answer(reply, to: BusCall("/", "org.example", method), .writing)
        return [answer.object, answer.prompt]
    }

    @Test("An item counts as created only if the reply names it, or a prompt for it")
    func created() throws {
        try LibSecret.load()
        let (none, item, prompt) = (BusValue.path("/"), BusValue.path("/i/1"), BusValue.path("/p/1"))
        #expect(try answer(.tuple([item, none]), "CreateItem") == ["/i/1", nil])
        #expect(try answer(.tuple([none, prompt]), "CreateItem") == [nil, "/p/1"])
        #expect(try answer(.tuple([none]), "Delete") == [nil, nil])
        #expect(try answer(.tuple([prompt]), "Delete") == [nil, "/p/1"])
        #expect(try answer(.tuple([]), "SetSecret") == [nil, nil])
        for reply in [
            BusValue.tuple([none, none]), .tuple([]), .tuple([.number(7)]), .tuple([item]),
            .tuple([.text("/i/1"), .text("/")]),
        ] {
            #expect(throws: SecretServiceFailure.malformed(.writing)) { try answer(reply, "CreateItem") }
        }
        #expect(throws: SecretServiceFailure.malformed(.writing)) { try answer(.tuple([]), "Delete") }
    }
}
