import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Exceptions of trust objects")
struct TrustExceptionTests {
    private static let host = SecPolicyCreateSSL(true, "www.example.com" as CFString)

    private static func result(_ trust: SecTrust) -> SecTrustResultType {
        var result = SecTrustResultType.invalid
        #expect(SecTrustEvaluate(trust, &result) == errSecSuccess)
        return result
    }

    private static func trust(_ names: [String], _ policy: SecPolicy = host) throws -> SecTrust {
        try Chains.trust(Chains.certificates(names), policy, anchors: Chains.certificates(["other"]))
    }

    @Test("Exceptions make up for the failures for which they were made")
    func accepted() throws {
        let trust = try Self.trust(["expired", "middle"])
        #expect(Self.result(trust) == .recoverableTrustFailure)
        let exceptions = try #require(SecTrustCopyExceptions(trust))
        #expect(SecTrustSetExceptions(trust, exceptions))
        #expect(Self.result(trust) == .proceed)
        var error: CFError?
        #expect(SecTrustEvaluateWithError(trust, &error) && error == nil)
        // They do not depend on the object, and survive being copied while they are set.
        let again = try Self.trust(["expired", "middle"])
        #expect(SecTrustSetExceptions(again, SecTrustCopyExceptions(trust)))
        #expect(Self.result(again) == .proceed)
        #expect(!SecTrustSetExceptions(again, nil))
        #expect(SecTrustSetExceptions(again, nil))
        #expect(Self.result(again) == .recoverableTrustFailure)
    }

    @Test("Exceptions for another certificate are refused, and not kept")
    func otherCertificate() throws {
        let exceptions = try #require(SecTrustCopyExceptions(try Self.trust(["expired", "middle"])))
        let trust = try Self.trust(["early", "middle"])
        #expect(!SecTrustSetExceptions(trust, exceptions))
        #expect(Self.result(trust) == .recoverableTrustFailure)
    }

    @Test("Exceptions make up for no other failure, and not for another issuer")
    func otherFailures() throws {
        let unknown = try #require(SecTrustCopyExceptions(try Self.trust(["good", "middle"])))
        let elsewhere = try Self.trust(["good", "middle"], SecPolicyCreateSSL(true, "x.org" as CFString))
        #expect(SecTrustSetExceptions(elsewhere, unknown))
        #expect(Self.result(elsewhere) == .recoverableTrustFailure)
        let stale = try Self.trust(["good", "stale"])
        #expect(SecTrustSetExceptions(stale, unknown))
        #expect(Self.result(stale) == .recoverableTrustFailure)
    }

    @Test("No exceptions make up for fatal failures", arguments: ["rsa-small", "sha-1", "md5", "tampered"])
    func fatal(name: String) throws {
        let trust = try Self.trust([name, "middle"])
        SecTrustSetAnchorCertificates(trust, try Chains.certificates(["rsa"]) as CFArray)
        #expect(Self.result(trust) == .fatalTrustFailure)
        #expect(SecTrustSetExceptions(trust, SecTrustCopyExceptions(trust)))
        #expect(Self.result(trust) == .fatalTrustFailure)
        // Nor do those that say so.
        let check = TrustFailure(name == "rsa-small" ? .weakKey : name == "tampered" ? .signature : .weakSignature)
            .check
        let data = try #require(SecTrustCopyExceptions(trust)) as Data
        let forged = String(decoding: data, as: UTF8.self).replacingOccurrences(of: "\n", with: " \(check)\n")
            .replacingOccurrences(of: "exceptions 1 \(check)", with: "exceptions 1")
        #expect(SecTrustSetExceptions(trust, Data(forged.utf8) as CFData))
        #expect(Self.result(trust) == .fatalTrustFailure)
    }

    @Test("Anything else is refused")
    func malformed() throws {
        let trust = try Self.trust(["expired", "middle"])
        let data = try #require(SecTrustCopyExceptions(trust)) as Data
        let text = String(decoding: data, as: UTF8.self)
        let others: [Data] = [
            Data(), Data("x".utf8), Data([0xff, 0xfe]), Data("kcbackup trust exceptions 1\n".utf8), data.dropLast(),
            Data(text.replacingOccurrences(of: "exceptions 1", with: "exceptions 2").utf8),
            Data(text.uppercased().utf8), Data(text.replacingOccurrences(of: "\n", with: "\r\n").utf8),
            Data("kcbackup trust exceptions 1\n\n".utf8), Data("kcbackup trust exceptions 1\nAnchorTrusted\n".utf8),
        ]
        for other in others {
            #expect(!SecTrustSetExceptions(trust, other as CFData), "\(String(decoding: other, as: UTF8.self))")
            #expect(Self.result(trust) == .recoverableTrustFailure)
        }
    }

    @Test("Changed exceptions make up for nothing new", arguments: 0..<4)
    func changed(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let trust = try Self.trust(["good", "middle", "root"])
        let data = try #require(SecTrustCopyExceptions(trust)) as Data
        SecTrustSetVerifyDate(trust, Date(timeIntervalSince1970: 1_800_000_000) as CFDate)
        for _ in 0..<50 {
            var other = data
            other[Int.random(in: 0..<other.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            SecTrustSetExceptions(trust, other as CFData)
            #expect(Self.result(trust) == .recoverableTrustFailure)
        }
    }
}
