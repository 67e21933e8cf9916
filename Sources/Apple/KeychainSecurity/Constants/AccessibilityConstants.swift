// Values from SecItemConstants.c in Apple's Security-61901.

/// When an item may be read: one of `kSecAttrAccessible…`; `WhenUnlocked` by default.
public let kSecAttrAccessible: CFString = "pdmn"
/// When an item may be read, as a `SecAccessControl`.
public let kSecAttrAccessControl: CFString = "accc"
/// While the keychain is unlocked.
public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// After the first unlock since boot.
public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// Always; the default of certificates.
public let kSecAttrAccessibleAlways: CFString = "dk"
/// Always.
public let kSecAttrAccessibleAlwaysPrivate: CFString = "dk"
/// While the keychain is unlocked, on this device only.
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// After the first unlock since boot, on this device only.
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// Always, on this device only.
public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
/// Always, on this device only.
public let kSecAttrAccessibleAlwaysThisDeviceOnlyPrivate: CFString = "dku"
/// While the keychain is unlocked and has a passcode, on this device only; not in backups.
public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
