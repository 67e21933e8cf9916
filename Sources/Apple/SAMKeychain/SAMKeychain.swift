// Fence: returns errors through a pointer, as the wrapper does.
public import Foundation
public import KeychainSecurity
internal import Synchronization

/// Stores and reads passwords by service and account: generic passwords in the keychain of `Security`.
///
/// ```swift
/// SAMKeychain.setPassword("correct horse", forService: "mail.example.org", account: "ada")
///
/// var error: NSError?
/// if let password = SAMKeychain.password(forService: "mail.example.org", account: "ada", error: &error) {
///     print("signing in with \(password.count) characters")
/// } else if error?.code == Int(errSecItemNotFound) {
///     print("no password stored yet")
/// }
/// ```
///
/// Every call exists with and without an `error:` parameter, which is left unchanged on success. A failed call returns
/// nil or false. Passwords are `String` and `Data`, which are not wiped from memory.
///
/// Source: SAMKeychain.h of SAMKeychain 1.5.3; see docs/samkeychain.md.
open class SAMKeychain: NSObject {
    private static let accessibility = Mutex<String?>(nil)

    // MARK: Passwords

    /// The password as text; nil if there is none, or if it is empty or not UTF-8.
    open class func password(forService serviceName: String, account: String) -> String? {
        unsafe password(forService: serviceName, account: account, error: nil)
    }

    /// The password as text; nil if there is none, or if it is empty or not UTF-8.
    ///
    /// `error` is set to the error of `SAMKeychainQuery.fetch()`; a password that is empty or not UTF-8 is not an
    /// error.
    open class func password(
        forService serviceName: String, account: String, error: UnsafeMutablePointer<NSError?>?
    ) -> String? {
        let query = query(serviceName, account)
        _ = unsafe attempt(error) { try query.fetch() }
        return query.password
    }

    /// The password as bytes; nil if there is none.
    ///
    /// ```swift
    /// let token = SAMKeychain.passwordData(forService: "api.example.org", account: "ada")
    /// ```
    open class func passwordData(forService serviceName: String, account: String) -> Data? {
        unsafe passwordData(forService: serviceName, account: account, error: nil)
    }

    /// The password as bytes; nil if there is none.
    ///
    /// `error` is set to the error of `SAMKeychainQuery.fetch()`.
    open class func passwordData(
        forService serviceName: String, account: String, error: UnsafeMutablePointer<NSError?>?
    ) -> Data? {
        let query = query(serviceName, account)
        _ = unsafe attempt(error) { try query.fetch() }
        return query.passwordData
    }

    /// Stores a password, replacing an existing one.
    ///
    /// ```swift
    /// let isStored = SAMKeychain.setPassword("correct horse", forService: "mail.example.org", account: "ada")
    /// ```
    ///
    /// - Returns: false on failure.
    @discardableResult
    open class func setPassword(_ password: String, forService serviceName: String, account: String) -> Bool {
        unsafe setPassword(password, forService: serviceName, account: account, error: nil)
    }

    /// Stores a password, replacing an existing one.
    ///
    /// `error` is set to the error of `SAMKeychainQuery.save()`.
    ///
    /// - Returns: false on failure.
    @discardableResult
    open class func setPassword(
        _ password: String, forService serviceName: String, account: String, error: UnsafeMutablePointer<NSError?>?
    ) -> Bool {
        let query = query(serviceName, account)
        query.password = password
        return unsafe attempt(error) { try query.save() }
    }

    /// Stores a password given as bytes, replacing an existing one.
    ///
    /// ```swift
    /// SAMKeychain.setPasswordData(Data([1, 2, 3]), forService: "api.example.org", account: "ada")
    /// ```
    ///
    /// - Returns: false on failure.
    @discardableResult
    open class func setPasswordData(_ password: Data, forService serviceName: String, account: String) -> Bool {
        unsafe setPasswordData(password, forService: serviceName, account: account, error: nil)
    }

    /// Stores a password given as bytes, replacing an existing one.
    ///
    /// `error` is set to the error of `SAMKeychainQuery.save()`.
    ///
    /// - Returns: false on failure.
    @discardableResult
    open class func setPasswordData(
        _ password: Data, forService serviceName: String, account: String, error: UnsafeMutablePointer<NSError?>?
    ) -> Bool {
        let query = query(serviceName, account)
        query.passwordData = password
        return unsafe attempt(error) { try query.save() }
    }

