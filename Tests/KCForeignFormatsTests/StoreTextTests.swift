import KCItemSources
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Files of pass and gopass that are no password with a note")
struct StoreTextTests {
    /// Reads a store with these files.
    private func read(_ files: KeyValuePairs<String, String>) throws -> ForeignContents {
        let folder = try TemporaryFolder()
        try folder.write(".gpg-id", [])
        for (name, text) in files { try folder.write(name + ".gpg", Array("GPG:\(text)".utf8)) }
        return try PassFormat().read(ForeignInput(path: folder.path, .folder), PasswordStoreTests.ScriptedGPG())
    }

    private static let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\nBBBB\n-----END OPENSSH PRIVATE KEY-----\n"

    @Test("A file that begins as a key, a certificate or JSON is one secret with these bytes")
    func whole() throws {
        let certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        let account = "{\n  \"type\": \"service_account\",\n  \"user\": \"x\"\n}\n"
        let identity = "# created: 2026-01-01T00:00:00Z\n# public key: age1x\nAGE-SECRET-KEY-1X\n"
        let putty = "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n"
        let contents = try read([
            "sshkey": Self.key, "cert": certificate, "both": certificate + Self.key, "json": account, "age": identity,
            "ppk": putty, "list": "[1,\n2]", "cut": "{\n\"a\": ", "line": "{\"a\":1}", "brace": "{x\nuser: ada",
            "dashes": "-----\nuser: ada",
        ])
        let listing = try contents.listing
        #expect(
            listing
                == [
                    "genp svce=age acct=private key desc=private key: \(identity)",
                    "genp svce=both acct=private key desc=private key: \(certificate)\(Self.key)",
                    "genp svce=brace acct=ada: {x", "genp svce=cert acct=cert desc=attachment: \(certificate)",
                    "genp svce=cut acct=cut desc=attachment: {\n\"a\": ", "genp svce=dashes acct=ada: -----",
                    "genp svce=json acct=json desc=attachment: \(account)", "genp svce=line: {\"a\":1}",
                    "genp svce=list acct=list desc=attachment: [1,\n2]",
                    "genp svce=ppk acct=private key desc=private key: \(putty)",
                    "genp svce=sshkey acct=private key desc=private key: \(Self.key)",
                ].sorted())
        #expect(contents.refused == [])
    }

    @Test("gopass: a file in base64 is an attachment with its own name and bytes, and text that is not base64 stays")
    func gopassBinary() throws {
        let head = "Content-Disposition: attachment; filename=\"key.pem\"\nContent-Transfer-Encoding: Base64\n"
        let body = "aGVsbG8gd29ybGQgYmluYXJ5AAEC"
        let contents = try read([
            "a": "\n" + head + "\n" + body, "b": "pw\nuser: ada\ncontent-transfer-encoding: base64\naGVs\nbG8=\n",
            "c": "GOPASS-SECRET-1.0\n" + head + "\n" + body + "\n", "d": "\n" + head + "\nno base64!\n",
        ])
        #expect(
            try contents.listing == [
                "genp svce=a acct=key.pem desc=attachment: hello world binary\u{0}\u{1}\u{2}",
                "genp svce=b acct=ada: pw", "genp svce=b acct=b (ada) desc=attachment: hello",
                "genp svce=c acct=key.pem desc=attachment: hello world binary\u{0}\u{1}\u{2}",
                "genp svce=d acct=note desc=secure note: \(head)\nno base64!\n",
            ])
        #expect(contents.refused == [] && contents.leftOut.isEmpty)
    }

    @Test("gopass: keys of one-time passwords are read; a value that gives no code stays in the note and is named")
    func gopassCodes() throws {
        let contents = try read([
            "a": "pw\ntotp: JBSWY3DPEHPK3PXP\nuser: zoe\n", "b": "pw\notpauth: //totp/B:ada?secret=MZXW6YTB\n",
            "c": "pw\nhotp: mzxw 6ytb\ncounter: 7\n", "d": "pw\nTOTP: on my phone\n",
            "e": "pw\ntotp: otpauth://totp?secret=MZXW6YTB\n",
        ])
        let code = "desc=one-time password: otpauth://"
        #expect(
            try contents.listing == [
                "genp svce=a acct=one-time password (zoe) \(code)totp/a:zoe?secret=JBSWY3DPEHPK3PXP&issuer=a",
                "genp svce=a acct=zoe: pw", "genp svce=b acct=one-time password \(code)totp/B:ada?secret=MZXW6YTB",
                "genp svce=b: pw", "genp svce=c acct=note desc=secure note: counter: 7\n",
                "genp svce=c acct=one-time password \(code)hotp/c?secret=MZXW6YTB&issuer=c&counter=7",
                "genp svce=c: pw",
                "genp svce=d acct=note desc=secure note: TOTP: on my phone\n", "genp svce=d: pw",
                "genp svce=e acct=one-time password \(code)totp/e?secret=MZXW6YTB&issuer=e", "genp svce=e: pw",
            ])
        #expect(contents.refused.map(\.name) == ["d: one-time password"])
    }

    @Test("gopass: YAML has a password only above it, or under its name; a header without a password has none")
    func gopassForms() throws {
        let contents = try read([
            "a": "---\nuser: \"ada\"\npassword: 'p w'\nurl: https://a.example\n",
            "b": "pw\n---\nlogin: 'bob'\ntotp: \"MZXW6YTB\"\nlist:\n  - x\n", "c": "---\nkey: 1\n",
            "d": "GOPASS-SECRET-1.0\nUser: eve\n\nbody\n", "e": "pw\n---\n",
        ])
        #expect(
            try contents.listing == [
                "genp svce=b acct=bob: pw", "genp svce=b acct=note (bob) desc=secure note: ---\nlist:\n  - x\n",
                "genp svce=b acct=one-time password (bob) desc=one-time password: otpauth://totp/b:bob?secret=MZXW6YTB"
                    + "&issuer=b",
                "genp svce=c acct=note desc=secure note: key: 1\n",
                "genp svce=d acct=note (eve) desc=secure note: body\n", "genp svce=e: pw",
                "inet srvr=a.example acct=ada: p w",
            ])
        #expect(contents.refused == [])
    }
}
