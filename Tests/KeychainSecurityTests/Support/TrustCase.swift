import Foundation

@testable import KeychainSecurity

/// A chain of `Chains`, and whether it is trusted.
struct TrustCase: Sendable {
    enum Policy: Sendable, Equatable {
        case basic
        case client
        /// With the host name.
        case server(String?)

        var object: SecPolicy {
            switch self {
            case .basic: SecPolicyCreateBasicX509()
            case .client: SecPolicyCreateSSL(false, nil)
            case .server(let host): SecPolicyCreateSSL(true, host.map { $0 as CFString })
            }
        }
    }

    let name: String
    /// Names of files; the first is verified.
    let certificates: [String]
    let anchors: [String]
    let policy: Policy
    /// The code of the error; nil if the chain is trusted.
    let status: OSStatus?
    /// True if `openssl verify` accepts a chain that is refused here, for the reason in the name.
    let isStricter: Bool

    /// All of 2031-01-01 is within the validity of the certificates, unless a case is about that.
    static let moment = 1_925_000_000

    static func trusted(
        _ name: String, _ certificates: [String], of anchors: [String] = ["root"],
        _ policy: Policy = .server("www.example.com")
    ) -> TrustCase {
        TrustCase(
            name: name, certificates: certificates, anchors: anchors, policy: policy, status: nil, isStricter: false)
    }

    static func refused(
        _ name: String, _ status: OSStatus, _ certificates: [String], of anchors: [String] = ["root"],
        _ policy: Policy = .server("www.example.com"), stricter: Bool = false
    ) -> TrustCase {
        TrustCase(
            name: name, certificates: certificates, anchors: anchors, policy: policy, status: status,
            isStricter: stricter)
    }
}

extension TrustCase: CustomStringConvertible {
    var description: String { name }
}

extension TrustCase {
    static let all = chains + dates + strength + hosts + usages + constraints

    static let chains: [TrustCase] = [
        .trusted("a server below an intermediate", ["good", "middle"]),
        .trusted("with the root", ["good", "middle", "root"]),
        .trusted("for any purpose", ["good", "middle"], .basic),
        .trusted("out of order", ["of-deep", "middle", "root", "deep"]),
        .trusted("among unrelated certificates", ["good", "other", "own-root", "rsa", "early", "middle"]),
        .trusted("the same certificate twice", ["good", "good", "middle", "middle"]),
        .trusted("an intermediate as anchor", ["good"], of: ["middle"]),
        .trusted("a certificate that is its own anchor", ["good"], of: ["good"]),
        .trusted("a self-signed certificate that is its own anchor", ["own-root"], of: ["own-root"]),
        .trusted("cross-signed, by one root", ["good", "cross", "middle"]),
        .trusted("cross-signed, by the other root", ["good", "cross", "middle"], of: ["other"]),
        .trusted("cross-signed, with both roots", ["good", "cross", "middle"], of: ["other", "root"]),
        .refused("cross-signed, by the wrong root", errSecCreateChainFailed, ["good", "cross"]),
        .refused("no intermediate", errSecCreateChainFailed, ["good"]),
        .refused("no intermediate, but unrelated ones", errSecCreateChainFailed, ["good", "other", "short"]),
        .refused("an intermediate in the middle is missing", errSecCreateChainFailed, ["of-deep", "deep"]),
        .refused("another root", errSecCreateChainFailed, ["good", "middle"], of: ["other"]),
        .refused("another root, with the own one", errSecNotTrusted, ["good", "middle", "root"], of: ["other"]),
        .refused("no anchor", errSecCreateChainFailed, ["good", "middle"], of: []),
        .refused("self-signed", errSecNotTrusted, ["own-root"]),
        .refused("an anchor of the same name", errSecInvalidIDLinkage, ["good"], of: ["impostor"]),
        .refused("a changed signature", errSecInvalidIDLinkage, ["tampered", "middle"]),
        .refused("an issuer of the same name with another key", errSecInvalidIDLinkage, ["unlinked", "impostor"]),
        .trusted("an issuer of the same name, and the right one", ["unlinked", "impostor", "middle"]),
        .refused(
            "a changed certificate beside its anchor", errSecInvalidIDLinkage, ["tampered", "middle"],
            of: ["good", "root"]),
    ]