    /// Deletes a password, synchronizable or not.
    ///
    /// ```swift
    /// let isDeleted = SAMKeychain.deletePassword(forService: "mail.example.org", account: "ada")
    /// ```
    ///
    /// - Returns: false on failure, including when there was no such password.
    @discardableResult
    open class func deletePassword(forService serviceName: String, account: String) -> Bool {
        unsafe deletePassword(forService: serviceName, account: account, error: nil)
    }

    /// Deletes a password, synchronizable or not.
    ///
    /// `error` is set to the error of `SAMKeychainQuery.deleteItem()`.
    ///
    /// - Returns: false on failure, including when there was no such password.
    @discardableResult
    open class func deletePassword(
        forService serviceName: String, account: String, error: UnsafeMutablePointer<NSError?>?
    ) -> Bool {
        let query = query(serviceName, account)
        return unsafe attempt(error) { try query.deleteItem() }
    }

    // MARK: Accounts

    /// The attributes of all accounts, under the keys `kSAMKeychain…Key`, unordered; nil if there are none.
    ///
    /// ```swift
    /// let names = (SAMKeychain.allAccounts() ?? []).compactMap { $0[kSAMKeychainAccountKey] as? String }
    /// ```
    open class func allAccounts() -> [[String: Any]]? {
        unsafe allAccounts(nil)
    }

    /// The attributes of all accounts, under the keys `kSAMKeychain…Key`, unordered; nil if there are none.
    ///
    /// `error` is set to the error of `SAMKeychainQuery.fetchAll()`: `errSecItemNotFound` if there are no accounts.
    open class func allAccounts(_ error: UnsafeMutablePointer<NSError?>?) -> [[String: Any]]? {
        unsafe accounts(forService: nil, error: error)
    }

    /// The attributes of all accounts of a service, or of every service if nil; nil if there are none.
    ///
    /// ```swift
    /// for account in SAMKeychain.accounts(forService: "mail.example.org") ?? [] {
    ///     print(account[kSAMKeychainAccountKey] ?? "")
    /// }
    /// ```
    open class func accounts(forService serviceName: String?) -> [[String: Any]]? {
        unsafe accounts(forService: serviceName, error: nil)
    }

    /// The attributes of all accounts of a service, or of every service if nil; nil if there are none.
    ///
    /// `error` is set to the error of `SAMKeychainQuery.fetchAll()`: `errSecItemNotFound` if there are no accounts.
    open class func accounts(
        forService serviceName: String?, error: UnsafeMutablePointer<NSError?>?
    ) -> [[String: Any]]? {
        let query = query(serviceName, nil)
        var accounts: [[String: Any]]?
        _ = unsafe attempt(error) { accounts = try query.fetchAll() }
        return accounts
    }

    // MARK: Accessibility

    /// The accessibility of passwords that this process saves from now on; nil for the keychain's default.
    ///
    /// - Returns: one of `kSecAttrAccessible…`, or nil, the initial value.
    open class func accessibilityType() -> CFString? {
        accessibility.withLock { $0 } as CFString?
    }

    /// Sets the accessibility of passwords that this process saves from now on, in all threads.
    ///
    /// ```swift
    /// SAMKeychain.setAccessibilityType(kSecAttrAccessibleAfterFirstUnlock)
    /// ```
    ///
    /// The setting also acts as a condition: while it is set, accounts with another accessibility are not listed.
    ///
    /// - Parameter accessibilityType: one of `kSecAttrAccessible…`, or nil for the keychain's default. With any other
    ///   value, the calls that use it fail with `errSecParam`.
    open class func setAccessibilityType(_ accessibilityType: CFString?) {
        let text = accessibilityType as String?
        accessibility.withLock { $0 = text }
    }

    // MARK: -

    private static func query(_ service: String?, _ account: String?) -> SAMKeychainQuery {
        let query = SAMKeychainQuery()
        query.service = service
        query.account = account
        return query
    }

    /// True if `body` does not throw; otherwise stores its error.
    private static func attempt(_ error: UnsafeMutablePointer<NSError?>?, _ body: () throws -> Void) -> Bool {
        do {
            try body()
            return true
        } catch let failure {
            unsafe error?.pointee = failure as NSError
            return false
        }
    }
}
