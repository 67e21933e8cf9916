internal import Foundation
internal import KCByteStreams
internal import KCCryptography

/// Problems of certain certificates that a program accepts, as bytes that it can store.
///
/// A line for each certificate of the chain, from the first on: its SHA-256, and the names of the checks that it may
/// fail. So a certificate that was replaced, and another failure of the same certificate, is not excepted.
struct TrustExceptions: Hashable, Sendable {
    private struct Line: Hashable, Sendable {
        let digest: [UInt8]
        let checks: Set<ExactText>
    }

    private let lines: [Line]
    private static let header = "kcbackup trust exceptions 1"

    /// Exceptions for all problems of a chain that are not fatal.
    init(_ links: [ChainVerdict.Link]) {
        lines = links.map { link in
            let failures = link.problems.map { TrustFailure($0) }.filter { !$0.isFatal }
            return Line(digest: link.certificate.sha256, checks: Set(failures.map { ExactText($0.check) }))
        }
    }

    /// Reads what `data` returned; nil for anything else.
    init?(_ data: Data) {
        guard let text = String(validating: data, as: UTF8.self) else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard parts.count > 2, parts.last?.isEmpty == true, parts[0].elementsEqual(Self.header.utf8) else { return nil }
        var lines: [Line] = []
        for part in parts[1..<(parts.count - 1)] {
            let words = part.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map(Substring.init)
            guard let first = words.first, let digest = Hexadecimal.decode(first), digest.count == 32 else {
                return nil
            }
            lines.append(Line(digest: digest, checks: Set(words.dropFirst().map { ExactText($0) })))
        }
        self.lines = lines
    }

    /// The bytes for `init(_:)`.
    var data: Data {
        var text = Self.header + "\n"
        for line in lines {
            let words = [Hexadecimal.encode(line.digest)] + line.checks.sorted().map(\.string)
            text += words.joined(separator: " ") + "\n"
        }
        return Data(text.utf8)
    }

    /// True if the first certificate of a chain is the one that the exceptions are for.
    func apply(to leaf: X509Certificate) -> Bool { lines.first?.digest == leaf.sha256 }

    /// True if the certificate at a position may have the problem.
    func allow(_ problem: ChainProblem, of certificate: X509Certificate, at position: Int) -> Bool {
        let failure = TrustFailure(problem)
        guard !failure.isFatal, lines.indices.contains(position), lines[position].digest == certificate.sha256 else {
            return false
        }
        return lines[position].checks.contains(ExactText(failure.check))
    }
}
