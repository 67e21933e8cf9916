public import Foundation
internal import KCByteStreams
internal import KCCryptography

// As on Apple's systems, these functions verify the certificate first if that was not done since the settings changed.

/// Returns the chain: the certificate, its issuers and the anchor, as far as they were found; nil if the chain could not
/// be verified.
///
/// A chain that is returned need not be trusted; see `SecTrustEvaluateWithError`.
///
/// ```swift
/// func chain(of trust: SecTrust) -> [SecCertificate] {
///     SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
/// }
/// ```
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
    trust.evaluation.map { $0.chain as CFArray }
}

/// Returns the number of certificates in the chain; at least 1.
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex { trust.evaluation?.chain.count ?? 1 }

/// Returns a certificate of the chain, of which the first has the index 0; nil for an index beyond the end.
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ ix: CFIndex) -> SecCertificate? {
    if ix == 0 { return SecCertificate(trust.settings.certificates[0]) }
    guard let chain = trust.evaluation?.chain, chain.indices.contains(ix) else { return nil }
    return chain[ix]
}

/// Returns the public key of the certificate, trusted or not; nil if the keychain has no number for its type.
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? {
    SecCertificateCopyKey(SecCertificate(trust.settings.certificates[0]))
}

/// Returns the public key of the certificate; the older name of `SecTrustCopyKey`.
public func SecTrustCopyPublicKey(_ trust: SecTrust) -> SecKey? { SecTrustCopyKey(trust) }

/// Returns the result as a dictionary: `kSecTrustResultValue`, `kSecTrustEvaluationDate`, `kSecTrustOrganizationName` and
/// `TrustResultDetails`, an array with a dictionary for each certificate, in which the checks that failed are false.
public func SecTrustCopyResult(_ trust: SecTrust) -> CFDictionary? {
    guard let evaluation = trust.evaluation else {
        return [kSecTrustResultValue: NSNumber(value: SecTrustResultType.invalid.rawValue)]
    }
    let details = evaluation.problems.map { problems in
        var failed: [String: Any] = [:]
        for problem in problems { failed[TrustFailure(problem).check] = false }
        return failed
    }
    var result: CallDictionary = ["TrustResultDetails": details]
    result[kSecTrustResultValue] = NSNumber(value: evaluation.result.rawValue)
    result[kSecTrustEvaluationDate] = evaluation.date
    result[kSecTrustOrganizationName] = evaluation.links[0].certificate.organization
    return result as CFDictionary
}

/// Returns why the chain is not trusted; nil if it is, or if it could not be verified.
///
/// - Returns: an array with a dictionary for each certificate that has failures: `kSecPropertyTypeTitle`, its summary,
///   and `kSecPropertyTypeError`, a sentence; also in the form of iOS, with `type` (`error`) and `value`.
public func SecTrustCopyProperties(_ trust: SecTrust) -> CFArray? {
    guard let evaluation = trust.evaluation, !evaluation.isTrusted else { return nil }
    let properties = zip(evaluation.chain, evaluation.problems).compactMap { certificate, problems -> [String: Any]? in
        guard !problems.isEmpty else { return nil }
        let summary = certificate.displayedSummary
        let details = problems.map { TrustFailure($0).detail }.joined(separator: ", ")
        let sentence = "The certificate “\(summary)” is not trusted: \(details)."
        return [
            kSecPropertyTypeTitle as String: summary, kSecPropertyTypeError as String: sentence,
            "type": kSecPropertyTypeError as String, "value": sentence,
        ]
    }
    return properties as CFArray
}

/// Returns exceptions for the failures of the chain, which a program may store once a person has accepted them.
///
/// They are bound to these certificates and these failures. Fatal failures are not among them: weak keys and hashes,
/// signatures that do not match, and what the system rejects.
///
/// ```swift
/// func accept(_ trust: SecTrust, in file: URL) throws {
///     if let exceptions = SecTrustCopyExceptions(trust) { try (exceptions as Data).write(to: file) }
/// }
/// ```
///
/// - Returns: nil if the chain could not be verified.
public func SecTrustCopyExceptions(_ trust: SecTrust) -> CFData? {
    trust.evaluation.map { TrustExceptions($0.links).data as CFData }
}

/// Sets exceptions: the failures for which they were made do not count, and the result is then `proceed`.
///
/// As on Apple's systems, an exception for a host name that does not match is for every host name.
///
/// - Parameters:
///   - trust: the object.
///   - exceptions: from `SecTrustCopyExceptions`; nil removes those that were set.
/// - Returns: false, with no exceptions set, if they are for another certificate; also if some were removed.
@discardableResult
public func SecTrustSetExceptions(_ trust: SecTrust, _ exceptions: CFData?) -> Bool {
    let given = exceptions.flatMap { TrustExceptions($0 as Data) }
    return trust.change { settings in
        let hadExceptions = settings.exceptions != nil
        settings.exceptions = nil
        guard exceptions != nil else { return !hadExceptions }
        guard let given, given.apply(to: settings.certificates[0]) else { return false }
        settings.exceptions = given
        return true
    }
}
