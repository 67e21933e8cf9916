import Foundation
import KCByteStreams
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import SAMKeychain

let service = "mail.example.org"
let account = "ada"

/// A home with a keychain for this process, which must be the process of an exit test.
///
/// Keychain, access groups and accessibility are per process, so each test that changes them runs in its own.
enum OwnKeychain {
    /// The program's access groups, in order.
    static let groups = ["org.example.first", "org.example.second"]

    /// Runs `body` as a program with a new keychain.
    ///
    /// - Parameter isLocked: Whether the keychain has a passcode that has not been entered, and a password for the
    ///   test's account.
    static func use(isLocked: Bool = false, _ body: () throws -> Void) throws {
        let user = try UserData(isThisMachine: true)
        setenv("XDG_DATA_HOME", user.folder.path, 1)
        let keychain = try user.makeKeychain(hasPasscode: isLocked, now: .reference)
        if isLocked { try addPassword(to: keychain) }
        let entitlements = try PropertyListEncoder().encode(["keychain-access-groups": groups])
        try KeychainClient.configure(entitlements: user.folder.write("entitlements.plist", Array(entitlements)))
        try body()
        withExtendedLifetime(user) {}
    }

    private static func addPassword(to keychain: Keychain) throws {
        var draft = ItemDraft(itemClass: .genericPassword)
        for (code, text) in [(AttributeCode.svce, service), (.acct, account), (.agrp, groups[0])] {
            draft.attributes[code] = .text(text)
        }
        try keychain.write { writer in
            _ = try writer.add(draft, secret: SecretBytes(copying: "one".utf8), now: .reference)
        }
    }
}

/// A query for the test's account.
func query(
    _ mode: SAMKeychainQuerySynchronizationMode = .any, password: String? = nil, group: String? = nil
) -> SAMKeychainQuery {
    let query = SAMKeychainQuery()
    query.service = service
    query.account = account
    query.synchronizationMode = mode
    query.password = password
    query.accessGroup = group
    return query
}

/// The code of the error that `body` throws, or 0 if it throws none or one of another domain.
func code(of body: () throws -> Void) -> OSStatus {
    do {
        try body()
        return 0
    } catch {
        let error = error as NSError
        return error.domain == kSAMKeychainErrorDomain ? OSStatus(error.code) : 0
    }
}

/// The attributes of the test's account, read from the keychain directly.
func attributes(_ more: [CFString: Any] = [:]) -> [CFString: Any]? {
    var result: CFTypeRef?
    let query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
        kSecAttrSynchronizable: kSecAttrSynchronizableAny, kSecReturnAttributes: true,
    ]
    guard SecItemCopyMatching(query.merging(more) { $1 } as CFDictionary, &result) == errSecSuccess else { return nil }
    return result as? [CFString: Any]
}

/// The number of items in the keychain for the test's account.
func itemCount() -> Int {
    var result: CFTypeRef?
    let query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
        kSecAttrSynchronizable: kSecAttrSynchronizableAny, kSecReturnAttributes: true,
        kSecMatchLimit: kSecMatchLimitAll,
    ]
    guard SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess else { return 0 }
    return (result as? [[CFString: Any]])?.count ?? 0
}
