import Foundation
import Security

/// A call to the keychain that did not succeed.
struct KeychainError: Error, CustomStringConvertible {
    let status: OSStatus
    var description: String { SecCopyErrorMessageString(status, nil) as String? ?? "status \(status)" }
}

/// The passwords of this program, one for each account.
struct Passwords {
    // A constant: there is no bundle identifier on Linux, nor in tests on any system.
    private let service = "com.example.first-password"

    private func query(_ account: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
        ]
    }

    func set(_ password: String, for account: String) throws {
        let value = [kSecValueData as String: Data(password.utf8)]
        var status = SecItemAdd(query(account).merging(value) { $1 } as CFDictionary, nil)
        if status == errSecDuplicateItem {
            status = SecItemUpdate(query(account) as CFDictionary, value as CFDictionary)
        }
        guard status == errSecSuccess else { throw KeychainError(status: status) }
    }

    /// The password, or nil if there is none.
    func password(for account: String) throws -> String? {
        var search = query(account)
        search[kSecReturnData as String] = true
        var result: CFTypeRef?
        let status = SecItemCopyMatching(search as CFDictionary, &result)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw KeychainError(status: status) }
        guard let data = result as? Data, let password = String(data: data, encoding: .utf8) else {
            throw KeychainError(status: errSecDecode)
        }
        return password
    }
}