    static let dates: [TrustCase] = [
        .refused("expired", errSecCertificateExpired, ["expired", "middle"]),
        .refused("expired, for any purpose", errSecCertificateExpired, ["expired", "middle"], .basic),
        .refused("not valid yet", errSecCertificateExpired, ["early", "middle"]),
        .refused("an expired intermediate", errSecCertificateExpired, ["good", "stale"]),
        .trusted("an expired intermediate and its successor", ["good", "stale", "middle"]),
        .refused("an expired anchor", errSecCertificateExpired, ["good"], of: ["stale"]),
        .refused(
            "valid for more than 825 days", errSecCertificateValidityPeriodTooLong, ["endless", "middle"],
            stricter: true),
        .trusted("valid for more than 825 days, for any purpose", ["endless", "middle"], .basic),
        .trusted("from before Apple's requirements", ["ancient", "middle"]),
    ]

    static let strength: [TrustCase] = [
        .trusted("RSA of 2,048 bits", ["rsa-good"], of: ["rsa"]),
        .refused("RSA of 1,024 bits", errSecUnsupportedKeySize, ["rsa-small"], of: ["rsa"]),
        .trusted("RSA of 1,024 bits, for any purpose", ["rsa-small"], of: ["rsa"], .basic),
        .refused("RSA of 768 bits, for any purpose", errSecUnsupportedKeySize, ["rsa-tiny"], of: ["rsa"], .basic),
        .refused(
            "an intermediate with RSA of 1,024 bits", errSecUnsupportedKeySize,
            ["of-small-authority", "small-authority"]),
        .refused("SHA-1", errSecInvalidDigestAlgorithm, ["sha-1"], of: ["rsa"]),
        .refused("SHA-1, for any purpose", errSecInvalidDigestAlgorithm, ["sha-1"], of: ["rsa"], .basic),
        .refused("MD5", errSecInvalidDigestAlgorithm, ["md5"], of: ["rsa"]),
        .refused("MD5, for any purpose", errSecInvalidDigestAlgorithm, ["md5"], of: ["rsa"], .basic),
    ]

    static let hosts: [TrustCase] = [
        .trusted("any host", ["other-name", "middle"], .server(nil)),
        .trusted("another case", ["good", "middle"], .server("WWW.Example.COM")),
        .trusted("a final dot", ["good", "middle"], .server("www.example.com.")),
        .trusted("a second name", ["good", "middle"], .server("example.com")),
        .refused("another host", errSecHostNameMismatch, ["other-name", "middle"]),
        .refused("a part of a name", errSecHostNameMismatch, ["good", "middle"], .server("ww.example.com")),
        .refused("a subdomain", errSecHostNameMismatch, ["good", "middle"], .server("a.www.example.com")),
        .refused("an empty host", errSecHostNameMismatch, ["good", "middle"], .server("")),
        .refused("a dot", errSecHostNameMismatch, ["good", "middle"], .server(".")),
        .refused("two final dots", errSecHostNameMismatch, ["good", "middle"], .server("www.example.com..")),
        .refused("a leading dot", errSecHostNameMismatch, ["good", "middle"], .server(".example.com"), stricter: true),
        .refused("a host with a zero byte", errSecHostNameMismatch, ["good", "middle"], .server("www.example.com\0")),
        .refused("a host with a space", errSecHostNameMismatch, ["good", "middle"], .server("www.example.com ")),
        .refused("a name with a zero byte", errSecHostNameMismatch, ["zero-byte", "middle"]),
        .trusted("a wildcard", ["wildcard", "middle"]),
        .refused(
            "a wildcard for its own domain", errSecHostNameMismatch, ["wildcard", "middle"], .server("example.com")),
        .refused(
            "a wildcard for two labels", errSecHostNameMismatch, ["wildcard", "middle"], .server("a.b.example.com")),
        .refused(
            "a wildcard as host", errSecHostNameMismatch, ["wildcard", "middle"], .server("*.example.com"),
            stricter: true),
        .refused(
            "a wildcard for a part of a label", errSecHostNameMismatch, ["half-wildcard", "middle"], stricter: true),
        .refused("a wildcard inside", errSecHostNameMismatch, ["inner-wildcard", "middle"]),
        .refused(
            "a wildcard for a top-level domain", errSecHostNameMismatch, ["wide-wildcard", "middle"],
            .server("example.com")),
        .refused("a wildcard alone", errSecHostNameMismatch, ["bare-wildcard", "middle"], .server("localhost")),
        .refused("a common name", errSecHostNameMismatch, ["common-name", "middle"], stricter: true),
        .trusted("an A-label", ["foreign-script", "middle"], .server("xn--bcher-kva.example")),
        .refused("a U-label", errSecHostNameMismatch, ["foreign-script", "middle"], .server("bücher.example")),
        .trusted("an IPv4 address", ["good", "middle"], .server("192.0.2.7")),
        .trusted("an IPv6 address", ["good", "middle"], .server("2001:DB8:0::7")),
        .refused("another IPv4 address", errSecHostNameMismatch, ["good", "middle"], .server("192.0.2.8")),
        .refused("another IPv6 address", errSecHostNameMismatch, ["good", "middle"], .server("2001:db8::8")),
        .refused(
            "an address as a DNS name", errSecHostNameMismatch, ["address-as-name", "middle"], .server("192.0.2.7")),
        .refused(
            "an address with a final dot as a DNS name", errSecHostNameMismatch, ["address-as-name", "middle"],
            .server("192.0.2.7.")),
        .refused("an address as a number", errSecHostNameMismatch, ["good", "middle"], .server("3221225991")),
    ]

