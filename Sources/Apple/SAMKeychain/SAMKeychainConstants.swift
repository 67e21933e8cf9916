// The header of the wrapper imports Security, so that one import gives a program both; so does this one.
@_exported public import Security

// Values and names: SAMKeychain.h and SAMKeychainQuery.h of SAMKeychain 1.5.3, as Swift imports them.

/// The domain of all errors of this library; their codes are `errSec…` and those of `SAMKeychainErrorCode`.
public let kSAMKeychainErrorDomain = "com.samsoffes.samkeychain"

/// In the dictionary of an account: its name.
public let kSAMKeychainAccountKey = "acct"
/// In the dictionary of an account: when it was added, a `Date`.
public let kSAMKeychainCreatedAtKey = "cdat"
/// By its name the class, but in fact the label, as it always was; no dictionary holds the class.
public let kSAMKeychainClassKey = "labl"
/// In the dictionary of an account: what kind of item it is, for people.
public let kSAMKeychainDescriptionKey = "desc"
/// In the dictionary of an account: its label.
public let kSAMKeychainLabelKey = "labl"
/// In the dictionary of an account: when it was last changed, a `Date`.
public let kSAMKeychainLastModifiedKey = "mdat"
/// In the dictionary of an account: its service.
public let kSAMKeychainWhereKey = "svce"

/// The codes of errors that do not come from the keychain.
public enum SAMKeychainErrorCode: OSStatus, Sendable {
    /// The service, the account or, when saving, the password is missing.
    case badArguments = -1001
}

/// Which items a query means, by whether they are synchronizable.
public enum SAMKeychainQuerySynchronizationMode: UInt, Sendable {
    /// Synchronizable or not. An item that is saved this way and did not exist is not synchronizable.
    case any = 0
    /// Only items that are not synchronizable.
    case no = 1
    /// Only synchronizable items.
    case yes = 2
}
