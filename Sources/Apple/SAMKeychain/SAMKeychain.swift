// Fence: hands errors out through a pointer, as the wrapper does.
public import Foundation
public import Security
internal import Synchronization

/// Passwords of services and accounts in a line of code each: generic passwords of the keychain of `Security`.
///
/// Every call exists twice: by itself, and with a place for the error, which is left alone where the call succeeds. What
/// cannot be done gives nil or false. Passwords are `String` and `Data` here, which nothing wipes from memory.
///
/// Source: SAMKeychain.h of SAMKeychain 1.5.3; see docs/samkeychain.md.
open class SAMKeychain: NSObject {
    private static let accessibility = Mutex<CFString?>(nil)

    // MARK: Passwords

    /// The password as text; nil where there is none, where it is empty, and where it is not UTF-8.
    open class func password(forService serviceName: String, account: String) -> String? {
        unsafe password(forService: serviceName, account: account, error: nil)
    }

    /// The password as text; nil where there is none, where it is empty, and where it is not UTF-8.
    ///
    /// - Parameter error: gets what `SAMKeychainQuery.fetch()` throws; a password that is empty or not UTF-8 is no error.
    open class func password(
        forService serviceName: String, account: String, error: UnsafeMutablePointer<NSError?>?
    ) -> String? {
        let query = query(serviceName, account)
        _ = unsafe attempt(error) { try query.fetch() }
        return query.password
    }

    /// The password as bytes; nil where there is none.
    open class func passwordData(forService serviceName: String, account: String) -> Data? {
        unsafe passwordData(forService: serviceName, account: account, error: nil)
    }

    /// The password as bytes; nil where there is none.
    ///
    /// - Parameter error: gets what `SAMKeychainQuery.fetch()` throws.
    open class func passwordData(
        forService serviceName: String, account: String, error: UnsafeMutablePointer<NSError?>?
    ) -> Data? {
        let query = query(serviceName, account)
        _ = unsafe attempt(error) { try query.fetch() }
        return query.passwordData
    }

    /// Stores a password, over the one that is there.
    ///
    /// - Returns: false where that failed.
    @discardableResult
    open class func setPassword(_ password: String, forService serviceName: String, account: String) -> Bool {
        unsafe setPassword(password, forService: serviceName, account: account, error: nil)
    }

    /// Stores a password, over the one that is there.
    ///
    /// - Parameter error: gets what `SAMKeychainQuery.save()` throws.
    /// - Returns: false where that failed.
    @discardableResult
    open class func setPassword(
        _ password: String, forService serviceName: String, account: String, error: UnsafeMutablePointer<NSError?>?
    ) -> Bool {
        let query = query(serviceName, account)
        query.password = password
        return unsafe attempt(error) { try query.save() }
    }

    /// Stores a password given as bytes, over the one that is there.
    ///
    /// - Returns: false where that failed.
    @discardableResult
    open class func setPasswordData(_ password: Data, forService serviceName: String, account: String) -> Bool {
        unsafe setPasswordData(password, forService: serviceName, account: account, error: nil)
    }

    /// Stores a password given as bytes, over the one that is there.
    ///
    /// - Parameter error: gets what `SAMKeychainQuery.save()` throws.
    /// - Returns: false where that failed.
    @discardableResult
    open class func setPasswordData(
        _ password: Data, forService serviceName: String, account: String, error: UnsafeMutablePointer<NSError?>?
    ) -> Bool {
        let query = query(serviceName, account)
        query.passwordData = password
        return unsafe attempt(error) { try query.save() }
    }

    /// Deletes a password, the synchronizable one and the other.
    ///
    /// - Returns: false where that failed, also where there was none.
    @discardableResult
    open class func deletePassword(forService serviceName: String, account: String) -> Bool {
        unsafe deletePassword(forService: serviceName, account: account, error: nil)
    }

    /// Deletes a password, the synchronizable one and the other.
    ///
    /// - Parameter error: gets what `SAMKeychainQuery.deleteItem()` throws.
    /// - Returns: false where that failed, also where there was none.
    @discardableResult
    open class func deletePassword(
        forService serviceName: String, account: String, error: UnsafeMutablePointer<NSError?>?
    ) -> Bool {
        let query = query(serviceName, account)
        return unsafe attempt(error) { try query.deleteItem() }
    }

    // MARK: Accounts

    /// The attributes of all accounts, under the keys `kSAMKeychain…Key`, in no order; nil where there are none.
    open class func allAccounts() -> [[String: Any]]? {
        unsafe allAccounts(nil)
    }

    /// The attributes of all accounts, under the keys `kSAMKeychain…Key`, in no order; nil where there are none.
    ///
    /// - Parameter error: gets what `SAMKeychainQuery.fetchAll()` throws; `errSecItemNotFound` where there are none.
    open class func allAccounts(_ error: UnsafeMutablePointer<NSError?>?) -> [[String: Any]]? {
        unsafe accounts(forService: nil, error: error)
    }

    /// The attributes of all accounts of a service, or with nil of every service; nil where there are none.
    open class func accounts(forService serviceName: String?) -> [[String: Any]]? {
        unsafe accounts(forService: serviceName, error: nil)
    }

    /// The attributes of all accounts of a service, or with nil of every service; nil where there are none.
    ///
    /// - Parameter error: gets what `SAMKeychainQuery.fetchAll()` throws; `errSecItemNotFound` where there are none.
    open class func accounts(
        forService serviceName: String?, error: UnsafeMutablePointer<NSError?>?
    ) -> [[String: Any]]? {
        let query = query(serviceName, nil)
        var accounts: [[String: Any]]?
        _ = unsafe attempt(error) { accounts = try query.fetchAll() }
        return accounts
    }

    // MARK: Accessibility

    /// What every password gets that this process saves from now on; nil for the default of the keychain.
    ///
    /// - Returns: one of `kSecAttrAccessible…`, or nil, as it is at first.
    open class func accessibilityType() -> CFString? {
        accessibility.withLock { $0 }
    }

    /// Chooses what every password gets that this process saves from now on, in whatever thread.
    ///
    /// The choice is also a condition: as long as it stands, accounts with another accessibility are not listed.
    ///
    /// - Parameter accessibilityType: one of `kSecAttrAccessible…`, or nil for the default of the keychain. Anything else
    ///   makes the calls that use it fail with `errSecParam`.
    open class func setAccessibilityType(_ accessibilityType: CFString?) {
        accessibility.withLock { $0 = accessibilityType }
    }

    // MARK: -

    private static func query(_ service: String?, _ account: String?) -> SAMKeychainQuery {
        let query = SAMKeychainQuery()
        query.service = service
        query.account = account
        return query
    }

    /// True when `body` ends without an error; where there is one, it goes to its place.
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
