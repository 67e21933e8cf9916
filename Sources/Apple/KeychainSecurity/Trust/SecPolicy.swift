public import Foundation
internal import KCByteStreams

/// The requirements that a certificate chain must satisfy; see `SecTrustCreateWithCertificates`.
public final class SecPolicy: Hashable, Sendable, CustomStringConvertible {
    enum Kind: Hashable, Sendable {
        /// X.509 alone.
        case basic
        /// TLS; without a host, any name is accepted.
        case ssl(isServer: Bool, host: ExactText?)
        /// Revocation, with flags `kSecRevocation…`.
        case revocation(CFOptionFlags)
    }

    let kind: Kind

    init(_ kind: Kind) {
        self.kind = kind
    }

    /// The identifier, `kSecPolicyApple…`.
    var identifier: String {
        switch kind {
        case .basic: kSecPolicyAppleX509Basic as String
        case .ssl: kSecPolicyAppleSSL as String
        case .revocation: kSecPolicyAppleRevocation as String
        }
    }

    /// Compares the kinds and what they require.
    public static func == (left: SecPolicy, right: SecPolicy) -> Bool { left.kind == right.kind }

    /// Hashes the kind and what it requires.
    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

    /// The type and the identifier.
    public var description: String { "<SecPolicy: \(identifier)>" }
}

/// Creates the policy of X.509 alone (RFC 5280): signatures, validity, constraints, an anchor that is trusted.
public func SecPolicyCreateBasicX509() -> SecPolicy { SecPolicy(.basic) }

/// Creates the policy for a TLS server or client.
///
/// ```swift
/// let policy = SecPolicyCreateSSL(true, "www.example.com" as CFString)
/// ```
///
/// - Parameters:
///   - server: true for the certificate of a server, false for that of a client.
///   - hostname: the name or IP address that the certificate must contain as a subject alternative name; nil accepts any
///     certificate of a trusted authority, whomever it was issued to. Names of other scripts are given as A-labels
///     (`xn--…`). Empty text matches no certificate.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    SecPolicy(.ssl(isServer: server, host: hostname.map { ExactText($0 as String) }))
}

/// Creates a policy about revocation, to be used with another policy.
///
/// There is no network here, so nothing is known about revocation. As on Apple's systems without a network, that is no
/// failure, unless `kSecRevocationRequirePositiveResponse` is set: then no chain is trusted.
///
/// - Parameter revocationFlags: flags `kSecRevocation…`.
/// - Returns: nil for no flags, or for unknown ones.
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? {
    let known =
        kSecRevocationUseAnyAvailableMethod | kSecRevocationPreferCRL | kSecRevocationRequirePositiveResponse
        | kSecRevocationNetworkAccessDisabled
    guard revocationFlags != 0, revocationFlags & ~known == 0 else { return nil }
    return SecPolicy(.revocation(revocationFlags))
}

/// Creates a policy from its identifier and properties.
///
/// ```swift
/// let properties: [String: Any] = [kSecPolicyName as String: "www.example.com"]
/// let policy = SecPolicyCreateWithProperties(kSecPolicyAppleSSL, properties as CFDictionary)
/// ```
///
/// - Parameters:
///   - policyIdentifier: `kSecPolicyAppleX509Basic`, `kSecPolicyAppleSSL` or `kSecPolicyAppleRevocation`.
///   - properties: `kSecPolicyName` (text) and `kSecPolicyClient` (a truth value) for TLS, `kSecPolicyRevocationFlags`
///     for revocation.
/// - Returns: nil for any other identifier, and for properties that would not be checked.
public func SecPolicyCreateWithProperties(_ policyIdentifier: Any, _ properties: CFDictionary?) -> SecPolicy? {
    guard let identifier = policyIdentifier as? String, var rest = try? CallDictionary(properties ?? [:]) else {
        return nil
    }
    func value(_ key: CFString) -> Any? { rest.removeValue(forKey: key as String) }
    let policy: SecPolicy?
    switch identifier {
    case kSecPolicyAppleX509Basic: policy = SecPolicyCreateBasicX509()
    case kSecPolicyAppleSSL:
        let host = value(kSecPolicyName)
        guard host == nil || host is String, let isClient = (value(kSecPolicyClient) ?? false) as? NSNumber else {
            return nil
        }
        policy = SecPolicy(.ssl(isServer: !isClient.boolValue, host: (host as? String)?.exact))
    case kSecPolicyAppleRevocation:
        let given = value(kSecPolicyRevocationFlags) ?? kSecRevocationUseAnyAvailableMethod
        guard let number = given as? NSNumber, let flags = CFOptionFlags(exactly: number) else { return nil }
        policy = SecPolicyCreateRevocation(flags)
    default: policy = nil
    }
    return rest.isEmpty ? policy : nil
}

/// Returns the properties of a policy: `kSecPolicyOid` and, for TLS, `kSecPolicyName` and `kSecPolicyClient` if set.
public func SecPolicyCopyProperties(_ policyRef: SecPolicy) -> CFDictionary? {
    var properties: CallDictionary = [:]
    properties[kSecPolicyOid] = policyRef.identifier
    if case .ssl(let isServer, let host) = policyRef.kind {
        properties[kSecPolicyName] = host?.string
        if !isServer { properties[kSecPolicyClient] = true }
    }
    return properties as CFDictionary
}
