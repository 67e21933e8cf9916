import KCItemSources
import KCKeychainModel
import Testing

@Suite("What identifies an item of a keyring")
struct KeyringIdentityTests {
    @Test("A label is no attribute, whatever the attributes are called")
    func identities() {
        func key(_ attributes: [(name: String, value: String)], _ label: String) -> [UInt8] {
            KeyringIdentity(keyring: "Login", attributes: attributes, type: nil, label: .text(label)).key
        }
        let keys = [key([], "x"), key([("label", "x")], "y"), key([("", "x")], "y"), key([("x", "")], "y")]
        #expect(Set(keys).count == keys.count)
    }

    @Test("Items are numbered by label, and then in order of creation")
    func ordinals() {
        let items: [([UInt8], [UInt8])] = [([1], [7]), ([2], [9]), ([1], [5]), ([1], [7]), ([1], [6])]
        #expect(KeyringIdentity.ordinals(of: items.map { (key: $0.0, label: $0.1) }) == [2, 0, 0, 3, 1])
    }
}
