import Foundation
import KCCryptography
import KCTestSupport
import Testing

@testable import KeychainSecurity

/// The certificates in `Chains`, which `make-chains.sh` makes.
enum Chains {
    static let folder = Project.path("Tests/KeychainSecurityTests/Chains")

    /// A certificate by the name of its file.
    static func certificate(_ name: String) throws -> SecCertificate {
        let text = [UInt8](try Data(contentsOf: URL(filePath: "\(folder)/\(name).pem")))
        return SecCertificate(try X509Certificate(pem: text.span))
    }

    static func certificates(_ names: [String]) throws -> [SecCertificate] { try names.map(certificate) }

    /// A trust object for the moment of the cases.
    static func trust(
        _ certificates: [SecCertificate], _ policy: SecPolicy, anchors: [SecCertificate]
    ) throws -> SecTrust {
        var trust: SecTrust?
        #expect(SecTrustCreateWithCertificates(certificates as CFArray, policy, &trust) == errSecSuccess)
        let made = try #require(trust)
        #expect(SecTrustSetAnchorCertificates(made, anchors as CFArray) == errSecSuccess)
        let date = Date(timeIntervalSince1970: Double(TrustCase.moment))
        #expect(SecTrustSetVerifyDate(made, date as CFDate) == errSecSuccess)
        return made
    }

    static func trust(_ one: TrustCase) throws -> SecTrust {
        try trust(certificates(one.certificates), one.policy.object, anchors: certificates(one.anchors))
    }
}

/// `openssl verify` as a judge.
struct ChainJudge {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// True if openssl accepts the chain; `said` is what it printed.
    func accepts(
        _ certificates: [SecCertificate], anchors: [SecCertificate], _ policy: TrustCase.Policy
    ) throws -> (verdict: Bool, said: String) {
        try write("leaf", certificates.prefix(1))
        try write("others", certificates.dropFirst())
        try write("anchors", anchors[...])
        var words = ["verify", "-attime", "\(TrustCase.moment)", "-partial_chain", "-policy", "anyPolicy"]
        words += ["-policy_check"]
        words += ["-no-CApath", "-no-CAstore"] + (anchors.isEmpty ? ["-no-CAfile"] : ["-CAfile", "anchors"])
        if certificates.count > 1 { words += ["-untrusted", "others"] }
        switch policy {
        case .basic: words += ["-auth_level", "1"]
        case .client: words += ["-auth_level", "1", "-purpose", "sslclient"]
        case .server(let host): words += ["-auth_level", "2", "-purpose", "sslserver"] + Self.option(host)
        }
        let outcome = try ExternalProgram.run("openssl", words + ["leaf"], in: folder.path)
        return (outcome.status == 0, outcome.text + outcome.errorText)
    }

    /// A host that openssl cannot be given, or would take for any host, becomes one that is in no certificate.
    private static func option(_ host: String?) -> [String] {
        guard let host else { return [] }
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        if name.isEmpty || name.contains("\0") { return ["-verify_hostname", "-"] }
        let isAddress = name.contains(":") || name.allSatisfy { $0.isNumber || $0 == "." } && name.contains(".")
        return [isAddress ? "-verify_ip" : "-verify_hostname", name]
    }

    private func write(_ name: String, _ certificates: ArraySlice<SecCertificate>) throws {
        let blocks = certificates.map { certificate in
            let text = (SecCertificateCopyData(certificate) as Data).base64EncodedString(
                options: .lineLength64Characters)
            return "-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n"
        }
        try folder.write(name, Array(blocks.joined().utf8))
    }
}
