import KCKeychainModel
import Testing

@testable import KCSecretService

@Suite("Which items of a service are those of an archive")
struct MatchingTests {
    private func item(_ service: ServiceItem, in place: CollectionName, ordinal: Int = 0) throws -> Item {
        try ServiceMapping.draft(of: service, in: place, isDefault: place.label == "Login", ordinal: ordinal)
            .completed(now: .reference, secretSize: 1)
    }

    @Test("An archived item finds its own item among several with the same attributes")
    func series() throws {
        let login = CollectionName(label: "Login")
        let labels = ["A", "B", "C"]
        func service(_ label: String) -> ServiceItem {
            ServiceItem(label: label, attributes: [ServiceAttribute(name: "d", value: "1")])
        }
        var matches = try ServiceMatches(.own, standard: login, known: [login])
        for label in ["B", "C"] {
            try matches.addExisting(service(label), in: login, secret: Array(label.utf8).span)
        }
        let items = try labels.enumerated().map { try item(service($1), in: login, ordinal: $0) }
        for (label, item) in zip(labels, items) {
            try matches.add(item, as: service(label), secret: Array(label.utf8).span, hasSecret: true)
        }
        var found: [Int?] = []
        for item in items { found.append(matches.index(of: item)) }
        #expect(found == [nil, 0, 1])
    }

    @Test("Items go to the collection that holds them, or to a new one, which may become the default")
    func places() throws {
        let (first, second) = (CollectionName(label: "Login"), CollectionName(label: "Login", number: 1))
        func service(_ name: String) -> ServiceItem {
            ServiceItem(label: "x", attributes: [ServiceAttribute(name: name, value: "1")])
        }
        let items = [try item(service("a"), in: first), try item(service("b"), in: second)]
        var matches = try ServiceMatches(.own, standard: nil, known: [first])
        try matches.addExisting(service("b"), in: first, secret: [1].span)
        for (name, item) in zip(["a", "b"], items) {
            try matches.add(item, as: service(name), secret: [1].span, hasSecret: true)
        }
        var found: [CollectionName?] = []
        var indices: [Int?] = []
        for item in items {
            found.append(matches.destination(of: item))
            indices.append(matches.index(of: item))
        }
        #expect(found == [second, first])
        #expect(indices == [nil, 0])
        let isDefault = matches.isDefault(second)
        #expect(isDefault)
        // An item that does not come from a service needs a default collection, or the one that was chosen.
        let other = try ItemDraft(itemClass: .genericPassword).completed(now: .reference, secretSize: 1)
        let nowhere = matches.destination(of: other)
        #expect(nowhere == nil)
        var all = try ServiceMatches(.one(second), standard: nil, known: [first])
        let chosen = all.destination(of: other)
        #expect(chosen == second)
    }
}
