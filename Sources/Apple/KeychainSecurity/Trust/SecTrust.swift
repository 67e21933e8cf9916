// Fence: returns objects through pointers, as Apple's functions do.
public import Foundation
internal import KCCryptography
internal import Synchronization

/// A certificate, the policies that it must satisfy, and the result of verifying it.
///
/// An instance may be used by several threads.
public final class SecTrust: Hashable, Sendable, CustomStringConvertible {
    private struct State: Sendable {
        var settings: TrustSettings
        /// Nil if the settings changed since.
        var evaluation: TrustEvaluation?
    }

    private let state: Mutex<State>

    init(_ settings: TrustSettings) {
        state = Mutex(State(settings: settings, evaluation: nil))
    }

    var settings: TrustSettings { state.withLock { $0.settings } }

    /// Changes the settings; the next use evaluates the chain again.
    func change<Result: Sendable>(_ body: (inout TrustSettings) -> Result) -> Result {
        state.withLock { state in
            state.evaluation = nil
            return body(&state.settings)
        }
    }

    /// Verifies the chain now.
    func evaluate() throws(CallFailure) -> TrustEvaluation {
        try state.withLock { state throws(CallFailure) in
            state.evaluation = nil
            let evaluation = try TrustEvaluation(state.settings)
            state.evaluation = evaluation
            return evaluation
        }
    }

    /// The last evaluation since the settings changed, or a new one; nil if that fails.
    var evaluation: TrustEvaluation? {
        if let last = state.withLock({ $0.evaluation }) { return last }
        do {
            return try evaluate()
        } catch {
            return nil
        }
    }

    /// Compares the identity: two objects are different, even with the same certificates.
    public static func == (left: SecTrust, right: SecTrust) -> Bool { left === right }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// The type name and the subject of the certificate.
    public var description: String { "<SecTrust: \(settings.certificates[0].subjectSummary ?? "")>" }
}

/// Creates an object that verifies a certificate.
///
/// The system's root certificates are trusted unless others are set with `SecTrustSetAnchorCertificates`.
///
/// ```swift
/// func isServer(_ certificates: [SecCertificate], named host: String) -> Bool {
///     let policy = SecPolicyCreateSSL(true, host as CFString)
///     var trust: SecTrust?
///     guard SecTrustCreateWithCertificates(certificates as CFArray, policy, &trust) == errSecSuccess, let trust else {
///         return false
///     }
///     return SecTrustEvaluateWithError(trust, nil)
/// }
/// ```
///
/// - Parameters:
///   - certificates: the certificate, or an array: the certificate first, then others that may be needed, in any order.
///   - policies: a policy or an array of them, all of which must be satisfied; nil for `SecPolicyCreateBasicX509`.
///   - trust: set to the object; unchanged on failure.
/// - Returns: `errSecSuccess`, or `errSecParam` for other objects or an empty array.
@discardableResult
public func SecTrustCreateWithCertificates(
    _ certificates: Any, _ policies: Any?, _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    guard let certificates = elements(certificates, SecCertificate.self),
        let policies = policies == nil ? [SecPolicyCreateBasicX509()] : elements(policies, SecPolicy.self)
    else { return errSecParam }
    unsafe trust.pointee = SecTrust(
        TrustSettings(certificates: certificates.map(\.certificate), policies: policies))
    return errSecSuccess
}

/// Sets the policies: one or an array of them, all of which must be satisfied.
///
/// - Returns: `errSecSuccess`, or `errSecParam` for other objects or an empty array; the policies are unchanged then.
@discardableResult
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: Any) -> OSStatus {
    guard let policies = elements(policies, SecPolicy.self) else { return errSecParam }
    trust.change { $0.policies = policies }
    return errSecSuccess
}

/// Copies the policies.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecTrustCopyPolicies(_ trust: SecTrust, _ policies: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    unsafe policies.pointee = trust.settings.policies as CFArray
    return errSecSuccess
}

/// Sets the certificates that are trusted, instead of the system's.
///
/// An anchor need not be self-signed: a certificate that is its own anchor is trusted if it satisfies the policies.
///
/// ```swift
/// func accept(_ root: SecCertificate, besideOthersIn trust: SecTrust) {
///     SecTrustSetAnchorCertificates(trust, [root] as CFArray)
///     SecTrustSetAnchorCertificatesOnly(trust, false)
/// }
/// ```
///
/// - Parameters:
///   - trust: the object.
///   - anchorCertificates: an array of certificates; an empty one trusts nothing, nil the system's certificates.
/// - Returns: `errSecSuccess`, or `errSecParam` if something else is in the array; then nothing is trusted.
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    let anchors = anchorCertificates.map { certificates($0) }
    trust.change { settings in
        settings.anchors = anchors.map { $0 ?? [] }
        settings.usesSystemAnchors = anchors == nil
    }
    if let anchors, anchors == nil { return errSecParam }
    return errSecSuccess
}

/// Sets whether only the certificates of `SecTrustSetAnchorCertificates` are trusted, or the system's too.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    trust.change { $0.usesSystemAnchors = !anchorCertificatesOnly }
    return errSecSuccess
}

/// Copies the certificates that were set with `SecTrustSetAnchorCertificates`; nil if none were.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecTrustCopyCustomAnchorCertificates(
    _ trust: SecTrust, _ anchors: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    unsafe anchors.pointee = trust.settings.anchors.map { $0 as CFArray }
    return errSecSuccess
}

/// Copies the root certificates of the system, except those that have OpenSSL's marks of what they are trusted for.
///
/// - Returns: `errSecSuccess`; `errSecTrustNotAvailable` if there are none; `errSecIO` or `errSecDecode` if one of their
///   files cannot be read.
@discardableResult
public func SecTrustCopyAnchorCertificates(_ anchors: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    do throws(CallFailure) {
        unsafe anchors.pointee = try SystemAnchorFiles.certificates().map { SecCertificate($0) } as CFArray
        return errSecSuccess
    } catch {
        return error.status
    }
}

/// Sets the moment at which the certificates must be valid, instead of that of the evaluation.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    trust.change { $0.date = verifyDate as Date }
    return errSecSuccess
}

/// Returns the moment that was set with `SecTrustSetVerifyDate`, or the current one, in seconds since 2001-01-01.
public func SecTrustGetVerifyTime(_ trust: SecTrust) -> CFAbsoluteTime {
    (trust.settings.date ?? Date()).timeIntervalSinceReferenceDate
}

/// Sets whether missing certificates may be fetched.
///
/// Nothing is ever fetched here; the value is only kept.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus {
    trust.change { $0.allowsNetworkFetch = allowFetch }
    return errSecSuccess
}

/// Copies what was set with `SecTrustSetNetworkFetchAllowed`; as on Apple's systems, true for TLS policies by default.
///
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecTrustGetNetworkFetchAllowed(
    _ trust: SecTrust, _ allowFetch: UnsafeMutablePointer<DarwinBoolean>
) -> OSStatus {
    let settings = trust.settings
    let isAboutTLS = settings.policies.contains { $0.identifier == kSecPolicyAppleSSL as String }
    unsafe allowFetch.pointee = DarwinBoolean(settings.allowsNetworkFetch ?? isAboutTLS)
    return errSecSuccess
}

/// A single object, or all of an array that is not empty; nil if something else is among them.
private func elements<Element>(_ given: Any?, _ type: Element.Type) -> [Element]? {
    if let one = given as? Element { return [one] }
    guard let all = given as? [Element], !all.isEmpty else { return nil }
    return all
}

private func certificates(_ given: Any) -> [SecCertificate]? { given as? [SecCertificate] }
