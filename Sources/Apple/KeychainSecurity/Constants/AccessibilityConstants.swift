// Fence: shares string objects between threads; nothing changes them.
// Values from SecItemConstants.c in Apple's Security-61901.
public import Foundation

/// When an item may be read: one of `kSecAttrAccessible…`; `WhenUnlocked` by default.
@safe public nonisolated(unsafe) let kSecAttrAccessible: CFString = "pdmn"
/// When an item may be read, as a `SecAccessControl`.
@safe public nonisolated(unsafe) let kSecAttrAccessControl: CFString = "accc"
/// While the keychain is unlocked.
@safe public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// After the first unlock since boot.
@safe public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// Always; the default of certificates.
@safe public nonisolated(unsafe) let kSecAttrAccessibleAlways: CFString = "dk"
/// Always.
@safe public nonisolated(unsafe) let kSecAttrAccessibleAlwaysPrivate: CFString = "dk"
/// While the keychain is unlocked, on this device only.
@safe public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// After the first unlock since boot, on this device only.
@safe public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// Always, on this device only.
@safe public nonisolated(unsafe) let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
/// Always, on this device only.
@safe public nonisolated(unsafe) let kSecAttrAccessibleAlwaysThisDeviceOnlyPrivate: CFString = "dku"
/// While the keychain is unlocked and has a passcode, on this device only; not in backups.
@safe public nonisolated(unsafe) let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
