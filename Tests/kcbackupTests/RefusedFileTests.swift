import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Files of other programs that are known and not read")
struct RefusedFileTests {
    private static func utf16(_ text: String) -> [UInt8] {
        let units: [UInt8] = text.utf8.flatMap { [$0, 0] }
        return [0xff, 0xfe] + units
    }

    @Test(
        "One is refused with what it is and a way that works, also if '--from' names a format",
        arguments: ["", " --from bitwarden", " --from cxf", " --from kubernetes", " --from csv"])
    func refused(words: String) throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        try home.write("vault.json", Self.utf16(#"{"encrypted":false,"items":[]}"#))
        try home.write("mail.asc", "-----BEGIN PGP MESSAGE-----\n\nabc\n")
        for (file, kind, hint) in [
            ("vault.json", "a JSON file in UTF-16", "'iconv -f UTF-16 -t UTF-8 vault.json | kcbackup import -'"),
            ("mail.asc", "a file encrypted with OpenPGP", "'gpg -d mail.asc > mail.asc.zip'"),
        ] {
            let outcome = home.run("import \(file)\(words)")
            #expect(outcome.status == .refused, "\(file): \(outcome.messages)")
            #expect(outcome.messages.contains("'\(file)' is \(kind), which kcbackup does not read"))
            #expect(outcome.messages.contains(hint), "\(outcome.messages)")
        }
    }

    @Test("Text in UTF-16 that is no table is named as such", arguments: ["", " --from kubernetes"])
    func text(words: String) throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        try home.write("secrets.yaml", Self.utf16("apiVersion: v1\r\nkind: Secret\r\nmetadata: {name: a}\r\n"))
        let outcome = home.run("import secrets.yaml\(words)")
        #expect(outcome.status == .refused)
        #expect(outcome.messages.contains("'secrets.yaml' is a text file in UTF-16"), "\(outcome.messages)")
        #expect(outcome.messages.contains("iconv -f UTF-16 -t UTF-8 secrets.yaml | kcbackup import -"))
    }
}
