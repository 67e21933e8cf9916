internal import CKCLibCrypto

/// Why a certificate of a chain is not trusted.
package enum ChainProblem: Int, CaseIterable, Hashable, Sendable {
    /// The chain ends with a self-signed certificate that is not an anchor.
    case untrustedRoot
    /// The issuer of the last certificate was not found.
    case missingIssuer
    /// An anchor is marked as not to be trusted for this purpose.
    case rejected
    /// A signature does not match the issuer's key, or cannot be checked.
    case signature
    /// The verification date is after the validity.
    case expired
    /// The verification date is before the validity.
    case notYetValid
    /// The server has another name.
    case hostName
    /// A key is too short.
    case weakKey
    /// The hash in a signature can be forged.
    case weakSignature
    /// The key may not be used for this purpose, or its owner may not sign certificates.
    case keyUsage
    /// The certificate is for other purposes.
    case extendedKeyUsage
    /// The issuer is not an authority.
    case notAuthority
    /// There are more intermediate certificates than an authority may have below it.
    case pathLength
    /// A name is outside those for which an authority may issue certificates.
    case nameConstraints
    /// The policies of a certificate do not allow this chain.
    case policyConstraints
    /// A critical extension is unknown.
    case criticalExtension
    /// An extension is malformed.
    case malformedExtension
    /// Two extensions are of the same kind.
    case duplicateExtension
    /// The certificate of a server is valid for too long.
    case longValidity
    /// Proof that the certificate is not revoked is required, and there is none.
    case revocationUnknown
    /// The verification was given up before its end, so that nothing is known.
    case unfinished
    /// Anything else.
    case other

    /// The problem that libcrypto reports with a code `X509_V_ERR_…`.
    init(code: Int32) {
        self = Self.byCode[code] ?? .other
    }

    private static let byCode: [Int32: ChainProblem] = [
        X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .untrustedRoot,
        X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: .untrustedRoot,
        X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT: .missingIssuer,
        X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY: .missingIssuer,
        X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE: .missingIssuer,
        X509_V_ERR_CERT_UNTRUSTED: .rejected,
        X509_V_ERR_CERT_REJECTED: .rejected,
        X509_V_ERR_CERT_SIGNATURE_FAILURE: .signature,
        X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE: .signature,
        X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY: .signature,
        X509_V_ERR_NO_ISSUER_PUBLIC_KEY: .signature,
        X509_V_ERR_UNSUPPORTED_SIGNATURE_ALGORITHM: .signature,
        X509_V_ERR_SIGNATURE_ALGORITHM_MISMATCH: .signature,
        X509_V_ERR_SIGNATURE_ALGORITHM_INCONSISTENCY: .signature,
        X509_V_ERR_CERT_HAS_EXPIRED: .expired,
        X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid,
        X509_V_ERR_HOSTNAME_MISMATCH: .hostName,
        X509_V_ERR_IP_ADDRESS_MISMATCH: .hostName,
        X509_V_ERR_EE_KEY_TOO_SMALL: .weakKey,
        X509_V_ERR_CA_KEY_TOO_SMALL: .weakKey,
        X509_V_ERR_CA_MD_TOO_WEAK: .weakSignature,
        X509_V_ERR_INVALID_PURPOSE: .extendedKeyUsage,
        X509_V_ERR_KEYUSAGE_NO_CERTSIGN: .keyUsage,
        X509_V_ERR_INVALID_CA: .notAuthority,
        X509_V_ERR_INVALID_NON_CA: .notAuthority,
        X509_V_ERR_PATH_LENGTH_EXCEEDED: .pathLength,
        X509_V_ERR_CERT_CHAIN_TOO_LONG: .pathLength,
        X509_V_ERR_PERMITTED_VIOLATION: .nameConstraints,
        X509_V_ERR_EXCLUDED_VIOLATION: .nameConstraints,
        X509_V_ERR_SUBTREE_MINMAX: .nameConstraints,
        X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE: .nameConstraints,
        X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX: .nameConstraints,
        X509_V_ERR_UNSUPPORTED_NAME_SYNTAX: .nameConstraints,
        X509_V_ERR_INVALID_POLICY_EXTENSION: .policyConstraints,
        X509_V_ERR_NO_EXPLICIT_POLICY: .policyConstraints,
        X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION: .criticalExtension,
        X509_V_ERR_INVALID_EXTENSION: .malformedExtension,
    ]
}
