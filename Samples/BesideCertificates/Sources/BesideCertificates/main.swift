import Foundation
import KeychainSecurity
import SAMKeychain
import X509

// Uses both, in one program: that this compiles is the test.
let query: [String: Any] = [kSecClass as String: "none"]
guard SecItemCopyMatching(query as CFDictionary, nil) == errSecNoSuchClass,
    (try? Certificate(derEncoded: [1, 2, 3])) == nil, SAMKeychain.accessibilityType() == nil
else { fatalError("another answer") }
print("both libraries answer")
