// Values from SecItemConstants.c and SecImportExport.c in Apple's Security-61901. These features exist only on macOS or
// tvOS. A call whose dictionary has one of these keys fails, unless the key's comment says otherwise.

/// Not supported: lists of trusted programs exist only on macOS.
public let kSecAttrAccess: CFString = "acls"
/// Not supported: keys are not derived from passwords here.
public let kSecAttrPRF: CFString = "prf"
/// Not supported: keys are not derived from passwords here.
public let kSecAttrSalt: CFString = "salt"
/// Not supported: keys are not derived from passwords here.
public let kSecAttrRounds: CFString = "rounds"
/// Not supported: key derivation with HMAC-SHA-1.
public let kSecAttrPRFHmacAlgSHA1: CFString = "hsha1"
/// Not supported: key derivation with HMAC-SHA-224.
public let kSecAttrPRFHmacAlgSHA224: CFString = "hsha224"
/// Not supported: key derivation with HMAC-SHA-256.
public let kSecAttrPRFHmacAlgSHA256: CFString = "hsha256"
/// Not supported: key derivation with HMAC-SHA-384.
public let kSecAttrPRFHmacAlgSHA384: CFString = "hsha384"
/// Not supported: key derivation with HMAC-SHA-512.
public let kSecAttrPRFHmacAlgSHA512: CFString = "hsha512"
/// Never an attribute in a result: a persistent reference is returned as `kSecValuePersistentRef`.
public let kSecAttrPersistentReference: CFString = "persistref"
/// The older spelling of `kSecAttrPersistentReference`.
public let kSecAttrPersistantReference: CFString = "persistref"
/// The access group of tokens, which is read-only.
public let kSecAttrAccessGroupToken: CFString = "com.apple.token"
/// Not supported: certificates whose subject begins with a text.
public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// Not supported: certificates whose subject ends with a text.
public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// Not supported: certificates whose subject equals a text.
public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// Not supported: comparing text without regard to diacritics.
public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// Not supported: comparing text without regard to character width.
public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// Not supported: a macOS keychain file; use `KeychainClient.configure` to select a keychain.
public let kSecUseKeychain: CFString = "u_Keychain"
/// Not supported: the keychain shared by all users of a tvOS device.
public let kSecUseUserIndependentKeychain: CFString = "u_UserIndependentKeychain"
/// Not supported: the keychain that an import on macOS adds to; imports here add nothing to a keychain.
public let kSecImportExportKeychain: CFString = "keychain"
/// Not supported: the list of trusted programs that an import on macOS sets.
public let kSecImportExportAccess: CFString = "access"
/// Accepted and ignored: imports here add nothing to a keychain.
public let kSecImportToMemoryOnly: CFString = "memory"
