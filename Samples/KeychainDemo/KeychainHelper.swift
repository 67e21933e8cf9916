import Foundation
import Security

/// Passwords of this app, one for each account.
enum KeychainHelper {
    static let service = "com.example.KeychainDemo"

    enum KeychainError: Error, LocalizedError {
        case noPassword
        case unexpectedPasswordData
        case unhandledError(status: OSStatus)

        var errorDescription: String? {
            switch self {
            case .noPassword: return "There is no password."
            case .unexpectedPasswordData: return "The password is not text."
            case .unhandledError(let status): return SecCopyErrorMessageString(status, nil) as String?
            }
        }
    }

    static func save(_ password: String, for account: String) throws {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlock,
            kSecValueData as String: password.data(using: .utf8)!,
        ]
        var status = SecItemAdd(query as CFDictionary, nil)
        if status == errSecDuplicateItem {
            status = try update(password, for: account)
        }
        guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }
    }

    private static func update(_ password: String, for account: String) throws -> OSStatus {
        let query =
            [
                kSecClass: kSecClassGenericPassword,
                kSecAttrService: service,
                kSecAttrAccount: account,
            ] as [CFString: Any] as CFDictionary
        let attributes: [String: Any] = [kSecValueData as String: Data(password.utf8)]
        return SecItemUpdate(query, attributes as CFDictionary)
    }

    static func password(for account: String) throws -> String {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
            kSecMatchLimit as String: kSecMatchLimitOne,
            kSecReturnData as String: kCFBooleanTrue!,
        ]
        var item: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &item)
        guard status != errSecItemNotFound else { throw KeychainError.noPassword }
        guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }
        guard let data = item as? Data, let password = String(data: data, encoding: .utf8) else {
            throw KeychainError.unexpectedPasswordData
        }
        return password
    }

    static func accounts() -> [String] {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecMatchLimit as String: kSecMatchLimitAll,
            kSecReturnAttributes as String: true,
        ]
        var result: AnyObject?
        guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess,
            let items = result as? [[String: Any]]
        else { return [] }
        return items.compactMap { $0[kSecAttrAccount as String] as? String }
    }

    @discardableResult
    static func delete(_ account: String) -> Bool {
        let query = [
            kSecClass as String: kSecClassGenericPassword as String,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
        ]
        let status = SecItemDelete(query as CFDictionary)
        return status == errSecSuccess || status == errSecItemNotFound
    }
}
