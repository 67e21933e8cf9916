import KCTestSupport
import Testing

@testable import KCKeychainModel

@Suite("Item filters")
struct ItemFilterTests {
    private func item(_ code: AttributeCode, _ text: String) throws -> Item {
        let itemClass: ItemClass = code == .srvr || code == .path ? .internetPassword : .genericPassword
        var attributes = Attributes()
        attributes[code] = .text(text)
        return try ItemDraft(itemClass: itemClass, attributes: attributes).completed(
            now: Timestamp.reference, secretSize: 1)
    }

    private func matches(_ text: String, _ code: AttributeCode, _ value: String) throws -> Bool {
        var filter = ItemFilter()
        filter.text = text
        return try filter.matches(item(code, value))
    }

    @Test(
        "A part of a name matches, in any case and either Unicode normalization form",
        arguments: [
            ("wi-fi", "Home Wi-Fi"), ("HOME", "Home Wi-Fi"), ("straße", "Lange Straße 1"), ("ÉTÉ", "l'été"),
            ("e\u{301}te\u{301}", "\u{c9}T\u{c9}"), ("日本", "東日本銀行"), (" ", "a b"),
        ])
    func found(text: String, name: String) throws {
        for code in [AttributeCode.labl, .svce, .acct, .srvr, .path, .desc] {
            #expect(try matches(text, code, name), "\(code)")
        }
    }

    @Test(
        "Different names, and attributes that are not names, do not match",
        arguments: [("wi-fi", "Home WiFi", AttributeCode.labl), ("note", "a note", .icmt), ("kc", "kc", .agrp)])
    func notFound(text: String, name: String, code: AttributeCode) throws {
        #expect(try !matches(text, code, name))
    }

    @Test("An empty filter matches everything, and every condition must hold")
    func conditions() throws {
        let item = try item(.svce, "mail")
        var filter = ItemFilter()
        #expect(filter.isEmpty && filter.matches(item))
        filter.text = "mail"
        #expect(!filter.isEmpty && filter.matches(item))
        filter.itemClass = .internetPassword
        #expect(!filter.matches(item))
        filter.itemClass = .genericPassword
        filter.uuid = item.uuid
        #expect(filter.matches(item))
        filter.uuid = ItemUUID()
        #expect(!filter.matches(item))
        filter = ItemFilter()
        filter.isSynchronizable = true
        #expect(!filter.matches(item))
        filter = ItemFilter()
        // An absent attribute of the unique key equals its default. `srvr` does not belong to the class.
        filter.attributes = [.acct: .text("")]
        #expect(filter.matches(item))
        filter.attributes = [.srvr: .text("")]
        #expect(!filter.matches(item))
    }
}
