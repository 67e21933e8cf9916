// The original wrapper's header imports Security, so its users need only one import; the same holds here.
@_exported public import KeychainSecurity

// Values and names: SAMKeychain.h and SAMKeychainQuery.h in SAMKeychain 1.5.3, as Swift imports them.

/// The domain of all errors in this library; codes are `errSec…` and those in `SAMKeychainErrorCode`.
public let kSAMKeychainErrorDomain = "com.samsoffes.samkeychain"

/// The key for the account name in an account's dictionary.
public let kSAMKeychainAccountKey = "acct"
/// The key for the creation date in an account's dictionary, a `Date`.
public let kSAMKeychainCreatedAtKey = "cdat"
/// The key for the label, despite its name, as in the original wrapper; no dictionary contains the class.
public let kSAMKeychainClassKey = "labl"
/// The key for the kind of an account in its dictionary, for display.
public let kSAMKeychainDescriptionKey = "desc"
/// The key for the label in an account's dictionary.
public let kSAMKeychainLabelKey = "labl"
/// The key for the modification date in an account's dictionary, a `Date`.
public let kSAMKeychainLastModifiedKey = "mdat"
/// The key for the service in an account's dictionary.
public let kSAMKeychainWhereKey = "svce"

/// The error codes that do not come from the keychain.
public enum SAMKeychainErrorCode: OSStatus, Sendable {
    /// The service, the account or, when saving, the password is missing.
    case badArguments = -1001
}

/// Selects items by whether they are synchronizable.
public enum SAMKeychainQuerySynchronizationMode: UInt, Sendable {
    /// Synchronizable or not. A new item saved with this mode is not synchronizable.
    case any = 0
    /// Only items that are not synchronizable.
    case no = 1
    /// Only synchronizable items.
    case yes = 2
}
