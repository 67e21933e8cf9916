import Foundation
import Security

/// An identifier of this installation, created at the first call.
///
/// It is in the keychain, so it is the same after the program was removed and installed again. A copy of the keychain on
/// another device does not have it.
func installationID() throws -> UUID {
    let item: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrService as String: "com.example.recipes",
        kSecAttrAccount as String: "installation",
    ]
    func stored() throws -> UUID? {
        var result: CFTypeRef?
        let status = SecItemCopyMatching(
            item.merging([kSecReturnData as String: true]) { $1 } as CFDictionary, &result)
        // Nothing else leads to a new identifier: the old one may be locked.
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw KeychainError(status: status) }
        guard let data = result as? Data, let id = UUID(uuidString: String(decoding: data, as: UTF8.self)) else {
            throw KeychainError(status: errSecDecode)
        }
        return id
    }

    if let id = try stored() { return id }
    let new = UUID()
    let values: [String: Any] = [
        kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        kSecValueData as String: Data(new.uuidString.utf8),
    ]
    let status = SecItemAdd(item.merging(values) { $1 } as CFDictionary, nil)
    // Another process got there first.
    if status == errSecDuplicateItem, let id = try stored() { return id }
    guard status == errSecSuccess else { throw KeychainError(status: status) }
    return new
}
