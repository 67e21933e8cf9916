import Foundation
import Security

/// Code for Apple's systems, unchanged: it imports `Security`, whatever the module is called in this build.
public func status(ofQueryFor password: String) -> OSStatus {
    let query: [String: Any] = [kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: password]
    return SecItemCopyMatching(query as CFDictionary, nil)
}
