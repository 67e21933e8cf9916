// Fence: takes results of the keychain through a pointer.
public import Foundation
internal import Security

/// A generic password of the keychain that is looked for, saved or deleted.
///
/// The methods throw `NSError`, in Swift's form of the wrapper's `error:` parameter: in `kSAMKeychainErrorDomain`, with
/// an `errSec…` code or that of `SAMKeychainErrorCode`, and words for users. A query belongs to one thread at a time.
///
/// Source: SAMKeychainQuery.h of SAMKeychain 1.5.3; see docs/samkeychain.md.
open class SAMKeychainQuery: NSObject {
    /// The account (`kSecAttrAccount`).
    open var account: String?
    /// The service (`kSecAttrService`).
    open var service: String?
    /// The name for people (`kSecAttrLabel`) that an item gets when it is added; no condition, and never changed later.
    open var label: String?
    /// The access group (`kSecAttrAccessGroup`); nil to look in all of the program's, and to add to its first.
    open var accessGroup: String?
    /// Which items are meant, by whether they are synchronizable.
    open var synchronizationMode = SAMKeychainQuerySynchronizationMode.any

    // Swift's types for text and bytes are never wiped. The interface is made of them, as Apple's is.

    /// What `save()` stores and `fetch()` finds, as bytes.
    ///
    /// `passwordObject` and `password` are views of it.
    open var passwordData: Data?

    /// The password as an object in the form of `NSKeyedArchiver`; docs/samkeychain.md says which classes work.
    ///
    /// Nil when the bytes are no such archive. Setting nil, or an object with a part that does not adopt
    /// `NSSecureCoding`, leaves no password, so that `save()` fails.
    open var passwordObject: (any NSCoding)? {
        get { passwordData.flatMap(PasswordArchive.object) }
        set { passwordData = newValue.flatMap(PasswordArchive.data) }
    }

    /// The password as text in UTF-8; nil when it is empty or not UTF-8.
    open var password: String? {
        get {
            guard let passwordData, !passwordData.isEmpty else { return nil }
            return String(validating: passwordData, as: UTF8.self)
        }
        set { passwordData = newValue.map { Data($0.utf8) } }
    }

    /// True: synchronizable items are told apart on every system that this library runs on.
    open class func isSynchronizationAvailable() -> Bool { true }

    // MARK: Saving and deleting

    /// Stores the password: over those that the query finds, or as a new item.
    ///
    /// Items that are there get password and accessibility, a new one also its label.
    ///
    /// - Throws: `NSError` (`SAMKeychainErrorCode.badArguments`) without service, account or password; what
    ///   `SecItemCopyMatching`, `SecItemUpdate` and `SecItemAdd` return.
    open func save() throws {
        guard service != nil, account != nil, let passwordData else { throw Self.failure(.badArguments) }
        var changes: CFDictionary = [kSecValueData: passwordData]
        changes[kSecAttrAccessible] = SAMKeychain.accessibilityType()
        var status = SecItemCopyMatching(conditions, nil)
        if status == errSecItemNotFound {
            var item = conditions.merging(changes) { $1 }
            item[kSecAttrLabel] = label
            status = SecItemAdd(item, nil)
            // Another thread or program was faster between the two calls.
            if status == errSecDuplicateItem { status = SecItemUpdate(conditions, changes) }
        } else if status == errSecSuccess {
            status = SecItemUpdate(conditions, changes)
        }
        try Self.check(status)
    }

    /// Deletes all items that the query finds.
    ///
    /// - Throws: `NSError` (`SAMKeychainErrorCode.badArguments`) without service or account; what `SecItemDelete`
    ///   returns, `errSecItemNotFound` where there are none.
    open func deleteItem() throws {
        guard service != nil, account != nil else { throw Self.failure(.badArguments) }
        try Self.check(SecItemDelete(conditions))
    }

    // MARK: Fetching

    /// Finds all items and gives their attributes, under the keys `kSAMKeychain…Key`, in no order.
    ///
    /// Items with another accessibility than `SAMKeychain.accessibilityType()` are left out, unless that is nil.
    ///
    /// - Throws: `NSError`: what `SecItemCopyMatching` returns, `errSecItemNotFound` where there are none.
    open func fetchAll() throws -> [[String: Any]] {
        var query = conditions
        query[kSecReturnAttributes] = true
        query[kSecMatchLimit] = kSecMatchLimitAll
        query[kSecAttrAccessible] = SAMKeychain.accessibilityType()
        return try Self.matching(query)
    }

    /// Finds one item and takes over its password.
    ///
    /// - Throws: `NSError`, and the password is as before: `SAMKeychainErrorCode.badArguments` without service or
    ///   account; what `SecItemCopyMatching` returns, `errSecItemNotFound` where there is none.
    open func fetch() throws {
        guard service != nil, account != nil else { throw Self.failure(.badArguments) }
        var query = conditions
        query[kSecReturnData] = true
        query[kSecMatchLimit] = kSecMatchLimitOne
        let found: Data = try Self.matching(query)
        passwordData = found
    }
}

extension SAMKeychainQuery {
    private var conditions: CFDictionary {
        var conditions: CFDictionary = [kSecClass: kSecClassGenericPassword]
        conditions[kSecAttrService] = service
        conditions[kSecAttrAccount] = account
        conditions[kSecAttrAccessGroup] = accessGroup
        switch synchronizationMode {
        case .any: conditions[kSecAttrSynchronizable] = kSecAttrSynchronizableAny
        case .no: conditions[kSecAttrSynchronizable] = false
        case .yes: conditions[kSecAttrSynchronizable] = true
        }
        return conditions
    }

    private static func matching<Result>(_ query: CFDictionary) throws -> Result {
        var found: CFTypeRef?
        try check(unsafe SecItemCopyMatching(query, &found))
        // The return keys and the limit decide the type; nothing else can come.
        guard let result = found as? Result else { throw failure(errSecInternal) }
        return result
    }

    private static func check(_ status: OSStatus) throws {
        if status != errSecSuccess { throw failure(status) }
    }

    private static func failure(_ status: OSStatus) -> NSError {
        failure(Int(status), SecCopyErrorMessageString(status, nil) ?? "OSStatus \(status)")
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
