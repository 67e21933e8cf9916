// Fence: shares string objects between threads; nothing changes them.
// Values from SecItemConstants.c in Apple's Security-61901.
public import Foundation

/// The maximum number of items: `kSecMatchLimitOne` (the default), `kSecMatchLimitAll` or a number.
@safe public nonisolated(unsafe) let kSecMatchLimit: CFString = "m_Limit"
/// Only one item, as a single value.
@safe public nonisolated(unsafe) let kSecMatchLimitOne: CFString = "m_LimitOne"
/// All items, as an array.
@safe public nonisolated(unsafe) let kSecMatchLimitAll: CFString = "m_LimitAll"
/// Compare text case-insensitively.
@safe public nonisolated(unsafe) let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// Match certificates and identities whose subject contains this text.
@safe public nonisolated(unsafe) let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// Match certificates and identities with this email address, or with none.
@safe public nonisolated(unsafe) let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// Match certificates and identities from these issuers: an array of names in DER.
@safe public nonisolated(unsafe) let kSecMatchIssuers: CFString = "m_Issuers"
/// Match certificates and identities that are valid on this date.
@safe public nonisolated(unsafe) let kSecMatchValidOnDate: CFString = "m_ValidOnDate"
/// Not supported: a query does not evaluate trust; use `SecTrust` with what it returns.
@safe public nonisolated(unsafe) let kSecMatchPolicy: CFString = "m_Policy"
/// Not supported: a query does not evaluate trust; use `SecTrust` with what it returns.
@safe public nonisolated(unsafe) let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// Match the items in this array of persistent references, certificates, keys or identities, all of the requested class.
@safe public nonisolated(unsafe) let kSecMatchItemList: CFString = "m_ItemList"
/// Not supported.
@safe public nonisolated(unsafe) let kSecMatchSearchList: CFString = "m_SearchList"
/// Match internet passwords whose server is this host or a subdomain of it.
@safe public nonisolated(unsafe) let kSecMatchHostOrSubdomainOfHost: CFString = "m_HostOrSubdomainOfHost"
/// Return the secret.
@safe public nonisolated(unsafe) let kSecReturnData: CFString = "r_Data"
/// Return the attributes.
@safe public nonisolated(unsafe) let kSecReturnAttributes: CFString = "r_Attributes"
/// Return an object: `SecCertificate`, `SecKey` or `SecIdentity`.
@safe public nonisolated(unsafe) let kSecReturnRef: CFString = "r_Ref"
/// Return a 20-byte reference that stays valid after the process ends.
@safe public nonisolated(unsafe) let kSecReturnPersistentRef: CFString = "r_PersistentRef"
/// The secret.
@safe public nonisolated(unsafe) let kSecValueData: CFString = "v_Data"
/// An object: `SecCertificate`, `SecKey` or `SecIdentity`.
@safe public nonisolated(unsafe) let kSecValueRef: CFString = "v_Ref"
/// A reference that was returned for `kSecReturnPersistentRef`.
@safe public nonisolated(unsafe) let kSecValuePersistentRef: CFString = "v_PersistentRef"
/// Not supported.
@safe public nonisolated(unsafe) let kSecUseItemList: CFString = "u_ItemList"
/// Accepted and ignored: the passcode comes from the source set with `KeychainClient.setPasscodeSource`.
@safe public nonisolated(unsafe) let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// The older form of `kSecUseAuthenticationUIFail`: true or false.
@safe public nonisolated(unsafe) let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// The treatment of locked items: ask for the passcode (the default), fail or skip.
@safe public nonisolated(unsafe) let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// Ask the passcode source of `KeychainClient`, if there is one; the default.
@safe public nonisolated(unsafe) let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// Show no prompt, and fail with `errSecInteractionNotAllowed`.
@safe public nonisolated(unsafe) let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// Skip locked items.
@safe public nonisolated(unsafe) let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// An `LAContext` of the module `LocalAuthentication`, which asks for the passcode, and keeps it for further calls.
@safe public nonisolated(unsafe) let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// Accepted and ignored: there is one keychain.
@safe public nonisolated(unsafe) let kSecUseDataProtectionKeychain: CFString = "nleg"
/// Accepted and ignored: there is one keychain.
@safe public nonisolated(unsafe) let kSecAttrNoLegacy: CFString = "nleg"
/// Not supported: there is no system keychain.
@safe public nonisolated(unsafe) let kSecUseSystemKeychain: CFString = "u_SystemKeychain"
/// Whether deleting an item leaves a tombstone; by default, only synchronizable items leave one.
@safe public nonisolated(unsafe) let kSecUseTombstones: CFString = "u_Tomb"
/// The passphrase of a PKCS #12 file.
@safe public nonisolated(unsafe) let kSecImportExportPassphrase: CFString = "passphrase"
/// The label of an imported identity.
@safe public nonisolated(unsafe) let kSecImportItemLabel: CFString = "label"
/// The key identifier of an imported identity.
@safe public nonisolated(unsafe) let kSecImportItemKeyID: CFString = "keyid"
/// A `SecTrust` for the certificates of an imported identity.
@safe public nonisolated(unsafe) let kSecImportItemTrust: CFString = "trust"
/// The certificates of an imported identity, starting with its own.
@safe public nonisolated(unsafe) let kSecImportItemCertChain: CFString = "chain"
/// An imported `SecIdentity`.
@safe public nonisolated(unsafe) let kSecImportItemIdentity: CFString = "identity"
