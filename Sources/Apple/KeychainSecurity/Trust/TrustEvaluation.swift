internal import Foundation
internal import KCByteStreams
internal import KCCryptography

/// The settings that an evaluation takes into account.
struct TrustSettings: Sendable {
    /// Never empty; the first is verified, with the help of the others.
    let certificates: [X509Certificate]
    /// Never empty; all must be satisfied.
    var policies: [SecPolicy]
    /// Nil if none were set.
    var anchors: [SecCertificate]?
    var usesSystemAnchors = true
    /// Nil for the moment of the evaluation.
    var date: Date?
    var exceptions: TrustExceptions?
    /// Nil for the default of the policies.
    var allowsNetworkFetch: Bool?
}

/// The result of verifying a chain.
struct TrustEvaluation: Sendable {
    /// The chain, with all problems, excepted or not; never empty.
    let links: [ChainVerdict.Link]
    /// The certificates of the chain, as objects.
    let chain: [SecCertificate]
    /// The problems that are not excepted, for each certificate.
    let problems: [[ChainProblem]]
    let result: SecTrustResultType
    /// The moment for which the chain was verified.
    let date: Date
    /// True if the chain has problems, the system's anchors were to be used, and there are none.
    let lacksSystemAnchors: Bool

    /// Verifies the chain for each policy.
    ///
    /// - Throws: `CallFailure` if that cannot be done; the chain is not trusted then.
    init(_ settings: TrustSettings) throws(CallFailure) {
        date = settings.date ?? Date()
        guard let leaf = settings.certificates.first,
            let time = Int64(exactly: date.timeIntervalSince1970.rounded(.down))
        else { throw CallFailure(errSecParam) }
        var verifier = ChainVerifier(time: time)
        verifier.anchors = (settings.anchors ?? []).map(\.certificate)
        verifier.usesSystemAnchors = settings.usesSystemAnchors
        var verdict = try Self.verdict(verifier, settings.policies.filter(\.isAboutTLS), settings)
        let needsRevocation = settings.policies.contains(where: \.requiresRevocationChecked)
        if needsRevocation { verdict.add(.revocationUnknown, at: 0) }
        links = verdict.links
        // The first is the object's own, so that the two are equal.
        chain = [SecCertificate(leaf)] + verdict.links.dropFirst().map { SecCertificate($0.certificate) }
        problems = Self.problems(verdict.links, settings.exceptions)
        result = Self.result(problems, of: verdict)
        lacksSystemAnchors = settings.usesSystemAnchors && !verdict.isTrusted && SystemAnchorFiles.areMissing
    }

    /// True if the chain is trusted.
    var isTrusted: Bool { result == .unspecified || result == .proceed }

    /// Verifies the chain for each TLS policy; without one, for X.509 alone, which they include.
    private static func verdict(
        _ verifier: ChainVerifier, _ policies: [SecPolicy], _ settings: TrustSettings
    ) throws(CallFailure) -> ChainVerdict {
        do throws(CertificateFailure) {
            let (leaf, others) = (settings.certificates[0], Array(settings.certificates.dropFirst()))
            guard let first = policies.first else { return try verifier.verify(leaf, with: others) }
            var verdict = try verifier.applying(first).verify(leaf, with: others)
            for policy in policies.dropFirst() {
                verdict.add(try verifier.applying(policy).verify(leaf, with: others))
            }
            return verdict
        } catch {
            throw CallFailure(error.status)
        }
    }

    private static func problems(_ links: [ChainVerdict.Link], _ exceptions: TrustExceptions?) -> [[ChainProblem]] {
        links.enumerated().map { position, link in
            link.problems.filter { exceptions?.allow($0, of: link.certificate, at: position) != true }
        }
    }

    private static func result(_ problems: [[ChainProblem]], of verdict: ChainVerdict) -> SecTrustResultType {
        let left = problems.joined()
        if left.contains(.rejected) { return .deny }
        if left.contains(where: { TrustFailure($0).isFatal }) { return .fatalTrustFailure }
        if !left.isEmpty { return .recoverableTrustFailure }
        return verdict.isTrusted ? .unspecified : .proceed
    }
}

extension TrustEvaluation {
    /// Why the chain is not trusted: the most serious failure, and all of them as the underlying error; nil if it is.
    var error: NSError? {
        guard !isTrusted else { return nil }
        var worst: (failure: TrustFailure, position: Int)?
        var lines: [String] = []
        for (position, problems) in problems.enumerated() where !problems.isEmpty {
            let failures = problems.map { TrustFailure($0) }
            for failure in failures where worst.map({ failure.kind < $0.failure.kind }) ?? true {
                worst = (failure, position)
            }
            let details = failures.map(\.detail).joined(separator: ", ")
            lines.append("certificate \(position) “\(chain[position].displayedSummary)”: \(details)")
        }
        guard let worst else { return CallFailure(errSecInternal).error }
        var underlying: [String: Any] = [NSLocalizedDescriptionKey: lines.joined(separator: "; ")]
        if lacksSystemAnchors { underlying[NSLocalizedRecoverySuggestionErrorKey] = SystemAnchorFiles.advice }
        let code = Int(worst.failure.status)
        let summary = chain[worst.position].displayedSummary
        var information: [String: Any] = [
            NSLocalizedDescriptionKey: "The certificate “\(summary)” is not trusted: \(worst.failure.detail).",
            NSUnderlyingErrorKey: NSError(domain: statusDomain, code: code, userInfo: underlying),
        ]
        if lacksSystemAnchors { information[NSLocalizedRecoverySuggestionErrorKey] = SystemAnchorFiles.advice }
        return NSError(domain: statusDomain, code: code, userInfo: information)
    }
}

extension CallFailure {
    /// The status as an error, with its message.
    var error: NSError {
        NSError(
            domain: statusDomain, code: Int(status),
            userInfo: [NSLocalizedDescriptionKey: SecCopyErrorMessageString(status, nil) as String? ?? "\(status)"])
    }
}

extension SecPolicy {
    fileprivate var isAboutTLS: Bool {
        if case .ssl = kind { true } else { false }
    }

    fileprivate var requiresRevocationChecked: Bool {
        if case .revocation(let flags) = kind { flags & kSecRevocationRequirePositiveResponse != 0 } else { false }
    }
}

extension ChainVerifier {
    /// A verifier that also requires what a TLS policy does.
    fileprivate func applying(_ policy: SecPolicy) -> ChainVerifier {
        guard case .ssl(let isServer, let host) = policy.kind else { return self }
        var verifier = self
        verifier.purpose = isServer ? .server : .client
        verifier.host = host.map { HostName($0.string) }
        return verifier
    }
}
