import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// The costs that an untrusted archive can cause, and what of it can reach a terminal.
extension RecoveryAttackTests {
    /// Streams that decompress to 64 MiB, in archives of less than 1 MiB.
    enum Bomb: String, CaseIterable, Sendable {
        case line = "head -c 64M /dev/zero | tr '\\0' a"
        case lineBehindGoodOnes = "cat $stream; head -c 64M /dev/zero | tr '\\0' a"
        case lines = "yes '' | head -c 64M"
        case longLines = "yes $(head -c 100000 /dev/zero | tr '\\0' a) | head -c 64M"
    }

    @Test(
        "A stream that decompresses without end is refused, and uses up neither memory nor disk",
        arguments: zip(Bomb.allCases, ["metadata", "secrets", "secrets", "metadata"]))
    func bomb(_ bomb: Bomb, stream: String) throws {
        let forged = try forge(
            .init(
                members: """
                    set +o pipefail
                    stream=\(stream)
                    { \(bomb.rawValue); } | gzip -1 | age -r $RECIPIENT > $stream.jsonl.gz.age
                    """))
        let size = try #require(FileManager.default.attributesOfItem(atPath: forged)[.size] as? Int)
        #expect(size < 1 << 20)
        let recovered = try RecoveryRecipe.runConfined(on: forged, identity: home.path("key.txt"), limit: "50000000")
        let message =
            switch bomb {
            case .line, .lineBehindGoodOnes: "a line of the \(stream) is too long"
            case .lines, .longLines: "the \(stream) decompress to more than 50000000 bytes"
            }
        try expectRefusal(recovered, message)
    }

    @Test("Little memory is enough for a genuine archive with the longest possible secret")
    func honestArchiveIsConfinedToo() throws {
        let secret = String(repeating: "0123456789abcdef", count: 1 << 20)
        try home.write("secret", secret)
        let added = home.run(
            "item add --class genp --service longest --account ada --secret-file secret --passcode file:passcode")
        try #require(added.status == .ok, "\(added.messages)")
        try create("long.kcb", "-r \(recipient)")
        let recovered = try RecoveryRecipe.runConfined(on: home.path("long.kcb"), identity: home.path("key.txt"))
        #expect(recovered.status == 0, "\(recovered.errors)")
        let row = try recovered.table().first { $0[2] == "longest" }
        let name = try #require(row?.first)
        #expect(try recovered.secrets()[name] == Array(secret.utf8))
    }

    @Test("An identity.age that would make age use gigabytes is refused before age reads it")
    func workFactor() throws {
        try home.write("passphrase", "horse\n")
        try create("locked.kcb", "-r \(recipient) --passphrase file:passphrase")
        let forged = try forge(.init(members: "sed -i '2s/ [0-9]*$/ 22/' identity.age"), of: "locked.kcb")
        try expectRefusal(RecoveryRecipe.run(on: forged), "identity.age asks for too much work")
    }

