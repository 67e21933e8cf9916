import Foundation
import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCHomeFiles

@Suite("Reading the credentials of systemd", .waitsForPrograms)
struct CredentialTests {
    /// The root of a system with these files.
    private static func system(_ files: [(String, String)]) throws -> TemporaryFolder {
        let root = try TemporaryFolder()
        for (path, text) in files {
            try FileManager.default.createDirectory(
                atPath: root.path((path as NSString).deletingLastPathComponent), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try root.write(path, Array(text.utf8))
        }
        return root
    }

    private static func items(_ contents: HomeContents) throws -> [(file: HomeItem, item: Item)] {
        var visitor = ListingVisitor()
        try contents.items.visitItems(&visitor)
        return visitor.items.compactMap { item in HomeItem(item).map { ($0, item) } }
    }

    @Test("Credentials of all places are taken, with the key that opens an encrypted one, and nothing else")
    func taken() throws {
        let root = try Self.system([
            ("etc/credstore/db.password", "plain"), ("etc/credstore/web/tls.key", "key"),
            ("etc/credstore.encrypted/host", "Whxqht+dQJax1aZeCGLxmiAA\nAAAB"),
            ("run/credstore.encrypted/tpm", "DHzAexF2RZGcSwvqCLwg/iAA"),
            ("usr/lib/credstore.encrypted/both", "k6iUCUh0RJCQyvL8k8q1UyAA"),
            ("usr/local/lib/credstore.encrypted/null", "BYRp2vb1QySABUnaD46i+yAA"),
            ("etc/credstore.encrypted/other", "not one"), ("etc/shadow", "x"), ("etc/credstore2/x", "x"),
        ])
        let contents = try HomeReader.read(root.path, .credentials)
        let found = try Self.items(contents).map { "\($0.file.path.shown) \($0.file.key?.rawValue ?? "-")" }
        #expect(
            found.sorted() == [
                "/etc/credstore.encrypted/host host", "/etc/credstore.encrypted/other unknown",
                "/etc/credstore/db.password -", "/etc/credstore/web/tls.key -", "/run/credstore.encrypted/tpm tpm2",
                "/usr/lib/credstore.encrypted/both host+tpm2", "/usr/local/lib/credstore.encrypted/null null",
            ])
        #expect(contents.sources.map(\.title) == ["credentials", "encrypted credentials"])
        #expect(contents.boundCount == 4)
        #expect(contents.left.isEmpty && contents.unread.isEmpty)
    }

    @Test("A file of a home is none of the system, and the other way round")
    func apart() throws {
        let root = try Self.system([("etc/credstore/a", "x"), (".netrc", "x")])
        #expect(try Self.items(HomeReader.read(root.path)).map(\.file.path.shown) == ["~/.netrc"])
        let credential = try #require(try Self.items(HomeReader.read(root.path, .credentials)).first)
        #expect(credential.file.path.root == .credentials)
        #expect(HomeTable.rule(for: credential.file.path) != nil)
        #expect(HomeTable.rule(for: try #require(HomePath("etc/credstore/a"))) == nil)
        #expect(HomeTable.rule(for: try #require(HomePath(".netrc", in: .credentials))) == nil)
    }

    private static let systemdCreds = ExternalProgram.locate("systemd-creds")

    @Test(
        "The key of what systemd-creds encrypts is recognized",
        .enabled(if: systemdCreds != nil && geteuid() == 0, "systemd-creds and root are needed"))
    func encryptedBySystemd() throws {
        let root = try Self.system([("etc/credstore.encrypted/x", "")])
        try root.write("secret", Array("plain".utf8))
        let outcome = try ExternalProgram.run(
            try #require(Self.systemdCreds),
            ["encrypt", "--with-key=host", "--name=x", root.path("secret"), root.path("etc/credstore.encrypted/x")],
            environment: ["SYSTEMD_CREDENTIAL_SECRET": root.path("host.secret")])
        #expect(outcome.status == 0, "\(outcome)")
        let file = try #require(try Self.items(HomeReader.read(root.path, .credentials)).first).file
        #expect(file.key == .host)
    }
}
