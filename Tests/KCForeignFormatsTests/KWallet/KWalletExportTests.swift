import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing what KWalletManager exports, and wallets encrypted by GnuPG")
struct KWalletExportTests {
    /// Decrypts what a test has, in the place of gpg.
    private struct Decrypted: ForeignSecrets {
        let plain: Result<[UInt8], UnopenedFile>

        func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {
            throw GivenSecrets.Unexpected()
        }

        func keyFile() throws -> ForeignFile? { nil }

        func decryptedByGPG(_ path: String, skipping count: Int, limit: Int) throws -> SecretBytes {
            #expect(count == 16)
            return SecretBytes(copying: try plain.get())
        }
    }

    private func readGnuPG(_ plain: Result<[UInt8], UnopenedFile>, path: String = "a.kwl") throws -> ForeignContents {
        let bytes = Array("KWALLET\n\r\0\r\n".utf8) + [0, 0, 2, 0, 0x85]
        let file = ForeignFile(name: "a.kwl", SecretBytes(copying: bytes), modified: .reference)
        return try KWalletFormat().read(ForeignInput(path: path, .file(file)), Decrypted(plain: plain))
    }

    private static var wallet: WalletWriter {
        var wallet = WalletWriter()
        wallet.form = .standardWithoutSalt
        return wallet
    }

    @Test("A wallet in a message of OpenPGP becomes the same items as one with Blowfish")
    func gnuPG() throws {
        let plain = try Self.wallet.message()
        let contents = try readGnuPG(.success(plain))
        #expect(contents.details == "wallet 'a', encrypted by GnuPG" && !contents.isPlaintext)
        let other = try ForeignReading.read(
            Self.wallet.file(), as: KWalletFormat(), password: Self.wallet.password, name: "a.kwl")
        #expect(try contents.listing == other.listing)
        #expect(try contents.uuids == other.uuids)
        for count in 0..<plain.count {
            #expect(throws: ForeignFailure.self, "\(count)") { try readGnuPG(.success(Array(plain.prefix(count)))) }
        }
        #expect(throws: ForeignFailure.damaged("data follows its contents")) { try readGnuPG(.success(plain + [0])) }
        var another = Self.wallet
        another.folders = [("f", [])]
        let mixed = try another.message(data: Self.wallet.data)
        #expect(throws: ForeignFailure.damaged("its index does not match its contents")) {
            try readGnuPG(.success(mixed))
        }
    }

    @Test("What gpg does not open is refused with the reason, as is a wallet from a pipe")
    func gnuPGFailures() throws {
        for (problem, failure) in [
            (UnopenedFile.noKey, ForeignFailure.noKeyOpens("keys of gpg")),
            (.damaged, .damaged("gpg does not decrypt it to its end")),
            (.needsPassphrase, .damaged("it is encrypted with a passphrase, and not for a key")),
            (.tooLarge(limit: 5), .limit("bytes, decrypted", found: 6, allowed: 5)),
        ] {
            #expect(throws: failure) { try readGnuPG(.failure(problem)) }
        }
        let refusal = #expect(throws: ForeignFailure.self) { try readGnuPG(.success([]), path: "-") }
        guard case .refused = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
    }

    static let export = """
        <?xml version="1.0" encoding="UTF-8"?>
        <wallet name="kdewallet">
            <folder name="Passwords">
                <password name="mail">p\u{e4}ss 🔑 &lt;&amp;</password>
                <password name="empty"></password>
                <stream name="blob">AP+A</stream>
            </folder>
            <folder name="Form Data">
                <map name="https://example.com:8443/login#form">
                    <mapentry name="login">ada</mapentry>
                    <mapentry name="password">secret</mapentry>
                </map>
            </folder>
            <folder name=""/>
        </wallet>
        """

    @Test("An export in XML becomes the same items as the wallet that it was made of")
    func xml() throws {
        let input = ForeignReading.input(Array(Self.export.utf8))
        #expect(try KnownFormats.recognise(input).name == "kwallet-xml")
        let contents = try KWalletXMLFormat().read(input, GivenSecrets(text: nil))
        #expect(contents.details == "wallet 'kdewallet'" && contents.isPlaintext && contents.refused == [])
        var wallet = Self.wallet
        wallet.folders = [
            (
                "Passwords",
                [
                    ("mail", .password("p\u{e4}ss 🔑 <&")), ("empty", .password("")),
                    ("blob", .stream([0, 0xff, 0x80])),
                ]
            ),
            ("Form Data", [("https://example.com:8443/login#form", .map([("login", "ada"), ("password", "secret")]))]),
            ("", []),
        ]
        let other = try ForeignReading.read(wallet.file(), as: KWalletFormat(), password: wallet.password)
        #expect(try contents.listing == other.listing)
        #expect(try contents.uuids == other.uuids)
        // KDE 4 writes no declaration.
        let old = Self.export.split(separator: "\n").dropFirst().joined(separator: "\n")
        #expect(try KnownFormats.recognise(ForeignReading.input(Array(old.utf8))).name == "kwallet-xml")
    }

    @Test(
        "XML that is cut, declares a document type, or has what no export has is refused or named",
        arguments: [
            ("</wallet>", ""), ("<wallet name", "<!DOCTYPE wallet><wallet name"), ("AP+A", "AP+"), ("AP+A", "<b/>"),
            (#"<mapentry name="login">"#, "<mapentry>"), (#"<folder name="">"#, "<folder>"),
            (#"<password name="empty">"#, #"<password name="empty"><x/>"#), ("<stream", "text<stream"),
            (#"<mapentry name="login">ada</mapentry>"#, #"<other name="login">ada</other>"#),
        ])
    func oddXML(from: String, to: String) throws {
        let text = Self.export.replacing(#"<folder name=""/>"#, with: #"<folder name=""></folder>"#)
        try #require(text.contains(from))
        #expect(throws: ForeignFailure.self) {
            try ForeignReading.read(text.replacing(from, with: to), as: KWalletXMLFormat())
        }
    }
}
