// Methods and cases belong to the module of the newer names; a program that imports only this one needs them as well.
@_exported public import SAMKeychain

// The names that the library had before it was called SAMKeychain. They mean the same things: error domain and values
// are the newer ones.

/// The older name of `SAMKeychain`.
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
