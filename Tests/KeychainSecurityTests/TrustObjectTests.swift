import Dispatch
import Foundation
import KCTestSupport
import Synchronization
import Testing

@testable import KeychainSecurity

@Suite("Trust objects")
struct TrustObjectTests {
    private let root: SecCertificate
    private let good: SecCertificate
    private let middle: SecCertificate

    init() throws {
        root = try Chains.certificate("root")
        good = try Chains.certificate("good")
        middle = try Chains.certificate("middle")
    }

    private static let host = SecPolicyCreateSSL(true, "www.example.com" as CFString)

    private static func result(_ trust: SecTrust) -> SecTrustResultType {
        var result = SecTrustResultType.invalid
        #expect(SecTrustEvaluate(trust, &result) == errSecSuccess)
        return result
    }

    private static func code(_ trust: SecTrust) -> Int? {
        var error: CFError?
        return SecTrustEvaluateWithError(trust, &error) ? nil : error?.code
    }

    @Test("A trust object is made from a certificate or an array, and from a policy, an array or none")
    func creation() throws {
        var trust: SecTrust?
        for certificates in [good as Any, [good], [good, middle]] {
            for policies in [Self.host as Any, [Self.host], nil] as [Any?] {
                trust = nil
                #expect(SecTrustCreateWithCertificates(certificates, policies, &trust) == errSecSuccess)
                #expect(trust != nil)
            }
        }
        trust = nil
        let wrong: [(Any, Any?)] = [
            ([SecCertificate](), Self.host), ("x", Self.host), ([good, "x"] as [Any], Self.host), (good, "x"),
            (good, [SecPolicy]()), (good, [Self.host, "x"] as [Any]), (Self.host, Self.host), (good, good),
        ]
        for (certificates, policies) in wrong {
            #expect(SecTrustCreateWithCertificates(certificates, policies, &trust) == errSecParam)
            #expect(trust == nil)
        }
    }

    @Test("Settings are returned as they were set")
    func settings() throws {
        let trust = try Chains.trust([good, middle], Self.host, anchors: [root])
        var array: CFArray?
        SecTrustCopyPolicies(trust, &array)
        #expect(array as? [SecPolicy] == [Self.host])
        #expect(SecTrustSetPolicies(trust, [SecPolicyCreateBasicX509(), Self.host]) == errSecSuccess)
        #expect(SecTrustSetPolicies(trust, "x") == errSecParam)
        SecTrustCopyPolicies(trust, &array)
        #expect(array as? [SecPolicy] == [SecPolicyCreateBasicX509(), Self.host])
        SecTrustCopyCustomAnchorCertificates(trust, &array)
        #expect(array as? [SecCertificate] == [root])
        #expect(SecTrustSetAnchorCertificates(trust, nil) == errSecSuccess)
        SecTrustCopyCustomAnchorCertificates(trust, &array)
        #expect(array == nil)
        #expect(SecTrustGetVerifyTime(trust) == Double(TrustCase.moment) - Date.timeIntervalBetween1970AndReferenceDate)
        var mayFetch: DarwinBoolean = false
        SecTrustGetNetworkFetchAllowed(trust, &mayFetch)
        #expect(mayFetch.boolValue)
        SecTrustSetNetworkFetchAllowed(trust, false)
        SecTrustGetNetworkFetchAllowed(trust, &mayFetch)
        #expect(!mayFetch.boolValue)
    }

    @Test("The chain, its certificates and the key are returned, also if it is not trusted")
    func chain() throws {
        let trust = try Chains.trust([good, middle], Self.host, anchors: [root])
        #expect(SecTrustCopyCertificateChain(trust) as? [SecCertificate] == [good, middle, root])
        #expect(SecTrustGetCertificateCount(trust) == 3)
        #expect(SecTrustGetCertificateAtIndex(trust, 0) == good)
        #expect(SecTrustGetCertificateAtIndex(trust, 2) == root)
        #expect(SecTrustGetCertificateAtIndex(trust, 3) == nil && SecTrustGetCertificateAtIndex(trust, -1) == nil)
        #expect(SecTrustCopyKey(trust) != nil && SecTrustCopyKey(trust) == SecCertificateCopyKey(good))
        #expect(SecTrustCopyPublicKey(trust) == SecTrustCopyKey(trust))
        let incomplete = try Chains.trust([good], Self.host, anchors: [root])
        #expect(SecTrustCopyCertificateChain(incomplete) as? [SecCertificate] == [good])
    }

