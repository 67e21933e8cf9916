internal import Foundation
internal import KCCryptography
internal import KCKeychainModel

/// How Apple's systems report a problem of a chain.
struct TrustFailure {
    /// The kinds of failures, the most serious first; the error of an evaluation is about one of these.
    enum Kind: Int, Comparable {
        case keySize
        case signatureHash
        case denied
        case compliance
        case policy
        case trust
        case usage
        case name
        case expiry

        static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    let kind: Kind
    /// The name in the details of a result.
    let check: String
    let status: OSStatus
    /// The problem, as a part of a sentence.
    let detail: String

    private init(_ kind: Kind, _ check: String, _ status: OSStatus, _ detail: String) {
        self.kind = kind
        self.check = check
        self.status = status
        self.detail = detail
    }

    private static let unfinished = TrustFailure(
        .denied, "BasicCertificateProcessing", errSecInvalidCertificateRef, "the verification could not be finished")
    private static let nonconforming = TrustFailure(
        .compliance, "BasicCertificateProcessing", errSecInvalidCertificateRef, "it does not conform to RFC 5280")

    /// True if no exception makes up for it.
    var isFatal: Bool { kind <= .denied }

    // Names and statuses from SecPolicyChecks.list in Apple's Security-61901.
    init(_ problem: ChainProblem) {
        self =
            switch problem {
            case .untrustedRoot: Self(.trust, "AnchorTrusted", errSecNotTrusted, "the root is not trusted")
            case .missingIssuer:
                Self(.trust, "MissingIntermediate", errSecCreateChainFailed, "the issuer's certificate is not there")
            case .rejected:
                Self(
                    .denied, "UsageConstraints", errSecTrustSettingDeny, "the system does not trust it for this purpose"
                )
            case .signature:
                Self(.denied, "IdLinkage", errSecInvalidIDLinkage, "the signature is not that of the issuer")
            case .expired: Self(.expiry, "TemporalValidity", errSecCertificateExpired, "it has expired")
            case .notYetValid: Self(.expiry, "TemporalValidity", errSecCertificateExpired, "it is not valid yet")
            case .hostName: Self(.name, "SSLHostname", errSecHostNameMismatch, "it is for other names than this host's")
            case .weakKey: Self(.keySize, "WeakKeySize", errSecUnsupportedKeySize, "the key is too short")
            case .weakSignature:
                Self(
                    .signatureHash, "WeakSignature", errSecInvalidDigestAlgorithm,
                    "the hash in the signature can be forged")
            case .keyUsage:
                Self(.usage, "KeyUsage", errSecInvalidKeyUsageForPolicy, "the key may not be used for this purpose")
            case .extendedKeyUsage:
                Self(.usage, "ExtendedKeyUsage", errSecInvalidExtendedKeyUsage, "it is not for this purpose")
            case .notAuthority:
                Self(.compliance, "BasicConstraintsCA", errSecNoBasicConstraintsCA, "it is not that of an authority")
            case .pathLength:
                Self(
                    .compliance, "BasicConstraintsPathLen", errSecPathLengthConstraintExceeded,
                    "too many authorities are below it")
            case .nameConstraints:
                Self(
                    .compliance, "NameConstraints", errSecInvalidName,
                    "a name is outside those that the issuer may certify")
            case .policyConstraints:
                Self(.compliance, "PolicyConstraints", errSecInvalidPolicyIdentifiers, "its policies do not allow it")
            case .criticalExtension:
                Self(
                    .compliance, "CriticalExtensions", errSecUnknownCriticalExtensionFlag,
                    "a critical extension is unknown")
            case .malformedExtension:
                Self(.compliance, "UnparseableExtension", errSecUnknownCertExtension, "an extension is malformed")
            case .duplicateExtension:
                Self(
                    .compliance, "DuplicateExtension", errSecCertificateDuplicateExtension,
                    "two extensions are of the same kind")
            case .longValidity:
                Self(
                    .compliance, "OtherTrustValidityPeriod", errSecCertificateValidityPeriodTooLong,
                    "it is valid for more than 825 days")
            case .revocationUnknown:
                Self(
                    .policy, "RevocationResponseRequired", errSecIncompleteCertRevocationCheck,
                    "whether it is revoked cannot be checked")
            case .unfinished: .unfinished
            case .other: .nonconforming
            }
    }
}

extension SecCertificate {
    /// The summary in a message, in which it is foreign text.
    var displayedSummary: String { displayed(certificate.subjectSummary ?? "", limit: 200) }
}
