import Foundation
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("Anchors of the system", .waitsForPrograms)
struct SystemAnchorTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["middle", "good"] {
            try folder.write(name + ".der", Array(SecCertificateCopyData(try Chains.certificate(name)) as Data))
        }
    }

    /// A path at which there is nothing.
    private var missing: String { folder.path("missing") }

    private static func pem(_ name: String) throws -> String {
        try String(contentsOfFile: "\(Chains.folder)/\(name).pem", encoding: .utf8)
    }

    /// The lines that a program prints about `middle`, of which `root` is the issuer, or about `good` as a server.
    private func printed(file: String, folders: String, asServer: Bool = false) throws -> [String] {
        let middle = folder.path("middle.der")
        let outcome = try ExternalProgram.run(
            ExternalProgram.built("KCTrustProgram"),
            asServer ? ["server", folder.path("good.der"), middle] : ["basic", middle],
            environment: ["SSL_CERT_FILE": file, "SSL_CERT_DIR": folders])
        #expect(outcome.status == 0, "\(outcome.errorText)")
        return outcome.text.split(separator: "\n").map(String.init)
    }

    @Test("A file of certificates is used, with text and other blocks in it")
    func file() throws {
        let text = try "# roots\n" + Self.pem("other") + "\n# another\n" + Self.pem("root") + Self.pem("root")
        try folder.write("roots.pem", Array(text.utf8))
        #expect(try printed(file: folder.path("roots.pem"), folders: missing) == ["trusted", "0 2"])
    }

    @Test("Folders of certificates are used, in which a file has the hash of the subject as its name")
    func folders() throws {
        try folder.write("root.pem", Array(try Self.pem("root").utf8))
        try FileManager.default.createDirectory(atPath: folder.path("hashed"), withIntermediateDirectories: false)
        let hash = try ExternalProgram.run(
            "openssl", ["x509", "-noout", "-subject_hash", "-in", folder.path("root.pem")]
        )
        .text.trimmingCharacters(in: .newlines)
        try folder.write("hashed/\(hash).0", Array(try Self.pem("root").utf8))
        try folder.write("hashed/README", Array("not a certificate".utf8))
        let folders = missing + ":" + folder.path("hashed")
        #expect(try printed(file: missing, folders: folders) == ["trusted", "0 1"])
    }

    @Test("Without anchors nothing is trusted, and the error says where they were expected")
    func noAnchors() throws {
        try FileManager.default.createDirectory(atPath: folder.path("empty"), withIntermediateDirectories: false)
        for (file, folders) in [
            (missing, missing), (missing, folder.path("empty")), (missing, ""), (folder.path("empty"), ""),
        ] {
            let lines = try printed(file: file, folders: folders)
            #expect(lines.count == 2)
            #expect(lines[0].hasPrefix("\(errSecCreateChainFailed) This system has no root certificates: "))
            #expect(lines[0].contains(file) && lines[0].contains("ca-certificates"))
            #expect(lines[1] == "\(errSecTrustNotAvailable) 0")
        }
    }

    @Test("Other anchors than the right one, and a damaged file, trust nothing")
    func others() throws {
        try folder.write("other.pem", Array(try Self.pem("other").utf8))
        #expect(
            try printed(file: folder.path("other.pem"), folders: missing) == [
                "\(errSecCreateChainFailed) ", "0 1",
            ])
        let damaged = try Self.pem("root").dropLast(60)
        try folder.write("damaged.pem", Array(damaged.utf8))
        let lines = try printed(file: folder.path("damaged.pem"), folders: missing)
        #expect(lines == ["\(errSecCreateChainFailed) ", "\(errSecDecode) 0"])
    }

    @Test("An anchor that is marked as not to be trusted for servers is denied for them")
    func denied() throws {
        try folder.write("root.pem", Array(try Self.pem("root").utf8))
        #expect(try printed(file: folder.path("root.pem"), folders: missing, asServer: true) == ["trusted", "0 1"])
        let options = ["x509", "-in", "root.pem", "-trustout", "-addreject", "serverAuth", "-out", "marked.pem"]
        #expect(try ExternalProgram.run("openssl", options, in: folder.path).status == 0)
        let lines = try printed(file: folder.path("marked.pem"), folders: missing, asServer: true)
        // With such marks it is not among the anchors that are listed.
        #expect(lines == ["\(errSecTrustSettingDeny) ", "0 0"])
    }

    @Test("The distribution's certificates are readable, if there are any")
    func distribution() throws {
        guard !SystemAnchorFiles.areMissing else { return }
        var anchors: CFArray?
        #expect(SecTrustCopyAnchorCertificates(&anchors) == errSecSuccess)
        let all = try #require(anchors as? [SecCertificate])
        #expect(Set(all).count == all.count)
        // A part of them, since each takes as long as the others.
        let some = all.enumerated().filter { $0.offset.isMultiple(of: 5) }.map(\.element)
        let valid = some.filter { anchor in
            var trust: SecTrust?
            SecTrustCreateWithCertificates(anchor, nil, &trust)
            return trust.map { SecTrustEvaluateWithError($0, nil) } ?? false
        }
        #expect(valid.count > some.count / 2)
    }
}
