import Foundation
import KCKeychainModel
import KCSecurityStatus
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Constants")
struct ConstantTests {
    @Test("Every constant has Apple's value", arguments: values)
    func value(name: String, constant: String, published: String) {
        #expect(constant == published, "\(name)")
    }

    @Test("The table of this test contains every constant of the library")
    func completeness() throws {
        #expect(try Self.declared(/let (kSec\w+): CFString/) == Set(Self.values.map(\.0)))
        #expect(Set(Self.values.map(\.0)).count == Self.values.count)
        #expect(try Self.declared(/public let (errSec\w+): OSStatus/) == Set(SecurityStatus.all.map(\.name)))
    }

    @Test("Every attribute of the API is an attribute of the keychain")
    func attributes() {
        let virtual = [kSecAttrAccessControl, kSecAttrTombstone, kSecAttrNoLegacy, kSecAttrAccess, kSecAttrSalt]
        for (name, constant, _) in Self.values where name.hasPrefix("kSecAttr") && constant.utf8.count == 4 {
            let isValue = ["Protocol", "AuthenticationType", "Accessible", "Synchronizable"].contains {
                name.hasPrefix("kSecAttr" + $0) && name != "kSecAttr" + $0
            }
            guard !isValue, !virtual.contains(constant as CFString) else { continue }
            #expect(AttributeCode(code: constant) != nil, "\(name)")
        }
    }

    /// The names that the library's sources declare.
    private static func declared(_ pattern: Regex<(Substring, Substring)>) throws -> Set<String> {
        let folder = Project.folder.appending(path: "Sources/Apple/KeychainSecurity/Constants")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let text = try files.map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
        return Set(text.matches(of: pattern).map { String($0.output.1) })
    }

    private static var values: [(String, String, String)] { published.map { ($0, $1 as String, $2) } }

