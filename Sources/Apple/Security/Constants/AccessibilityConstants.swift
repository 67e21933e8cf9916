// Values: SecItemConstants.c of Apple's Security-61901.

/// When an item may be read: one of `kSecAttrAccessible…`; `WhenUnlocked` where nothing is said.
public let kSecAttrAccessible: CFString = "pdmn"
/// When an item may be read, as a `SecAccessControl`.
public let kSecAttrAccessControl: CFString = "accc"
/// While the keychain is unlocked.
public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// From the first unlock after a restart on.
public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// Always; the default of certificates.
public let kSecAttrAccessibleAlways: CFString = "dk"
/// Always.
public let kSecAttrAccessibleAlwaysPrivate: CFString = "dk"
/// While the keychain is unlocked, and on this device alone.
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// From the first unlock after a restart on, and on this device alone.
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// Always, and on this device alone.
public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
/// Always, and on this device alone.
public let kSecAttrAccessibleAlwaysThisDeviceOnlyPrivate: CFString = "dku"
/// While the keychain is unlocked, has a passcode, and on this device alone; in no backup.
public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
