// Values from SecItemConstants.c in Apple's Security-61901.

/// The maximum number of items: `kSecMatchLimitOne` (the default), `kSecMatchLimitAll` or a number.
public let kSecMatchLimit: CFString = "m_Limit"
/// One item, as a single value.
public let kSecMatchLimitOne: CFString = "m_LimitOne"
/// All items, as an array.
public let kSecMatchLimitAll: CFString = "m_LimitAll"
/// Compare text case-insensitively.
public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// Match certificates and identities whose subject contains this text.
public let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// Match certificates and identities with this email address, or with none.
public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// Match certificates and identities from these issuers: an array of names in DER.
public let kSecMatchIssuers: CFString = "m_Issuers"
/// Match certificates and identities that are valid on this date.
public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"
/// Not supported: there is no trust evaluation.
public let kSecMatchPolicy: CFString = "m_Policy"
/// Not supported: there is no trust evaluation.
public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// Not supported.
public let kSecMatchItemList: CFString = "m_ItemList"
/// Not supported.
public let kSecMatchSearchList: CFString = "m_SearchList"
/// Match internet passwords whose server is this host or a subdomain of it.
public let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"
/// Return the secret.
public let kSecReturnData: CFString = "r_Data"
/// Return the attributes.
public let kSecReturnAttributes: CFString = "r_Attributes"
/// Return an object: `SecCertificate`, `SecKey` or `SecIdentity`.
public let kSecReturnRef: CFString = "r_Ref"
/// Return a 20-byte reference that stays valid after the process ends.
public let kSecReturnPersistentRef: CFString = "r_PersistentRef"
/// The secret.
public let kSecValueData: CFString = "v_Data"
/// An object: `SecCertificate`, `SecKey` or `SecIdentity`.
public let kSecValueRef: CFString = "v_Ref"
/// A reference that was returned for `kSecReturnPersistentRef`.
public let kSecValuePersistentRef: CFString = "v_PersistentRef"
/// Not supported.
public let kSecUseItemList: CFString = "u_ItemList"
/// Accepted and ignored: the passcode comes from the source set with `KeychainClient.setPasscodeSource`.
public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// The older form of `kSecUseAuthenticationUIFail`: true or false.
public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// What to do with locked items: ask for the passcode (the default), fail or skip.
public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// Ask the passcode source of `KeychainClient`, if there is one; the default.
public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// Show no prompt, and fail with `errSecInteractionNotAllowed`.
public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// Skip locked items.
public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// Not supported: there is no local authentication.
public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// Accepted and ignored: there is one keychain.
public let kSecUseDataProtectionKeychain: CFString = "nleg"
/// Accepted and ignored: there is one keychain.
public let kSecAttrNoLegacy: CFString = "nleg"
/// Not supported: there is no system keychain.
public let kSecUseSystemKeychain: CFString = "u_SystemKeychain"
/// Whether deleting an item leaves a tombstone; by default, only synchronizable items leave one.
public let kSecUseTombstones: CFString = "u_Tomb"
/// The passphrase of a PKCS #12 file.
public let kSecImportExportPassphrase: CFString = "passphrase"
/// The label of an imported identity.
public let kSecImportItemLabel: CFString = "label"
/// The key identifier of an imported identity.
public let kSecImportItemKeyID: CFString = "keyid"
/// Not supported: there is no trust evaluation.
public let kSecImportItemTrust: CFString = "trust"
/// The certificates of an imported identity, starting with its own.
public let kSecImportItemCertChain: CFString = "chain"
/// An imported `SecIdentity`.
public let kSecImportItemIdentity: CFString = "identity"
