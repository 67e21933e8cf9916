import Foundation
import Security
import Testing

/// The module under Apple's name alone.
@Suite("The module under Apple's name")
struct ReexportTests {
    @Test("It has the calls, their constants and their types")
    func hasEverything() throws {
        let query: [String: Any] = [kSecClass as String: kSecClassGenericPassword, kSecReturnRef as String: "no"]
        #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecParam)
        let access: SecAccessControl? = SecAccessControlCreateWithFlags(
            kCFAllocatorDefault, kSecAttrAccessibleWhenUnlocked, [], nil)
        #expect(CFGetTypeID(access) == SecAccessControlGetTypeID())
        #expect(KeychainClientFailure.failed(errSecAuthFailed) != .executableUnknown)
    }
}
