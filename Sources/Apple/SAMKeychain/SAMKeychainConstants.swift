// The wrapper's header imports Security, so that programs need only one import; so does this file.
@_exported public import KeychainSecurity

// Values and names: SAMKeychain.h and SAMKeychainQuery.h of SAMKeychain 1.5.3, as Swift imports them.

/// The domain of all errors of this library; codes are `errSec…` and those of `SAMKeychainErrorCode`.
public let kSAMKeychainErrorDomain = "com.samsoffes.samkeychain"

/// The key of an account's name in its dictionary.
public let kSAMKeychainAccountKey = "acct"
/// The key of an account's creation date in its dictionary, a `Date`.
public let kSAMKeychainCreatedAtKey = "cdat"
/// Named after the class, but the key of the label, as in the wrapper; no dictionary contains the class.
public let kSAMKeychainClassKey = "labl"
/// The key of an account's kind in its dictionary, for display.
public let kSAMKeychainDescriptionKey = "desc"
/// The key of an account's label in its dictionary.
public let kSAMKeychainLabelKey = "labl"
/// The key of an account's modification date in its dictionary, a `Date`.
public let kSAMKeychainLastModifiedKey = "mdat"
/// The key of an account's service in its dictionary.
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
