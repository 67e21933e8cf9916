// Fence: receives keychain results through a pointer.
public import Foundation
internal import KeychainSecurity

/// A generic password to find, save or delete.
///
/// ```swift
/// let query = SAMKeychainQuery()
/// query.service = "mail.example.org"
/// query.account = "ada"
/// query.password = "correct horse"
/// try query.save()
///
/// try query.fetch()
/// print(query.password ?? "")
/// ```
///
/// The methods throw `NSError`, the Swift form of the original wrapper's `error:` parameter. Its domain is
/// `kSAMKeychainErrorDomain`, and its code is an `errSec…` code or one in `SAMKeychainErrorCode`; it has a message for
/// users. Use a query on one thread at a time.
///
/// Source: SAMKeychainQuery.h of SAMKeychain 1.5.3; see docs/samkeychain.md.
open class SAMKeychainQuery: NSObject {
    /// The account (`kSecAttrAccount`).
    open var account: String?
    /// The service (`kSecAttrService`).
    open var service: String?
    /// The display name (`kSecAttrLabel`) of a new item; not a condition, and never changed in an existing item.
    open var label: String?
    /// The access group (`kSecAttrAccessGroup`); nil to search all of the program's groups and to add to the first.
    open var accessGroup: String?
    /// Selects items by whether they are synchronizable.
    open var synchronizationMode = SAMKeychainQuerySynchronizationMode.any

    // Swift's String and Data are never wiped, but the interface uses them, as Apple's does.

    /// The password that `save()` stores and `fetch()` finds, as bytes.
    ///
    /// `passwordObject` and `password` convert it.
    open var passwordData: Data?

    /// The password as an object archived with `NSKeyedArchiver`; docs/samkeychain.md lists the classes that work.
    ///
    /// Nil if the bytes are not such an archive. Setting nil, or an object with a part that does not adopt
    /// `NSSecureCoding`, leaves no password, so that `save()` fails.
    open var passwordObject: (any NSCoding)? {
        get { passwordData.flatMap(PasswordArchive.object) }
        set { passwordData = newValue.flatMap(PasswordArchive.data) }
    }

    /// The password as UTF-8 text; nil if it is empty or not UTF-8.
    open var password: String? {
        get {
            guard let passwordData, !passwordData.isEmpty else { return nil }
            return String(validating: passwordData, as: UTF8.self)
        }
        set { passwordData = newValue.map { Data($0.utf8) } }
    }

    /// Always true: this library distinguishes synchronizable items on every system.
    open class func isSynchronizationAvailable() -> Bool { true }

    // MARK: Saving and deleting

    /// Stores the password in all items that match the query, or in a new one.
    ///
    /// Existing items get the password and the accessibility; a new item also gets the label.
    ///
    /// - Throws: `NSError`: `SAMKeychainErrorCode.badArguments` if the service, account or password is missing; the
    ///   errors of `SecItemCopyMatching`, `SecItemUpdate` and `SecItemAdd`.
    open func save() throws {
        guard service != nil, account != nil, let passwordData else { throw Self.failure(.badArguments) }
        var changes: [String: Any] = [kSecValueData as String: passwordData]
        changes[kSecAttrAccessible as String] = SAMKeychain.accessibilityType()
        let query = conditions as CFDictionary
        var status = SecItemCopyMatching(query, nil)
        if status == errSecItemNotFound {
            var item = conditions.merging(changes) { $1 }
            item[kSecAttrLabel as String] = label
            status = SecItemAdd(item as CFDictionary, nil)
            // Another thread or program added the item between the two calls.
            if status == errSecDuplicateItem { status = SecItemUpdate(query, changes as CFDictionary) }
        } else if status == errSecSuccess {
            status = SecItemUpdate(query, changes as CFDictionary)
        }
        try Self.check(status)
    }

    /// Deletes all items that match the query.
    ///
    /// - Throws: `NSError`: `SAMKeychainErrorCode.badArguments` if the service or account is missing; the errors of
    ///   `SecItemDelete`, including `errSecItemNotFound` if there are no matching items.
    open func deleteItem() throws {
        guard service != nil, account != nil else { throw Self.failure(.badArguments) }
        try Self.check(SecItemDelete(conditions as CFDictionary))
    }

    // MARK: Fetching

    /// Returns the attributes of all matching items, under the keys `kSAMKeychain…Key`, unordered.
    ///
    /// ```swift
    /// let query = SAMKeychainQuery()
    /// query.service = "mail.example.org"
    /// for account in try query.fetchAll() { print(account[kSAMKeychainAccountKey] ?? "") }
    /// ```
    ///
    /// Items with an accessibility other than `SAMKeychain.accessibilityType()` are omitted, unless that is nil.
    ///
    /// - Throws: `NSError`: the errors of `SecItemCopyMatching`, including `errSecItemNotFound` if there are no
    ///   matching items.
    open func fetchAll() throws -> [[String: Any]] {
        var query = conditions
        query[kSecReturnAttributes as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        query[kSecAttrAccessible as String] = SAMKeychain.accessibilityType()
        return try Self.matching(query)
    }

    /// Finds one item and copies its password into this query.
    ///
    /// - Throws: `NSError`, leaving the password unchanged: `SAMKeychainErrorCode.badArguments` if the service or
    ///   account is missing; the errors of `SecItemCopyMatching`, including `errSecItemNotFound` if there is no
    ///   matching item.
    open func fetch() throws {
        guard service != nil, account != nil else { throw Self.failure(.badArguments) }
        var query = conditions
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        let found: Data = try Self.matching(query)
        passwordData = found
    }
}

extension SAMKeychainQuery {
    private var conditions: [String: Any] {
        var conditions: [String: Any] = [kSecClass as String: kSecClassGenericPassword]
        conditions[kSecAttrService as String] = service
        conditions[kSecAttrAccount as String] = account
        conditions[kSecAttrAccessGroup as String] = accessGroup
        switch synchronizationMode {
        case .any: conditions[kSecAttrSynchronizable as String] = kSecAttrSynchronizableAny
        case .no: conditions[kSecAttrSynchronizable as String] = false
        case .yes: conditions[kSecAttrSynchronizable as String] = true
        }
        return conditions
    }

    private static func matching<Result>(_ query: [String: Any]) throws -> Result {
        var found: CFTypeRef?
        try check(unsafe SecItemCopyMatching(query as CFDictionary, &found))
        // The return keys and the limit determine the type.
        guard let result = found as? Result else { throw failure(errSecInternal) }
        return result
    }

    private static func check(_ status: OSStatus) throws {
        if status != errSecSuccess { throw failure(status) }
    }

    private static func failure(_ status: OSStatus) -> NSError {
        failure(Int(status), SecCopyErrorMessageString(status, nil) as String? ?? "OSStatus \(status)")
    }

    private static func failure(_ code: SAMKeychainErrorCode) -> NSError {
        switch code {
        case .badArguments:
            failure(Int(code.rawValue), "The service, the account or the password to save is missing.")
        }
    }

    private static func failure(_ code: Int, _ words: String) -> NSError {
        NSError(domain: kSAMKeychainErrorDomain, code: code, userInfo: [NSLocalizedDescriptionKey: words])
    }
}
