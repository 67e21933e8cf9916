/// The result of the verification of a chain.
package struct ChainVerdict: Hashable, Sendable {
    /// A certificate, and what is wrong with it.
    package struct Link: Hashable, Sendable {
        /// The certificate.
        package let certificate: X509Certificate
        /// In the order in which they were found; empty if all is well.
        package var problems: [ChainProblem]
    }

    /// From the certificate that was verified to its anchor, or to the last that was found; never empty.
    package private(set) var links: [Link]

    /// A chain without problems.
    init(_ leaf: X509Certificate, _ issuers: ArraySlice<X509Certificate>) {
        links = ([leaf] + issuers).map { Link(certificate: $0, problems: []) }
    }

    /// True if nothing is wrong.
    package var isTrusted: Bool { links.allSatisfy(\.problems.isEmpty) }

    /// Adds a problem, at the last certificate if there is none at `position`.
    package mutating func add(_ problem: ChainProblem, at position: Int) {
        let index = min(max(0, position), links.count - 1)
        if !links[index].problems.contains(problem) { links[index].problems.append(problem) }
    }

    /// Adds that the chain does not end with an anchor, unless that was found already.
    mutating func addUntrustedEnd() {
        let known: Set<ChainProblem> = [.untrustedRoot, .missingIssuer]
        if known.isDisjoint(with: links.last?.problems ?? []) { add(.untrustedRoot, at: links.count - 1) }
    }

    /// Adds what another verification of the same certificate found; if it was of another chain, that is a problem.
    package mutating func add(_ other: ChainVerdict) {
        if links.map(\.certificate) != other.links.map(\.certificate) { add(.other, at: 0) }
        for (position, link) in other.links.enumerated() {
            for problem in link.problems { add(problem, at: position) }
        }
    }

    /// False if another chain for the same certificate cannot be trusted either.
    var mayDependOnIssuers: Bool {
        let own: Set<ChainProblem> = [
            .expired, .notYetValid, .hostName, .weakKey, .weakSignature, .keyUsage, .extendedKeyUsage,
            .criticalExtension, .malformedExtension, .duplicateExtension, .longValidity,
        ]
        return own.isDisjoint(with: links.first?.problems ?? [])
    }
}