    @Test(
        "Hostile text in an archive does not reach the terminal, whichever tool reports an error",
        arguments: [
            // Text that jq and other JSON readers quote in their messages.
            RecoveryForger.Change(lines: #"sed -i '2s/.*/{"\x1b]0;owned\x07":\x1b[2J\xc2\x9b1m/' metadata"#),
            RecoveryForger.Change(lines: #"sed -i '2s/"svce":"/&\x1b[2J/' metadata"#),
            RecoveryForger.Change(lines: #"sed -i '2s/.*/\x1b[2J/' secrets"#),
            RecoveryForger.Change(lines: #"sed -i 's/"tool":"/&\x1b[2J/; s/:1,/:\x1b[2J,/' kcbackup.json"#),
            RecoveryForger.Change(
                container: #"name=$(printf '\033[2J\302\233'); touch "$name"; members="$members $name""#),
            // A keyword that tar does not know, and would quote unescaped.
            RecoveryForger.Change(container: #"options="--format=pax --pax-option=$(printf '\033[2J'):=x""#),
            RecoveryForger.Change(container: #"printf '\033[2J\033]0;owned\007' > SHA256SUMS.sig"#),
        ])
    func terminal(_ change: RecoveryForger.Change) throws {
        let recovered = try RecoveryRecipe.run(on: forge(change), identity: home.path("key.txt"))
        try expectRefusal(recovered, "recover: ")
        for text in [recovered.output, recovered.errors] {
            #expect(
                !text.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" }, "\(text)")
            #expect(!text.contains("owned"), "\(text)")
        }
    }

    @Test("Control characters in names are escaped in the table")
    func controlCharactersAreSpelledOut() throws {
        let recovered = try RecoveryRecipe.run(on: home.path("laptop.kcb"), identity: home.path("key.txt"))
        let table = String(decoding: try recovered.folder.read("recovered/table.tsv"), as: UTF8.self)
        #expect(table.contains("ada\\x{d}\\x{a}kcbackup: error:"))
        #expect(
            !table.unicodeScalars.contains {
                $0.properties.generalCategory == .control && !"\t\n".unicodeScalars.contains($0)
            })
    }

    @Test(
        "Invisible and bidirectional characters are escaped in the table",
        arguments: ["200b", "202e", "2066", "ad", "e0001", "fe0f", "3164"])
    func formatCharactersAreSpelledOut(code: String) throws {
        let scalar = try #require(UInt32(code, radix: 16).flatMap(Unicode.Scalar.init))
        let names = #""svce":"odd \#(scalar)\\","acct":"\#(scalar)""#
        let line = #"{"class":"genp","attributes":{"agrp":"a","pdmn":"ak",\#(names)}}"#
        try home.write("odd.jsonl", line + "\n")
        let imported = home.run("import odd.jsonl --passcode file:passcode")
        try #require(imported.status == .ok, "\(imported.messages)")
        try create("odd.kcb", "-r \(recipient)")
        let recovered = try RecoveryRecipe.run(on: home.path("odd.kcb"), identity: home.path("key.txt"))
        let row = try #require(try recovered.table().first { $0[2].hasPrefix("odd") }, "\(recovered.errors)")
        #expect(row[2] == "odd \\x{\(code)}\\\\")
        #expect(row[3] == "\\x{\(code)}")
        let table = String(decoding: try recovered.folder.read("recovered/table.tsv"), as: UTF8.self)
        #expect(
            !table.unicodeScalars.contains {
                $0.properties.generalCategory == .format || $0.properties.isDefaultIgnorableCodePoint
            })
    }

    @Test("A truncated copy is reported as cut short, in one clear line, wherever it was cut")
    func cutCopies() throws {
        let bytes = try home.folder.read("work/laptop.kcb")
        // In a header, after one, in a member, between members, in the padding, in and between the last two blocks.
        let last = bytes.count - 1024
        for length in [0, 1, 100, 512, 600, 1024, 1536, 3000, last - 1000, last - 512, last - 1, last, last + 512]
            + [bytes.count - 1]
        {
            try home.folder.write("work/cut.kcb", Array(bytes.prefix(length)))
            let recovered = try RecoveryRecipe.run(on: home.path("cut.kcb"), identity: home.path("key.txt"))
            try expectRefusal(recovered, "the archive is cut short")
            #expect(
                recovered.errors.split(separator: "\n") == [
                    "recover: the archive is cut short: this copy is not complete",
                    "recover: stopped, and nothing was recovered",
                ], "cut to \(length) bytes of \(bytes.count)")
        }
    }

    @Test("A short file of another kind is not reported as cut short")
    func shortFile() throws {
        try home.folder.write("work/note.txt", Array("a line\n".utf8))
        let recovered = try RecoveryRecipe.run(on: home.path("note.txt"), identity: home.path("key.txt"))
        try expectRefusal(recovered, "this is not an encrypted archive")
    }

    @Test(
        "A wrong setting is reported before anything is done",
        arguments: [
            (["IDENTITY": "no-key.txt"], "there is no identity file 'no-key.txt'"),
            (["ALLOWED_SIGNERS": "nobody"], "there is no file with signers 'nobody'"),
            (["LIMIT": "1 GB"], "LIMIT must be a number of bytes, and it is '1 GB'"),
            (["ARCHIVE": "nowhere.kcb"], "there is no archive 'nowhere.kcb'"),
            (["PATH": "bin"], "the program 'age' is not installed"),
        ])
    func settings(_ changed: [String: String], message: String) throws {
        let folder = try TemporaryFolder()
        let usual = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "ARCHIVE": home.path("laptop.kcb"),
            "IDENTITY": home.path("key.txt"),
        ]
        let outcome = try ExternalProgram.run(
            "bash", [RecoveryRecipe.path], environment: usual.merging(changed) { $1 }, in: folder.path)
        #expect(outcome.status == 1)
        #expect(outcome.errorText.hasPrefix("recover: \(message)"), "\(outcome.errorText)")
        #expect(try folder.list() == [])
    }
}
