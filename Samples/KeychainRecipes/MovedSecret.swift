import Foundation
import Security

/// Moves a secret, which earlier versions of the program kept in `defaults`, into the keychain.
///
/// For every start of the program. The defaults lose the secret when the keychain has it, so that an interrupted move is
/// finished by the next start. A secret that is in both is newer in the defaults: an earlier version has run again.
func moveSecret(named name: String, from defaults: UserDefaults) throws {
    guard let secret = defaults.string(forKey: name) else { return }
    let item: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword,
        kSecAttrService as String: "com.example.recipes",
        kSecAttrAccount as String: name,
    ]
    let value = [kSecValueData as String: Data(secret.utf8)]
    var status = SecItemAdd(item.merging(value) { $1 } as CFDictionary, nil)
    if status == errSecDuplicateItem { status = SecItemUpdate(item as CFDictionary, value as CFDictionary) }
    guard status == errSecSuccess else { throw KeychainError(status: status) }

    var result: CFTypeRef?
    status = SecItemCopyMatching(item.merging([kSecReturnData as String: true]) { $1 } as CFDictionary, &result)
    guard status == errSecSuccess else { throw KeychainError(status: status) }
    guard result as? Data == Data(secret.utf8) else { throw KeychainError(status: errSecDecode) }
    defaults.removeObject(forKey: name)
    // On Linux the file changes only now; otherwise the next start would find the secret again.
    guard defaults.synchronize() else { throw CocoaError(.fileWriteUnknown) }
}