    /// Written from Apple's list, so that a mistake in the library is detected.
    private static var published: [(String, CFString, String)] {
        [
            ("kSecClass", kSecClass, "class"), ("kSecClassGenericPassword", kSecClassGenericPassword, "genp"),
            ("kSecClassInternetPassword", kSecClassInternetPassword, "inet"),
            ("kSecClassCertificate", kSecClassCertificate, "cert"), ("kSecClassKey", kSecClassKey, "keys"),
            ("kSecClassIdentity", kSecClassIdentity, "idnt"), ("kSecAttrCreationDate", kSecAttrCreationDate, "cdat"),
            ("kSecAttrModificationDate", kSecAttrModificationDate, "mdat"), ("kSecAttrLabel", kSecAttrLabel, "labl"),
            ("kSecAttrAccessGroup", kSecAttrAccessGroup, "agrp"), ("kSecAttrAccessible", kSecAttrAccessible, "pdmn"),
            ("kSecAttrSynchronizable", kSecAttrSynchronizable, "sync"),
            ("kSecAttrTombstone", kSecAttrTombstone, "tomb"),
            ("kSecAttrSyncViewHint", kSecAttrSyncViewHint, "vwht"), ("kSecAttrTokenID", kSecAttrTokenID, "tkid"),
            ("kSecAttrMultiUser", kSecAttrMultiUser, "musr"), ("kSecAttrSharingGroup", kSecAttrSharingGroup, "ggrp"),
            ("kSecAttrAccessControl", kSecAttrAccessControl, "accc"),
            ("kSecAttrSynchronizableAny", kSecAttrSynchronizableAny, "syna"),
            ("kSecAttrDescription", kSecAttrDescription, "desc"), ("kSecAttrComment", kSecAttrComment, "icmt"),
            ("kSecAttrCreator", kSecAttrCreator, "crtr"), ("kSecAttrType", kSecAttrType, "type"),
            ("kSecAttrScriptCode", kSecAttrScriptCode, "scrp"), ("kSecAttrAlias", kSecAttrAlias, "alis"),
            ("kSecAttrIsInvisible", kSecAttrIsInvisible, "invi"), ("kSecAttrIsNegative", kSecAttrIsNegative, "nega"),
            ("kSecAttrHasCustomIcon", kSecAttrHasCustomIcon, "cusi"), ("kSecAttrAccount", kSecAttrAccount, "acct"),
            ("kSecAttrService", kSecAttrService, "svce"), ("kSecAttrGeneric", kSecAttrGeneric, "gena"),
            ("kSecAttrSecurityDomain", kSecAttrSecurityDomain, "sdmn"), ("kSecAttrServer", kSecAttrServer, "srvr"),
            ("kSecAttrAuthenticationType", kSecAttrAuthenticationType, "atyp"), ("kSecAttrPath", kSecAttrPath, "path"),
            ("kSecAttrProtocol", kSecAttrProtocol, "ptcl"), ("kSecAttrPort", kSecAttrPort, "port"),
            ("kSecAttrCertificateType", kSecAttrCertificateType, "ctyp"),
            ("kSecAttrCertificateEncoding", kSecAttrCertificateEncoding, "cenc"),
            ("kSecAttrSubject", kSecAttrSubject, "subj"), ("kSecAttrIssuer", kSecAttrIssuer, "issr"),
            ("kSecAttrSerialNumber", kSecAttrSerialNumber, "slnr"),
            ("kSecAttrSubjectKeyID", kSecAttrSubjectKeyID, "skid"),
            ("kSecAttrPublicKeyHash", kSecAttrPublicKeyHash, "pkhh"), ("kSecAttrKeyClass", kSecAttrKeyClass, "kcls"),
            ("kSecAttrIsPermanent", kSecAttrIsPermanent, "perm"),
            ("kSecAttrApplicationLabel", kSecAttrApplicationLabel, "klbl"),
            ("kSecAttrApplicationTag", kSecAttrApplicationTag, "atag"), ("kSecAttrKeyType", kSecAttrKeyType, "type"),
            ("kSecAttrKeySizeInBits", kSecAttrKeySizeInBits, "bsiz"),
            ("kSecAttrEffectiveKeySize", kSecAttrEffectiveKeySize, "esiz"),
            ("kSecAttrIsSensitive", kSecAttrIsSensitive, "sens"),
            ("kSecAttrIsExtractable", kSecAttrIsExtractable, "extr"),
            ("kSecAttrCanEncrypt", kSecAttrCanEncrypt, "encr"), ("kSecAttrCanDecrypt", kSecAttrCanDecrypt, "decr"),
            ("kSecAttrCanDerive", kSecAttrCanDerive, "drve"), ("kSecAttrCanSign", kSecAttrCanSign, "sign"),
            ("kSecAttrCanVerify", kSecAttrCanVerify, "vrfy"), ("kSecAttrCanWrap", kSecAttrCanWrap, "wrap"),
            ("kSecAttrCanUnwrap", kSecAttrCanUnwrap, "unwp"),
            ("kSecAttrTokenIDSecureEnclave", kSecAttrTokenIDSecureEnclave, "com.apple.setoken"),
            ("kSecAttrNoLegacy", kSecAttrNoLegacy, "nleg"),
            ("kSecAttrAccessibleWhenUnlocked", kSecAttrAccessibleWhenUnlocked, "ak"),
            ("kSecAttrAccessibleAfterFirstUnlock", kSecAttrAccessibleAfterFirstUnlock, "ck"),
            ("kSecAttrAccessibleAlways", kSecAttrAccessibleAlways, "dk"),
            ("kSecAttrAccessibleAlwaysPrivate", kSecAttrAccessibleAlwaysPrivate, "dk"),
            ("kSecAttrAccessibleWhenUnlockedThisDeviceOnly", kSecAttrAccessibleWhenUnlockedThisDeviceOnly, "aku"),
            (
                "kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly", kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
                "cku"
            ),
            ("kSecAttrAccessibleAlwaysThisDeviceOnly", kSecAttrAccessibleAlwaysThisDeviceOnly, "dku"),
            ("kSecAttrAccessibleAlwaysThisDeviceOnlyPrivate", kSecAttrAccessibleAlwaysThisDeviceOnlyPrivate, "dku"),
            (
                "kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly", kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
                "akpu"
            ),
            ("kSecAttrKeyClassPublic", kSecAttrKeyClassPublic, "0"),
            ("kSecAttrKeyClassPrivate", kSecAttrKeyClassPrivate, "1"),
            ("kSecAttrKeyClassSymmetric", kSecAttrKeyClassSymmetric, "2"),
            ("kSecAttrKeyTypeRSA", kSecAttrKeyTypeRSA, "42"),
            ("kSecAttrKeyTypeDSA", kSecAttrKeyTypeDSA, "43"), ("kSecAttrKeyTypeEC", kSecAttrKeyTypeEC, "73"),
            ("kSecAttrKeyTypeECSECPrimeRandom", kSecAttrKeyTypeECSECPrimeRandom, "73"),
            ("kSecAttrKeyTypeECDSA", kSecAttrKeyTypeECDSA, "73"),
            ("kSecAttrKeyTypeEd25519", kSecAttrKeyTypeEd25519, "105"),
            ("kSecAttrKeyTypeX25519", kSecAttrKeyTypeX25519, "106"),
            ("kSecAttrKeyTypeAES", kSecAttrKeyTypeAES, "2147483649"),
            ("kSecAttrKeyType3DES", kSecAttrKeyType3DES, "17"),
            ("kSecAttrProtocolFTP", kSecAttrProtocolFTP, "ftp "),
            ("kSecAttrProtocolFTPAccount", kSecAttrProtocolFTPAccount, "ftpa"),
            ("kSecAttrProtocolHTTP", kSecAttrProtocolHTTP, "http"),
            ("kSecAttrProtocolIRC", kSecAttrProtocolIRC, "irc "),
            ("kSecAttrProtocolNNTP", kSecAttrProtocolNNTP, "nntp"),
            ("kSecAttrProtocolPOP3", kSecAttrProtocolPOP3, "pop3"),
            ("kSecAttrProtocolSMTP", kSecAttrProtocolSMTP, "smtp"),
            ("kSecAttrProtocolSOCKS", kSecAttrProtocolSOCKS, "sox "),
            ("kSecAttrProtocolIMAP", kSecAttrProtocolIMAP, "imap"),
            ("kSecAttrProtocolLDAP", kSecAttrProtocolLDAP, "ldap"),
            ("kSecAttrProtocolAppleTalk", kSecAttrProtocolAppleTalk, "atlk"),
            ("kSecAttrProtocolAFP", kSecAttrProtocolAFP, "afp "),
            ("kSecAttrProtocolTelnet", kSecAttrProtocolTelnet, "teln"),
            ("kSecAttrProtocolSSH", kSecAttrProtocolSSH, "ssh "),
            ("kSecAttrProtocolFTPS", kSecAttrProtocolFTPS, "ftps"),
            ("kSecAttrProtocolHTTPS", kSecAttrProtocolHTTPS, "htps"),
            ("kSecAttrProtocolHTTPProxy", kSecAttrProtocolHTTPProxy, "htpx"),
            ("kSecAttrProtocolHTTPSProxy", kSecAttrProtocolHTTPSProxy, "htsx"),
            ("kSecAttrProtocolFTPProxy", kSecAttrProtocolFTPProxy, "ftpx"),
            ("kSecAttrProtocolSMB", kSecAttrProtocolSMB, "smb "),
            ("kSecAttrProtocolRTSP", kSecAttrProtocolRTSP, "rtsp"),
            ("kSecAttrProtocolRTSPProxy", kSecAttrProtocolRTSPProxy, "rtsx"),
            ("kSecAttrProtocolDAAP", kSecAttrProtocolDAAP, "daap"),
            ("kSecAttrProtocolEPPC", kSecAttrProtocolEPPC, "eppc"),
            ("kSecAttrProtocolIPP", kSecAttrProtocolIPP, "ipp "),
            ("kSecAttrProtocolNNTPS", kSecAttrProtocolNNTPS, "ntps"),
            ("kSecAttrProtocolLDAPS", kSecAttrProtocolLDAPS, "ldps"),
            ("kSecAttrProtocolTelnetS", kSecAttrProtocolTelnetS, "tels"),
            ("kSecAttrProtocolIMAPS", kSecAttrProtocolIMAPS, "imps"),
            ("kSecAttrProtocolIRCS", kSecAttrProtocolIRCS, "ircs"),
            ("kSecAttrProtocolPOP3S", kSecAttrProtocolPOP3S, "pops"),
            ("kSecAttrAuthenticationTypeNTLM", kSecAttrAuthenticationTypeNTLM, "ntlm"),
            ("kSecAttrAuthenticationTypeMSN", kSecAttrAuthenticationTypeMSN, "msna"),
            ("kSecAttrAuthenticationTypeDPA", kSecAttrAuthenticationTypeDPA, "dpaa"),
            ("kSecAttrAuthenticationTypeRPA", kSecAttrAuthenticationTypeRPA, "rpaa"),
            ("kSecAttrAuthenticationTypeHTTPBasic", kSecAttrAuthenticationTypeHTTPBasic, "http"),
            ("kSecAttrAuthenticationTypeHTTPDigest", kSecAttrAuthenticationTypeHTTPDigest, "httd"),
            ("kSecAttrAuthenticationTypeHTMLForm", kSecAttrAuthenticationTypeHTMLForm, "form"),
            ("kSecAttrAuthenticationTypeDefault", kSecAttrAuthenticationTypeDefault, "dflt"),
            ("kSecValueData", kSecValueData, "v_Data"), ("kSecValueRef", kSecValueRef, "v_Ref"),
            ("kSecValuePersistentRef", kSecValuePersistentRef, "v_PersistentRef"),
            ("kSecReturnData", kSecReturnData, "r_Data"),
            ("kSecReturnAttributes", kSecReturnAttributes, "r_Attributes"),
            ("kSecReturnRef", kSecReturnRef, "r_Ref"),
            ("kSecReturnPersistentRef", kSecReturnPersistentRef, "r_PersistentRef"),
            ("kSecMatchLimit", kSecMatchLimit, "m_Limit"), ("kSecMatchLimitOne", kSecMatchLimitOne, "m_LimitOne"),
            ("kSecMatchLimitAll", kSecMatchLimitAll, "m_LimitAll"),
            ("kSecMatchCaseInsensitive", kSecMatchCaseInsensitive, "m_CaseInsensitive"),
            ("kSecMatchSubjectContains", kSecMatchSubjectContains, "m_SubjectContains"),
            ("kSecMatchEmailAddressIfPresent", kSecMatchEmailAddressIfPresent, "m_EmailAddressIfPresent"),
            ("kSecMatchIssuers", kSecMatchIssuers, "m_Issuers"), ("kSecMatchPolicy", kSecMatchPolicy, "m_Policy"),
            ("kSecMatchValidOnDate", kSecMatchValidOnDate, "m_ValidOnDate"),
            ("kSecMatchTrustedOnly", kSecMatchTrustedOnly, "m_TrustedOnly"),
            ("kSecMatchItemList", kSecMatchItemList, "m_ItemList"),
            ("kSecMatchSearchList", kSecMatchSearchList, "m_SearchList"),
            ("kSecMatchHostOrSubdomainOfHost", kSecMatchHostOrSubdomainOfHost, "m_HostOrSubdomainOfHost"),
            ("kSecUseTombstones", kSecUseTombstones, "u_Tomb"),
            ("kSecUseAuthenticationUI", kSecUseAuthenticationUI, "u_AuthUI"),
            ("kSecUseAuthenticationUIAllow", kSecUseAuthenticationUIAllow, "u_AuthUIA"),
            ("kSecUseAuthenticationUIFail", kSecUseAuthenticationUIFail, "u_AuthUIF"),
            ("kSecUseAuthenticationUISkip", kSecUseAuthenticationUISkip, "u_AuthUIS"),
            ("kSecUseAuthenticationContext", kSecUseAuthenticationContext, "u_AuthCtx"),
            ("kSecUseOperationPrompt", kSecUseOperationPrompt, "u_OpPrompt"),
            ("kSecUseItemList", kSecUseItemList, "u_ItemList"),
            ("kSecUseSystemKeychain", kSecUseSystemKeychain, "u_SystemKeychain"),
            ("kSecUseDataProtectionKeychain", kSecUseDataProtectionKeychain, "nleg"),
            ("kSecUseNoAuthenticationUI", kSecUseNoAuthenticationUI, "u_NoAuthUI"),
            ("kSecImportExportPassphrase", kSecImportExportPassphrase, "passphrase"),
            ("kSecImportItemLabel", kSecImportItemLabel, "label"),
            ("kSecImportItemKeyID", kSecImportItemKeyID, "keyid"),
            ("kSecImportItemTrust", kSecImportItemTrust, "trust"),
            ("kSecImportItemCertChain", kSecImportItemCertChain, "chain"),
            ("kSecImportItemIdentity", kSecImportItemIdentity, "identity"),
            ("kSecAttrAccess", kSecAttrAccess, "acls"),
            ("kSecAttrPRF", kSecAttrPRF, "prf"),
            ("kSecAttrSalt", kSecAttrSalt, "salt"),
            ("kSecAttrRounds", kSecAttrRounds, "rounds"),
            ("kSecAttrPRFHmacAlgSHA1", kSecAttrPRFHmacAlgSHA1, "hsha1"),
            ("kSecAttrPRFHmacAlgSHA224", kSecAttrPRFHmacAlgSHA224, "hsha224"),
            ("kSecAttrPRFHmacAlgSHA256", kSecAttrPRFHmacAlgSHA256, "hsha256"),
            ("kSecAttrPRFHmacAlgSHA384", kSecAttrPRFHmacAlgSHA384, "hsha384"),
            ("kSecAttrPRFHmacAlgSHA512", kSecAttrPRFHmacAlgSHA512, "hsha512"),
            ("kSecAttrPersistentReference", kSecAttrPersistentReference, "persistref"),
            ("kSecAttrPersistantReference", kSecAttrPersistantReference, "persistref"),
            ("kSecAttrAccessGroupToken", kSecAttrAccessGroupToken, "com.apple.token"),
            ("kSecMatchSubjectStartsWith", kSecMatchSubjectStartsWith, "m_SubjectStartsWith"),
            ("kSecMatchSubjectEndsWith", kSecMatchSubjectEndsWith, "m_SubjectEndsWith"),
            ("kSecMatchSubjectWholeString", kSecMatchSubjectWholeString, "m_SubjectWholeString"),
            ("kSecMatchDiacriticInsensitive", kSecMatchDiacriticInsensitive, "m_DiacriticInsensitive"),
            ("kSecMatchWidthInsensitive", kSecMatchWidthInsensitive, "m_WidthInsensitive"),
            ("kSecUseKeychain", kSecUseKeychain, "u_Keychain"),
            ("kSecUseUserIndependentKeychain", kSecUseUserIndependentKeychain, "u_UserIndependentKeychain"),
            ("kSecImportExportKeychain", kSecImportExportKeychain, "keychain"),
            ("kSecImportExportAccess", kSecImportExportAccess, "access"),
            ("kSecImportToMemoryOnly", kSecImportToMemoryOnly, "memory"),
            ("kSecAttrKeyTypeDES", kSecAttrKeyTypeDES, "14"),
            ("kSecAttrKeyTypeRC2", kSecAttrKeyTypeRC2, "23"),
            ("kSecAttrKeyTypeRC4", kSecAttrKeyTypeRC4, "25"),
            ("kSecAttrKeyTypeCAST", kSecAttrKeyTypeCAST, "56"),
            ("kSecPrivateKeyAttrs", kSecPrivateKeyAttrs, "private"),
            ("kSecPublicKeyAttrs", kSecPublicKeyAttrs, "public"),
            ("kSecPolicyAppleX509Basic", kSecPolicyAppleX509Basic, "1.2.840.113635.100.1.2"),
            ("kSecPolicyAppleSSL", kSecPolicyAppleSSL, "1.2.840.113635.100.1.3"),
            ("kSecPolicyAppleRevocation", kSecPolicyAppleRevocation, "1.2.840.113635.100.1.21"),
            ("kSecPolicyAppleSMIME", kSecPolicyAppleSMIME, "1.2.840.113635.100.1.8"),
            ("kSecPolicyAppleEAP", kSecPolicyAppleEAP, "1.2.840.113635.100.1.9"),
            ("kSecPolicyAppleIPsec", kSecPolicyAppleIPsec, "1.2.840.113635.100.1.11"),
            ("kSecPolicyAppleCodeSigning", kSecPolicyAppleCodeSigning, "1.2.840.113635.100.1.16"),
            ("kSecPolicyAppleIDValidation", kSecPolicyAppleIDValidation, "1.2.840.113635.100.1.18"),
            ("kSecPolicyMacAppStoreReceipt", kSecPolicyMacAppStoreReceipt, "1.2.840.113635.100.1.19"),
            ("kSecPolicyAppleTimeStamping", kSecPolicyAppleTimeStamping, "1.2.840.113635.100.1.20"),
            ("kSecPolicyApplePassbookSigning", kSecPolicyApplePassbookSigning, "1.2.840.113635.100.1.22"),
            ("kSecPolicyApplePayIssuerEncryption", kSecPolicyApplePayIssuerEncryption, "1.2.840.113635.100.1.39"),
            ("kSecPolicyOid", kSecPolicyOid, "SecPolicyOid"),
            ("kSecPolicyName", kSecPolicyName, "SecPolicyName"),
            ("kSecPolicyClient", kSecPolicyClient, "SecPolicyClient"),
            ("kSecPolicyRevocationFlags", kSecPolicyRevocationFlags, "SecPolicyRevocationFlags"),
            ("kSecPolicyTeamIdentifier", kSecPolicyTeamIdentifier, "SecPolicyTeamIdentifier"),
            ("kSecPropertyTypeTitle", kSecPropertyTypeTitle, "title"),
            ("kSecPropertyTypeError", kSecPropertyTypeError, "error"),
            ("kSecTrustEvaluationDate", kSecTrustEvaluationDate, "TrustEvaluationDate"),
            ("kSecTrustOrganizationName", kSecTrustOrganizationName, "Organization"),
            ("kSecTrustResultValue", kSecTrustResultValue, "TrustResultValue"),
            ("kSecTrustExtendedValidation", kSecTrustExtendedValidation, "TrustExtendedValidation"),
            ("kSecTrustRevocationChecked", kSecTrustRevocationChecked, "TrustRevocationChecked"),
            ("kSecTrustRevocationValidUntilDate", kSecTrustRevocationValidUntilDate, "TrustExpirationDate"),
            ("kSecTrustCertificateTransparency", kSecTrustCertificateTransparency, "TrustCertificateTransparency"),
            (
                "kSecTrustCertificateTransparencyWhiteList", kSecTrustCertificateTransparencyWhiteList,
                "TrustCertificateTransparencyWhiteList"
            ),
        ]
    }
}