    @Test("A result follows the settings, and is never of earlier ones")
    func changes() throws {
        let trust = try Chains.trust([good, middle], Self.host, anchors: [root])
        #expect(Self.result(trust) == .unspecified)
        SecTrustSetAnchorCertificates(trust, [try Chains.certificate("other")] as CFArray)
        var last = SecTrustResultType.invalid
        SecTrustGetTrustResult(trust, &last)
        #expect(last == .recoverableTrustFailure)
        SecTrustSetAnchorCertificates(trust, [root] as CFArray)
        SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, "www.example.org" as CFString))
        #expect(Self.code(trust) == Int(errSecHostNameMismatch))
        SecTrustSetPolicies(trust, [Self.host, SecPolicyCreateSSL(true, "www.example.org" as CFString)])
        #expect(Self.code(trust) == Int(errSecHostNameMismatch))
        SecTrustSetPolicies(trust, [Self.host, SecPolicyCreateSSL(true, "example.com" as CFString)])
        #expect(Self.code(trust) == nil)
        SecTrustSetVerifyDate(trust, Date(timeIntervalSince1970: 1_800_000_000) as CFDate)
        #expect(Self.code(trust) == Int(errSecCertificateExpired))
    }

    @Test("Anchors replace the system's, in every way in which they can be wrong")
    func anchors() throws {
        let trust = try Chains.trust([good, middle, root], Self.host, anchors: [])
        #expect(Self.code(trust) == Int(errSecNotTrusted))
        SecTrustSetAnchorCertificates(trust, [root] as CFArray)
        #expect(Self.code(trust) == nil)
        #expect(SecTrustSetAnchorCertificates(trust, [root, "x"] as [Any] as CFArray) == errSecParam)
        #expect(Self.code(trust) == Int(errSecNotTrusted))
        SecTrustSetAnchorCertificates(trust, nil)
        #expect(Self.code(trust) == Int(errSecNotTrusted))
        SecTrustSetAnchorCertificatesOnly(trust, true)
        #expect(Self.code(trust) == Int(errSecNotTrusted))
    }

    @Test("A chain is found among many certificates, but with so many, an issuer of the same name is not got around")
    func many() throws {
        for (name, code) in [("other", nil), ("impostor", Int(errSecInvalidIDLinkage))] {
            let others = Array(repeating: try Chains.certificate(name), count: 100)
            let trust = try Chains.trust([good] + others + [middle], Self.host, anchors: [root])
            #expect(Self.code(trust) == code)
        }
    }

    @Test("A moment that no certificate can be compared with is not trusted")
    func moments() throws {
        for date in [
            Date.distantPast, .distantFuture, Date(timeIntervalSince1970: 1e300), Date(timeIntervalSince1970: .nan),
        ]
            + [
                Date(timeIntervalSince1970: .infinity), Date(timeIntervalSince1970: -1e17),
                Date(timeIntervalSince1970: 1e17),
            ]
        {
            let trust = try Chains.trust([good, middle], Self.host, anchors: [root])
            SecTrustSetVerifyDate(trust, date as CFDate)
            var error: CFError?
            #expect(!SecTrustEvaluateWithError(trust, &error), "\(date.timeIntervalSince1970)")
            #expect(error != nil)
            #expect(SecTrustGetCertificateCount(trust) >= 1)
        }
    }

    @Test("Revocation is best effort, unless a positive response is required")
    func revocation() throws {
        let trust = try Chains.trust([good, middle], Self.host, anchors: [root])
        let effort = try #require(SecPolicyCreateRevocation(kSecRevocationUseAnyAvailableMethod))
        SecTrustSetPolicies(trust, [Self.host, effort])
        #expect(Self.code(trust) == nil)
        let strict = try #require(
            SecPolicyCreateRevocation(kSecRevocationOCSPMethod | kSecRevocationRequirePositiveResponse))
        SecTrustSetPolicies(trust, [Self.host, strict])
        #expect(Self.code(trust) == Int(errSecIncompleteCertRevocationCheck))
        // X.509 is required even if only revocation is asked about.
        SecTrustSetPolicies(trust, effort)
        #expect(Self.code(trust) == nil)
        SecTrustSetAnchorCertificates(trust, [] as [Any] as CFArray)
        #expect(Self.code(trust) == Int(errSecCreateChainFailed))
        #expect(SecPolicyCreateRevocation(0) == nil && SecPolicyCreateRevocation(1 << 7) == nil)
    }

    @Test("The error names the certificate and lists every failure, and foreign text in it is displayed safely")
    func errors() throws {
        let trust = try Chains.trust(
            [try Chains.certificate("expired"), middle], SecPolicyCreateSSL(true, "x.org" as CFString), anchors: [])
        var error: CFError?
        #expect(!SecTrustEvaluateWithError(trust, &error))
        let reason = try #require(error)
        #expect(reason.domain == "NSOSStatusErrorDomain" && reason.code == Int(errSecCreateChainFailed))
        #expect(
            reason.localizedDescription
                == "The certificate “Chains middle” is not trusted: the issuer's certificate is not there.")
        let all = try #require(reason.userInfo[NSUnderlyingErrorKey] as? NSError).localizedDescription
        #expect(
            all == "certificate 0 “www.example.com”: it is for other names than this host's, it has expired; "
                + "certificate 1 “Chains middle”: the issuer's certificate is not there")
        let properties = try #require(SecTrustCopyProperties(trust) as? [[String: Any]])
        #expect(
            properties.map { $0[kSecPropertyTypeTitle as String] as? String } == ["www.example.com", "Chains middle"])
        #expect(properties.allSatisfy { $0["type"] as? String == "error" && $0["value"] is String })
        let result = try #require(SecTrustCopyResult(trust) as? [String: Any])
        #expect((result[kSecTrustResultValue as String] as? NSNumber)?.uint32Value == 5)
        #expect(result[kSecTrustEvaluationDate as String] as? Date == Date(timeIntervalSince1970: 1_925_000_000))
        let details = try #require(result["TrustResultDetails"] as? [[String: Any]])
        #expect(details.map { $0.keys.sorted() } == [["SSLHostname", "TemporalValidity"], ["MissingIntermediate"]])
    }

    @Test("The results of a trusted chain have no failures")
    func success() throws {
        let trust = try Chains.trust([good, middle], Self.host, anchors: [root])
        var error: CFError? = NSError(domain: "x", code: 1)
        #expect(SecTrustEvaluateWithError(trust, &error) && error == nil)
        #expect(SecTrustCopyProperties(trust) == nil)
        let result = try #require(SecTrustCopyResult(trust) as? [String: Any])
        #expect((result[kSecTrustResultValue as String] as? NSNumber)?.uint32Value == 4)
        #expect(result[kSecTrustOrganizationName as String] as? String == "Example Ltd")
    }

    @Test("Handlers are called once, on their queue")
    func handlers() async throws {
        let good = try Chains.trust([good, middle], Self.host, anchors: [root])
        let bad = try Chains.trust([self.good], Self.host, anchors: [root])
        let queue = DispatchQueue(label: "trust")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        for (trust, isTrusted) in [(good, true), (bad, false)] {
            let (answer, code): (Bool, Int?) = await withCheckedContinuation { continuation in
                let status = SecTrustEvaluateAsyncWithError(trust, queue) { same, isTrusted, error in
                    #expect(same == trust && DispatchQueue.getSpecific(key: key) == true)
                    continuation.resume(returning: (isTrusted, error?.code))
                }
                #expect(status == errSecSuccess)
            }
            #expect(answer == isTrusted && code == (isTrusted ? nil : Int(errSecCreateChainFailed)))
            let result = await withCheckedContinuation { continuation in
                SecTrustEvaluateAsync(trust, nil) { _, result in continuation.resume(returning: result) }
            }
            #expect(result == (isTrusted ? .unspecified : .recoverableTrustFailure))
        }
    }

    @Test("Threads that change and evaluate one object get results of some settings, never a mixture")
    func threads() throws {
        let trust = try Chains.trust([good, middle], Self.host, anchors: [root])
        let wrong = Mutex(0)
        let other = try Chains.certificate("other")
        DispatchQueue.concurrentPerform(iterations: 200) { index in
            if index.isMultiple(of: 3) {
                SecTrustSetAnchorCertificates(trust, [index.isMultiple(of: 2) ? root : other] as CFArray)
            }
            var error: CFError?
            let isTrusted = SecTrustEvaluateWithError(trust, &error)
            if isTrusted != (error == nil) { wrong.withLock { $0 += 1 } }
        }
        #expect(wrong.withLock { $0 } == 0)
    }
}
