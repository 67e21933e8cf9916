// Methods and enum cases belong to the module with the newer names, which users of this module need too.
@_exported public import SAMKeychain

// The library's names from before it was renamed SAMKeychain. The error domain and all values are the newer ones.

/// The older name of `SAMKeychain`.
///
/// ```swift
/// SSKeychain.setPassword("correct horse", forService: "mail.example.org", account: "ada")
/// let password = SSKeychain.password(forService: "mail.example.org", account: "ada")
/// ```
public typealias SSKeychain = SAMKeychain
/// The older name of `SAMKeychainQuery`.
public typealias SSKeychainQuery = SAMKeychainQuery
/// The older name of `SAMKeychainErrorCode`.
public typealias SSKeychainErrorCode = SAMKeychainErrorCode
/// The older name of `SAMKeychainQuerySynchronizationMode`.
public typealias SSKeychainQuerySynchronizationMode = SAMKeychainQuerySynchronizationMode

/// The older name of `kSAMKeychainErrorDomain`.
public let kSSKeychainErrorDomain = kSAMKeychainErrorDomain
/// The older name of `kSAMKeychainAccountKey`.
public let kSSKeychainAccountKey = kSAMKeychainAccountKey
/// The older name of `kSAMKeychainCreatedAtKey`.
public let kSSKeychainCreatedAtKey = kSAMKeychainCreatedAtKey
/// The older name of `kSAMKeychainClassKey`.
public let kSSKeychainClassKey = kSAMKeychainClassKey
/// The older name of `kSAMKeychainDescriptionKey`.
public let kSSKeychainDescriptionKey = kSAMKeychainDescriptionKey
/// The older name of `kSAMKeychainLabelKey`.
public let kSSKeychainLabelKey = kSAMKeychainLabelKey
/// The older name of `kSAMKeychainLastModifiedKey`.
public let kSSKeychainLastModifiedKey = kSAMKeychainLastModifiedKey
/// The older name of `kSAMKeychainWhereKey`.
public let kSSKeychainWhereKey = kSAMKeychainWhereKey
