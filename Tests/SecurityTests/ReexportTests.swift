import Foundation
import Security
import Testing

@Suite("The module under Apple's name")
struct ReexportTests {
    @Test("The Security module exports the functions, constants and types")
    func hasEverything() throws {
        let query: [String: Any] = [kSecClass as String: kSecClassGenericPassword, kSecReturnRef as String: "no"]
        #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecParam)
        let access: SecAccessControl? = SecAccessControlCreateWithFlags(
            kCFAllocatorDefault, kSecAttrAccessibleWhenUnlocked, [], nil)
        #expect(CFGetTypeID(access) == SecAccessControlGetTypeID())
        #expect(KeychainClientFailure.failed(errSecAuthFailed) != .executableUnknown)
    }
}
