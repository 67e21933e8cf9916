// Values: SecItemConstants.c of Apple's Security-61901.

/// How many items at most: `kSecMatchLimitOne` (the default), `kSecMatchLimitAll` or a number.
public let kSecMatchLimit: CFString = "m_Limit"
/// One item, as a single value.
public let kSecMatchLimitOne: CFString = "m_LimitOne"
/// All items, as a list.
public let kSecMatchLimitAll: CFString = "m_LimitAll"
/// Compare texts without regard to case.
public let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// Certificates and identities whose subject contains a text.
public let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// Certificates and identities with this email address, or with none.
public let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// Certificates and identities of these issuers: a list of names in DER.
public let kSecMatchIssuers: CFString = "m_Issuers"
/// Certificates and identities that are valid at a moment.
public let kSecMatchValidOnDate: CFString = "m_ValidOnDate"
/// Not here: there is no trust evaluation.
public let kSecMatchPolicy: CFString = "m_Policy"
/// Not here: there is no trust evaluation.
public let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// Not here.
public let kSecMatchItemList: CFString = "m_ItemList"
/// Not here.
public let kSecMatchSearchList: CFString = "m_SearchList"
/// Internet passwords whose server is this host or one below it.
public let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"
/// Return the secret.
public let kSecReturnData: CFString = "r_Data"
/// Return the attributes.
public let kSecReturnAttributes: CFString = "r_Attributes"
/// Return an object: `SecCertificate`, `SecKey` or `SecIdentity`.
public let kSecReturnRef: CFString = "r_Ref"
/// Return a reference of 20 bytes that outlives the process.
public let kSecReturnPersistentRef: CFString = "r_PersistentRef"
/// The secret.
public let kSecValueData: CFString = "v_Data"
/// An object: `SecCertificate`, `SecKey` or `SecIdentity`.
public let kSecValueRef: CFString = "v_Ref"
/// A reference that `kSecReturnPersistentRef` gave.
public let kSecValuePersistentRef: CFString = "v_PersistentRef"
/// Not here.
public let kSecUseItemList: CFString = "u_ItemList"
/// Taken and ignored: nothing is asked.
public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// Taken: nothing is ever asked.
public let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// What to do with items that are locked: fail (the default) or skip.
public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// As `Fail`: nothing is asked here.
public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// Fail with `errSecInteractionNotAllowed`.
public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// Leave locked items out.
public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// Not here: there is no local authentication.
public let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// Taken and ignored: there is one keychain.
public let kSecUseDataProtectionKeychain: CFString = "nleg"
/// Taken and ignored: there is one keychain.
public let kSecAttrNoLegacy: CFString = "nleg"
/// Not here: there is no system keychain.
public let kSecUseSystemKeychain: CFString = "u_SystemKeychain"
/// Whether a deletion leaves a trace; by default those of synchronizable items do.
public let kSecUseTombstones: CFString = "u_Tomb"
/// The passphrase of a PKCS #12 file.
public let kSecImportExportPassphrase: CFString = "passphrase"
/// The label of an imported identity.
public let kSecImportItemLabel: CFString = "label"
/// The key identifier of an imported identity.
public let kSecImportItemKeyID: CFString = "keyid"
/// Not here: there is no trust evaluation.
public let kSecImportItemTrust: CFString = "trust"
/// The certificates of an imported identity, its own first.
public let kSecImportItemCertChain: CFString = "chain"
/// An imported `SecIdentity`.
public let kSecImportItemIdentity: CFString = "identity"