    static let usages: [TrustCase] = [
        .trusted("a client", ["client", "middle"], .client),
        .refused("a client as a server", errSecInvalidExtendedKeyUsage, ["client", "middle"]),
        .refused("a server as a client", errSecInvalidExtendedKeyUsage, ["good", "middle"], .client),
        .trusted("any usage, as a client", ["no-usage", "middle"], .client),
        .refused("a server without a usage", errSecInvalidExtendedKeyUsage, ["no-usage", "middle"], stricter: true),
        .refused("a server with any usage", errSecInvalidExtendedKeyUsage, ["any-usage", "middle"]),
        .refused("a key that only signs documents", errSecInvalidKeyUsageForPolicy, ["wrong-key-usage", "middle"]),
        .refused("an authority for mail", errSecInvalidExtendedKeyUsage, ["of-mail", "mail"]),
        .trusted("an authority for mail, for any purpose", ["of-mail", "mail"], .basic),
        .refused("an authority that may not sign", errSecInvalidKeyUsageForPolicy, ["of-no-signing", "no-signing"]),
    ]

    static let constraints: [TrustCase] = [
        .refused("a server that signs", errSecNoBasicConstraintsCA, ["of-not-authority", "not-authority"]),
        .refused("an issuer without constraints", errSecNoBasicConstraintsCA, ["of-silent", "silent"]),
        .trusted("a root of version 1", ["of-version-1"], of: ["version-1"]),
        .refused("an intermediate of version 1", errSecNoBasicConstraintsCA, ["of-middle-1", "middle-1"]),
        .trusted("within the path length", ["of-short", "short"]),
        .refused(
            "beyond the path length", errSecPathLengthConstraintExceeded, ["of-below-short", "below-short", "short"]),
        .trusted("a permitted name", ["within", "permitting"]),
        .refused("a name that is not permitted", errSecInvalidName, ["outside", "permitting"]),
        .refused("an excluded name", errSecInvalidName, ["excluded", "excluding"]),
        .trusted("a name that is not excluded", ["not-excluded", "excluding"], .server("www.example.org")),
        .refused(
            "a wildcard that stands for an excluded name", errSecInvalidName, ["wildcard-excluded", "excluding-one"],
            .server("admin.example.com"), stricter: true),
        .refused(
            "such a wildcard for another host", errSecInvalidName, ["wildcard-excluded", "excluding-one"],
            stricter: true),
        .trusted(
            "a wildcard beside an excluded name", ["wildcard-beside", "excluding-one"], .server("a.www.example.com")),
        .trusted("a required policy", ["of-strict", "strict"]),
        .refused("a required policy is missing", errSecInvalidPolicyIdentifiers, ["against-strict", "strict"]),
        .refused("an unknown critical extension", errSecUnknownCriticalExtensionFlag, ["critical", "middle"]),
        .refused(
            "an unknown critical extension of an authority", errSecUnknownCriticalExtensionFlag, ["of-odd", "odd"]),
        .trusted("an unknown extension", ["not-critical", "middle"]),
        .refused(
            "an unknown extension twice", errSecCertificateDuplicateExtension, ["twice", "middle"], stricter: true),
        .refused("a known extension twice", errSecCertificateDuplicateExtension, ["twice-known", "middle"]),
    ]
}
