// Values: SecItemConstants.c and SecImportExport.c of Apple's Security-61901. These features exist only on macOS or
// tvOS; a call whose dictionary has one of these keys fails, unless the comment of the key says otherwise.

/// Not supported: lists of trusted programs are macOS's.
public let kSecAttrAccess: CFString = "acls"
/// Not supported: keys are not derived from passwords here.
public let kSecAttrPRF: CFString = "prf"
/// Not supported: keys are not derived from passwords here.
public let kSecAttrSalt: CFString = "salt"
/// Not supported: keys are not derived from passwords here.
public let kSecAttrRounds: CFString = "rounds"
/// Not supported: HMAC with SHA-1, to derive keys.
public let kSecAttrPRFHmacAlgSHA1: CFString = "hsha1"
/// Not supported: HMAC with SHA-224, to derive keys.
public let kSecAttrPRFHmacAlgSHA224: CFString = "hsha224"
/// Not supported: HMAC with SHA-256, to derive keys.
public let kSecAttrPRFHmacAlgSHA256: CFString = "hsha256"
/// Not supported: HMAC with SHA-384, to derive keys.
public let kSecAttrPRFHmacAlgSHA384: CFString = "hsha384"
/// Not supported: HMAC with SHA-512, to derive keys.
public let kSecAttrPRFHmacAlgSHA512: CFString = "hsha512"
/// Never an attribute of a result: a persistent reference is returned as `kSecValuePersistentRef`.
public let kSecAttrPersistentReference: CFString = "persistref"
/// The older spelling of `kSecAttrPersistentReference`.
public let kSecAttrPersistantReference: CFString = "persistref"
/// The access group of tokens, which is read-only.
public let kSecAttrAccessGroupToken: CFString = "com.apple.token"
/// Not supported: certificates whose subject begins with a text.
public let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// Not supported: certificates whose subject ends with a text.
public let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// Not supported: certificates whose subject is a text.
public let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// Not supported: compare texts without regard to diacritics.
public let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// Not supported: compare texts without regard to the width of characters.
public let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// Not supported: a keychain file of macOS; `KeychainClient.configure` chooses one here.
public let kSecUseKeychain: CFString = "u_Keychain"
/// Not supported: the keychain of all users of a tvOS device.
public let kSecUseUserIndependentKeychain: CFString = "u_UserIndependentKeychain"
/// Not supported: the keychain file that an import of macOS adds to; imports add to none here.
public let kSecImportExportKeychain: CFString = "keychain"
/// Not supported: the list of trusted programs that an import of macOS sets.
public let kSecImportExportAccess: CFString = "access"
/// Accepted and ignored: imports add nothing to a keychain here.
public let kSecImportToMemoryOnly: CFString = "memory"
