// Fence: shares string objects between threads; nothing changes them.
// Values from SecItemConstants.c and SecImportExport.c in Apple's Security-61901. These features exist only on macOS or
// tvOS. A call whose dictionary has one of these keys fails, unless the key's comment says otherwise.
public import Foundation

/// Not supported: lists of trusted programs exist only on macOS.
@safe public nonisolated(unsafe) let kSecAttrAccess: CFString = "acls"
/// Not supported: keys are not derived from passwords here.
@safe public nonisolated(unsafe) let kSecAttrPRF: CFString = "prf"
/// Not supported: keys are not derived from passwords here.
@safe public nonisolated(unsafe) let kSecAttrSalt: CFString = "salt"
/// Not supported: keys are not derived from passwords here.
@safe public nonisolated(unsafe) let kSecAttrRounds: CFString = "rounds"
/// Not supported: key derivation with HMAC-SHA-1.
@safe public nonisolated(unsafe) let kSecAttrPRFHmacAlgSHA1: CFString = "hsha1"
/// Not supported: key derivation with HMAC-SHA-224.
@safe public nonisolated(unsafe) let kSecAttrPRFHmacAlgSHA224: CFString = "hsha224"
/// Not supported: key derivation with HMAC-SHA-256.
@safe public nonisolated(unsafe) let kSecAttrPRFHmacAlgSHA256: CFString = "hsha256"
/// Not supported: key derivation with HMAC-SHA-384.
@safe public nonisolated(unsafe) let kSecAttrPRFHmacAlgSHA384: CFString = "hsha384"
/// Not supported: key derivation with HMAC-SHA-512.
@safe public nonisolated(unsafe) let kSecAttrPRFHmacAlgSHA512: CFString = "hsha512"
/// Never an attribute in a result: a persistent reference is returned as `kSecValuePersistentRef`.
@safe public nonisolated(unsafe) let kSecAttrPersistentReference: CFString = "persistref"
/// The older spelling of `kSecAttrPersistentReference`.
@safe public nonisolated(unsafe) let kSecAttrPersistantReference: CFString = "persistref"
/// The access group of tokens, which is read-only.
@safe public nonisolated(unsafe) let kSecAttrAccessGroupToken: CFString = "com.apple.token"
/// Not supported: certificates whose subject begins with a text.
@safe public nonisolated(unsafe) let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// Not supported: certificates whose subject ends with a text.
@safe public nonisolated(unsafe) let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// Not supported: certificates whose subject equals a text.
@safe public nonisolated(unsafe) let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// Not supported: comparing text without regard to diacritics.
@safe public nonisolated(unsafe) let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// Not supported: comparing text without regard to character width.
@safe public nonisolated(unsafe) let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// Not supported: a macOS keychain file; use `KeychainClient.configure` to select a keychain.
@safe public nonisolated(unsafe) let kSecUseKeychain: CFString = "u_Keychain"
/// Not supported: the keychain shared by all users of a tvOS device.
@safe public nonisolated(unsafe) let kSecUseUserIndependentKeychain: CFString = "u_UserIndependentKeychain"
/// Not supported: the keychain that an import on macOS adds to; imports here add nothing to a keychain.
@safe public nonisolated(unsafe) let kSecImportExportKeychain: CFString = "keychain"
/// Not supported: the list of trusted programs that an import on macOS sets.
@safe public nonisolated(unsafe) let kSecImportExportAccess: CFString = "access"
/// Accepted and ignored: imports here add nothing to a keychain.
@safe public nonisolated(unsafe) let kSecImportToMemoryOnly: CFString = "memory"
