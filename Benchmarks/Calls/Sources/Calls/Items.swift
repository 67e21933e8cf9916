import Foundation
import Security

/// The calls that are timed, on passwords of one account.
enum Items {
    private static func query(_ name: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "service \(name)",
            kSecAttrAccount as String: "ada",
        ]
    }

    static func add(_ name: String) {
        let item = query(name).merging([kSecValueData as String: Data("secret \(name)".utf8)]) { $1 }
        check(SecItemAdd(item as CFDictionary, nil), "SecItemAdd", name)
    }

    static func find(_ name: String) {
        var result: AnyObject?
        let query = query(name).merging([kSecReturnData as String: true]) { $1 }
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        let isRight = result as? Data == Data("secret \(name)".utf8)
        check(status == errSecSuccess && !isRight ? errSecDecode : status, "SecItemCopyMatching", name)
    }

    static func update(_ name: String) {
        let changes = [kSecValueData as String: Data("new".utf8)]
        check(SecItemUpdate(query(name) as CFDictionary, changes as CFDictionary), "SecItemUpdate", name)
    }

    static func delete(_ name: String) { check(SecItemDelete(query(name) as CFDictionary), "SecItemDelete", name) }

    private static func check(_ status: OSStatus, _ call: String, _ name: String) {
        guard status != errSecSuccess else { return }
        print("\(call) \(name): \(SecCopyErrorMessageString(status, nil) ?? "")")
        exit(1)
    }
}
