import KCAgeEncryption
import KCKeychainKeys
import KCTestSupport
import Testing

@testable import KCFileProtection

@Suite("Identities of the plugin") struct ProtectionIdentityTests {
    private static let key = [UInt8](repeating: 7, count: 32)
    private static let store = [UInt8](0..<16)
    static let all =
        [ProtectionIdentity(device: key)]
        + FileKeyClass.allCases.map { ProtectionIdentity(keychain: store, $0, publicKey: key) }

    @Test("An identity reads back as written, in upper case alone", arguments: all)
    func roundTrip(identity: ProtectionIdentity) {
        #expect(identity.description.hasPrefix("AGE-PLUGIN-KCBACKUP-1"))
        #expect(ProtectionIdentity(identity.description) == identity)
        #expect(ProtectionIdentity(identity.description.lowercased()) == nil)
        #expect(ProtectionIdentity(identity.description + " ") == nil)
        #expect(identity.recipient.description.hasPrefix("age1"))
    }

    @Test("An identity with a changed character is refused", arguments: all)
    func changed(identity: ProtectionIdentity) {
        let text = Array(identity.description.utf8)
        for index in text.indices {
            var other = text
            other[index] = other[index] == UInt8(ascii: "Q") ? UInt8(ascii: "P") : UInt8(ascii: "Q")
            #expect(ProtectionIdentity(String(decoding: other, as: UTF8.self)) == nil, "character \(index)")
        }
    }
}
