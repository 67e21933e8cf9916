// Fence: shares string objects between threads; nothing changes them.
// Values from SecPolicy.c, SecTrust.c and SecFramework.c in Apple's Security-61901.
public import Foundation

/// The policy of X.509 alone, as from `SecPolicyCreateBasicX509`.
@safe public nonisolated(unsafe) let kSecPolicyAppleX509Basic: CFString = "1.2.840.113635.100.1.2"
/// The policy for TLS servers and clients, as from `SecPolicyCreateSSL`.
@safe public nonisolated(unsafe) let kSecPolicyAppleSSL: CFString = "1.2.840.113635.100.1.3"
/// The policy about revocation, as from `SecPolicyCreateRevocation`.
@safe public nonisolated(unsafe) let kSecPolicyAppleRevocation: CFString = "1.2.840.113635.100.1.21"
/// Not supported: certificates for signed and encrypted mail.
@safe public nonisolated(unsafe) let kSecPolicyAppleSMIME: CFString = "1.2.840.113635.100.1.8"
/// Not supported: certificates for 802.1X.
@safe public nonisolated(unsafe) let kSecPolicyAppleEAP: CFString = "1.2.840.113635.100.1.9"
/// Not supported: certificates for IPsec.
@safe public nonisolated(unsafe) let kSecPolicyAppleIPsec: CFString = "1.2.840.113635.100.1.11"
/// Not supported: certificates for signed code.
@safe public nonisolated(unsafe) let kSecPolicyAppleCodeSigning: CFString = "1.2.840.113635.100.1.16"
/// Not supported: certificates of Apple IDs.
@safe public nonisolated(unsafe) let kSecPolicyAppleIDValidation: CFString = "1.2.840.113635.100.1.18"
/// Not supported: receipts of Apple's store.
@safe public nonisolated(unsafe) let kSecPolicyMacAppStoreReceipt: CFString = "1.2.840.113635.100.1.19"
/// Not supported: certificates for time stamps.
@safe public nonisolated(unsafe) let kSecPolicyAppleTimeStamping: CFString = "1.2.840.113635.100.1.20"
/// Not supported: certificates for passes of Apple's Wallet.
@safe public nonisolated(unsafe) let kSecPolicyApplePassbookSigning: CFString = "1.2.840.113635.100.1.22"
/// Not supported: certificates for Apple Pay.
@safe public nonisolated(unsafe) let kSecPolicyApplePayIssuerEncryption: CFString = "1.2.840.113635.100.1.39"
/// The identifier of a policy, such as `kSecPolicyAppleSSL`; a property of every policy.
@safe public nonisolated(unsafe) let kSecPolicyOid: CFString = "SecPolicyOid"
/// The name that a certificate must have: the host name of a TLS server.
@safe public nonisolated(unsafe) let kSecPolicyName: CFString = "SecPolicyName"
/// True for the certificates of clients.
@safe public nonisolated(unsafe) let kSecPolicyClient: CFString = "SecPolicyClient"
/// Flags about revocation: a number with bits `kSecRevocation…`.
@safe public nonisolated(unsafe) let kSecPolicyRevocationFlags: CFString = "SecPolicyRevocationFlags"
/// Not supported: the team that signed a pass.
@safe public nonisolated(unsafe) let kSecPolicyTeamIdentifier: CFString = "SecPolicyTeamIdentifier"

/// In the results of `SecTrustCopyProperties`: the summary of a certificate.
@safe public nonisolated(unsafe) let kSecPropertyTypeTitle: CFString = "title"
/// In the results of `SecTrustCopyProperties`: why a certificate is not trusted.
@safe public nonisolated(unsafe) let kSecPropertyTypeError: CFString = "error"
/// In the result of `SecTrustCopyResult`: the moment for which the chain was verified.
@safe public nonisolated(unsafe) let kSecTrustEvaluationDate: CFString = "TrustEvaluationDate"
/// In the result of `SecTrustCopyResult`: the organization of the certificate's subject.
@safe public nonisolated(unsafe) let kSecTrustOrganizationName: CFString = "Organization"
/// In the result of `SecTrustCopyResult`: a `SecTrustResultType` as a number.
@safe public nonisolated(unsafe) let kSecTrustResultValue: CFString = "TrustResultValue"
/// Never in a result: there is no extended validation here.
@safe public nonisolated(unsafe) let kSecTrustExtendedValidation: CFString = "TrustExtendedValidation"
/// Never in a result: revocation is not checked here.
@safe public nonisolated(unsafe) let kSecTrustRevocationChecked: CFString = "TrustRevocationChecked"
/// Never in a result: revocation is not checked here.
@safe public nonisolated(unsafe) let kSecTrustRevocationValidUntilDate: CFString = "TrustExpirationDate"
/// Never in a result: logs of certificates are not consulted here.
@safe public nonisolated(unsafe) let kSecTrustCertificateTransparency: CFString = "TrustCertificateTransparency"
/// Never in a result: logs of certificates are not consulted here.
@safe public nonisolated(unsafe) let kSecTrustCertificateTransparencyWhiteList: CFString =
    "TrustCertificateTransparencyWhiteList"

/// Check revocation by OCSP, for which there is no network here.
public let kSecRevocationOCSPMethod: CFOptionFlags = 1 << 0
/// Check revocation by lists, for which there is no network here.
public let kSecRevocationCRLMethod: CFOptionFlags = 1 << 1
/// Prefer lists to OCSP.
public let kSecRevocationPreferCRL: CFOptionFlags = 1 << 2
/// Fail unless it is proved that no certificate is revoked: here, always.
public let kSecRevocationRequirePositiveResponse: CFOptionFlags = 1 << 3
/// Use no network, as here always.
public let kSecRevocationNetworkAccessDisabled: CFOptionFlags = 1 << 4
/// Check revocation by any method.
public let kSecRevocationUseAnyAvailableMethod: CFOptionFlags = kSecRevocationOCSPMethod | kSecRevocationCRLMethod
