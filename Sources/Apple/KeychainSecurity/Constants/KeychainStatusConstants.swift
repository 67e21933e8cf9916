// Numbers from SecBase.h in Apple's Security-61901. Defined for source compatibility; few of them are returned here.

/// Internal component.
public let errSecInternalComponent: OSStatus = -2070
/// Core foundation unknown.
public let errSecCoreFoundationUnknown: OSStatus = -4960
/// Multiple priv keys.
public let errSecMultiplePrivKeys: OSStatus = -25259
/// Invalid password ref.
public let errSecInvalidPasswordRef: OSStatus = -25261
/// Invalid trust settings.
public let errSecInvalidTrustSettings: OSStatus = -25262
/// No trust settings.
public let errSecNoTrustSettings: OSStatus = -25263
/// Duplicate callback.
public let errSecDuplicateCallback: OSStatus = -25297
/// Invalid callback.
public let errSecInvalidCallback: OSStatus = -25298
/// Invalid search ref.
public let errSecInvalidSearchRef: OSStatus = -25305
/// Key size not allowed.
public let errSecKeySizeNotAllowed: OSStatus = -25311
/// No storage module.
public let errSecNoStorageModule: OSStatus = -25312
/// No certificate module.
public let errSecNoCertificateModule: OSStatus = -25313
/// No policy module.
public let errSecNoPolicyModule: OSStatus = -25314
/// Create chain failed.
public let errSecCreateChainFailed: OSStatus = -25318
/// Invalid prefs domain.
public let errSecInvalidPrefsDomain: OSStatus = -25319
