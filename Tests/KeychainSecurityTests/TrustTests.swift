import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Certificate chains, judged by openssl", .waitsForPrograms)
struct TrustTests {
    private let judge: ChainJudge

    init() throws {
        judge = try ChainJudge()
    }

    @Test("A chain is trusted or refused with the right status, as openssl verify does", arguments: TrustCase.all)
    func verdict(one: TrustCase) throws {
        let trust = try Chains.trust(one)
        var error: CFError?
        #expect(SecTrustEvaluateWithError(trust, &error) == (one.status == nil))
        #expect(error?.code == one.status.map { Int($0) }, "\(error.map { "\($0.userInfo)" } ?? "")")
        let (accepts, said) = try judge(trust, one)
        #expect(accepts == (one.status == nil || one.isStricter), "\(said)")
    }

    /// Asks openssl: about the chain, if it is trusted, since openssl tries one chain only; otherwise about everything.
    private func judge(_ trust: SecTrust, _ one: TrustCase) throws -> (verdict: Bool, said: String) {
        var given: CFArray?
        var anchors: CFArray?
        SecTrustCopyCustomAnchorCertificates(trust, &anchors)
        var result = SecTrustResultType.invalid
        SecTrustGetTrustResult(trust, &result)
        given = result == .unspecified ? SecTrustCopyCertificateChain(trust) : nil
        let certificates = try given.map { try #require($0 as? [SecCertificate]) }
        return try judge.accepts(
            certificates ?? trust.settings.certificates.map { SecCertificate($0) },
            anchors: try #require(anchors as? [SecCertificate]), one.policy)
    }

    @Test("There are many cases, each with a name of its own, and every file is used")
    func cases() throws {
        #expect(TrustCase.all.count > 80)
        #expect(Set(TrustCase.all.map(\.name)).count == TrustCase.all.count)
        let files = try FileManager.default.contentsOfDirectory(atPath: Chains.folder).map { $0.dropLast(4) }
        let used = Set(TrustCase.all.flatMap { $0.certificates + $0.anchors })
        #expect(Set(files.map { String($0) }).subtracting(used) == [])
    }

    @Test("A chain that is changed at random is never trusted unless openssl accepts it", arguments: 0..<8)
    func changedChains(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let good = TrustCase.all.filter { $0.status == nil }
        var judged = 0
        for _ in 0..<100 {
            let one = try #require(good.randomElement(using: &random))
            var certificates = try Chains.certificates(one.certificates)
            let anchors = try Chains.certificates(one.anchors)
            let place = Int.random(in: 0..<certificates.count, using: &random)
            var der = SecCertificateCopyData(certificates[place]) as Data
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let byte = Int.random(in: 0..<der.count, using: &random)
                der[byte] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &random)
            }
            guard let changed = SecCertificateCreateWithData(nil, der as CFData) else { continue }
            certificates[place] = changed
            judged += 1
            let trust = try Chains.trust(certificates, one.policy.object, anchors: anchors)
            guard SecTrustEvaluateWithError(trust, nil) else { continue }
            let (accepts, said) = try judge(trust, one)
            #expect(accepts, "seed \(seed), \(one.name), certificate \(place): \(said)")
            #expect(place > 0, "seed \(seed), \(one.name): the certificate itself was changed")
        }
        #expect(judged > 20)
    }

    @Test(
        "A chain of certificates chosen at random is trusted exactly if openssl accepts one chain of them",
        arguments: 0..<8)
    func randomChains(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let names = Set(TrustCase.all.flatMap { $0.certificates + $0.anchors }).sorted()
        for _ in 0..<20 {
            let one = try #require(TrustCase.all.randomElement(using: &random))
            let more = (0..<Int.random(in: 0...4, using: &random)).compactMap { _ in names.randomElement(using: &random)
            }
            let others = (Array(one.certificates.dropFirst()) + more).shuffled(using: &random)
            let certificates = try Chains.certificates(one.certificates.prefix(1) + others)
            let anchors = try Chains.certificates(one.anchors)
            let trust = try Chains.trust(certificates, one.policy.object, anchors: anchors)
            let isTrusted = SecTrustEvaluateWithError(trust, nil)
            let (accepts, said) = try judge(trust, one)
            #expect(isTrusted == (accepts && !one.isStricter), "seed \(seed), \(one.name), \(others): \(said)")
        }
    }
}
