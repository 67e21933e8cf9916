import Foundation
import KCBackupTasks
import KCByteStreams
import KCKeychainModel
import KCLocalKeychains
import KCReportText
import KCStoreTasks
import KCTerminal
import KCTestSupport
import Testing

@testable import KCBackupCatalogue
@testable import kcbackup

/// Names that a shell, a service manager, cron or a parser of lines would obey if they were not quoted byte for byte.
@Suite("Hostile names", .waitsForPrograms)
struct HostileNameTests {
    // A mark that closes the quotes of a script which replaced characters, and a command.
    private static let fileNames = [
        "a'\u{301};touch ran;'\u{301}", "b`\u{301}touch ran`\u{301}", "c\"\u{301};touch ran;\"\u{301}", "d$(touch ran)",
        "e\r\ntouch ran\r\n", "f\\\u{301}';touch ran;'", "-g;touch ran",
    ]

    @Test("The confirmed name is compared byte by byte, since two spellings are two keychains")
    func otherSpelling() throws {
        let home = try TestHome()
        #expect(home.run(["keychain", "create", "caf\u{e9}", "--no-passcode"]).status == .ok)
        #expect(home.run(["keychain", "delete", "caf\u{e9}", "--confirm", "cafe\u{301}"]).status == .refused)
        #expect(home.run(["keychain", "delete", "caf\u{e9}", "--confirm", "caf\u{e9}"]).status == .ok)
    }

    @Test(
        "A file name in a password store runs nothing, whatever reads the store",
        .enabled(if: ExternalProgram.locate("gpg") != nil, "gpg is needed"))
    func store() throws {
        let folder = try TemporaryFolder()
        let script = """
            set -eu
            program=$1
            shift
            mkdir store gnupg
            chmod 700 gnupg
            export GNUPGHOME="$PWD/gnupg" HOME="$PWD"
            trap 'gpgconf --kill gpg-agent' EXIT
            printf 's2k-count 65536\\npinentry-program /bin/false\\n' > gnupg/gpg-agent.conf
            gpg --batch --quiet --passphrase '' --quick-gen-key ada future-default
            echo ada > store/.gpg-id
            for name
            do
                mkdir "store/$name"
                echo secret | gpg --batch --quiet --always-trust -r ada -e > "store/$name/$name.gpg"
            done
            "$program" keychain create --no-passcode -q
            "$program" keygen -o key -q
            recipient=$(sed -n 's/^# public key: //p' key)
            "$program" inspect store > inspected
            "$program" import --dry-run store
            "$program" create --keychain file:store -r "$recipient" store.kcb
            "$program" schedule add nightly --keychain file:store -r "$recipient" --to backups
            "$program" run nightly
            "$program" status --prometheus > metrics
            "$program" inspect store.kcb -i key > inspected
            """
        let program = try ExternalProgram.built("kcbackup")
        let outcome = try ExternalProgram.run(
            "sh", ["-c", script, "sh", program] + Self.fileNames, environment: ["PATH": "/usr/bin:/bin"],
            in: folder.path)
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errorText)")
        #expect(try folder.list().filter { $0.exact.hasSuffix("/ran") || $0 == "ran" } == [])
        #expect(try folder.list().contains { $0.exact.hasPrefix("backups/") && $0.exact.hasSuffix(".kcb") })
    }

    @Test("A folder whose name has a control character gets neither a unit nor a line of a crontab")
    func controlCharacters() throws {
        for mark in ["\r\n", "\r", "\u{1b}"] {
            let home = try TestHome()
            #expect(home.run("keychain create --no-passcode").status == .ok)
            let folder = home.path("b\(mark)ExecStartPre=touch")
            let added = home.run(["schedule", "add", "nightly", "--unencrypted", "--to", folder])
            if mark.utf8.contains(UInt8(ascii: "\n")) {
                #expect(added.status == .usage)
                continue
            }
            #expect(added.status == .ok, "\(added.messages)")
            let shown = home.run("schedule show nightly --system")
            #expect(shown.status == .usage && shown.text.isEmpty)
            #expect(shown.messages.hasPrefix("kcbackup: error: '"))
            #expect(shown.messages.contains("has a control character, which a systemd unit cannot have"))
        }
    }

    @Test("Names in metrics cannot end a label or a line")
    func metrics() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        let names = ["\"\u{301} 1\r\nup{job=\"x\"} 9", "a\\\u{301}", "K", "\u{212a}"].map { "secret-service:" + $0 }
        let session = Session(home.world(), OutputStyle())
        let device = try #require(try LocalDevice(session.machine).keyIfAny())
        for (number, name) in names.enumerated() {
            let file = CatalogueFile(
                of: home.path("b\(number)"), in: session.machine.catalogues, device: device)
            var catalogue = Catalogue(folder: file.folder)
            catalogue.pin = BackupPin(isOfAll: false, mode: .unencrypted, keys: [], subjects: ["desktop": name])
            try Path.makeFolder(session.machine.catalogues)
            try file.save(catalogue)
        }
        let printed = home.run("status --prometheus")
        #expect(printed.status == .ok)
        let lines = printed.text.exact.split(separator: "\n").filter { !$0.exact.hasPrefix("#") }
        let values = lines.filter { $0.exact.hasPrefix("kcbackup_keychain_last_good_timestamp_seconds{") }
        #expect(values.count == names.count + 1)
        for name in names {
            let label = "{keychain=\"\(Quoted.metricLabel(name))\"} 0"
            #expect(values.count { $0.exact.hasSuffix(label) } == 1, "\(name)")
        }
        for line in lines {
            #expect(
                line.wholeMatch(
                    of: /kcbackup_[a-z_]+(?:\{(?:job|keychain)="(?:[^"\\]|\\.)*"\})? [0-9]+/.matchingSemantics(
                        .unicodeScalar))
                    != nil, "\(line)")
        }
    }

    @Test("Keychains whose names are canonically equivalent are backed up, pruned and shown each on its own")
    func canonicalEquivalents() throws {
        let home = try TestHome()
        // The Kelvin sign equals K, and a syllable its letters, if characters are compared.
        let names = ["K", "\u{212a}", "\u{ac01}", "\u{1100}\u{1161}\u{11a8}"]
        for name in names {
            #expect(home.run(["keychain", "create", name, "--no-passcode"]).status == .ok, "\(name)")
            try home.write("secret", name)
            let added = home.run([
                "item", "add", "--service", "forum", "--account", "ada", "--secret-file", "secret", "--keychain", name,
            ])
            #expect(added.status == .ok, "\(added.messages)")
        }
        let listed = home.run("keychain list --json").text
        for name in names { #expect(listed.exact.contains("\"\(name)\"")) }
        for number in 1...2 {
            let made = home.run("create --all --unencrypted --to b")
            #expect(made.status == .ok, "\(made.messages)")
            #expect(try home.files("b").count == names.count * number)
        }
        #expect(home.run("schedule add nightly --all --unencrypted --to b --keep-last 1").status == .ok)
        let ran = home.run("run nightly -v")
        #expect(ran.status == .ok, "\(ran.messages)")
        let left = try home.files("b")
        #expect(left.count == names.count)
        for name in names {
            let own = left.filter { $0.exact.hasPrefix(name + "-KC-") }
            #expect(own.count == 1, "\(name)")
            let shown = home.run(["status", "--prometheus"]).text
            let metric = "kcbackup_keychain_last_good_timestamp_seconds{keychain=\"\(name)\"}"
            #expect(shown.exact.contains(metric) && !shown.exact.contains(metric + " 0\n"), "\(name)")
            let deleted = home.run(["item", "delete", "--service", "forum", "--yes", "--keychain", name])
            #expect(deleted.status == .ok, "\(deleted.messages)")
            let restored = home.run(["restore", "b/\(own.first ?? "")", "--keychain", name])
            #expect(restored.status == .ok, "\(restored.messages)")
            let found = home.run([
                "item", "find", "--service", "forum", "--keychain", name, "--reveal", "--json",
            ])
            #expect(found.text.exact.contains("\"secret\":\"\(name)\""), "\(found.text)\(found.messages)")
        }
    }

    @Test("JSON in a pipe has no character that a terminal obeys, and loses none")
    func json() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        let text =
            "a\u{85}\u{9b}31m\u{202e}\u{2066}\u{200b}\u{7f}\u{1b}]0;\u{e000}\u{e0041}\u{2028}é각\u{1f469}\u{200d}\u{1f4bb}"
        try home.write("secret", text)
        let added = home.run([
            "item", "add", "--service", text, "--account", "ada", "--secret-file", "secret", "--json",
        ])
        #expect(added.status == .ok, "\(added.messages)")
        let listed = home.run("item list --json")
        let found = home.run("item find --account ada --reveal --json")
        let failed = home.run(["inspect", home.path(text), "--json"])
        for printed in [added, listed, found, failed] {
            for scalar in printed.text.unicodeScalars where scalar != "\n" {
                #expect(
                    !["Cc", "Cf", "Zl", "Zp", "Co", "Cn"].contains(scalar.properties.generalCategory.code),
                    "\(scalar.value)")
            }
            #expect(printed.text.exact.contains("\\u202e\\u2066") && printed.text.exact.contains("é각"))
        }
        let object = try JSONSerialization.jsonObject(with: Data(found.text.utf8)) as? [String: [[String: Any]]]
        let item = try #require(object?["items"]?.first)
        #expect((item["secret"] as? String)?.exact == text.exact)
        #expect(((item["attributes"] as? [String: Any])?["svce"] as? String)?.exact == text.exact)
        try home.write("items.jsonl", found.text)
        #expect(home.run("item delete --account ada --yes").status == .ok)
        #expect(home.run("import items.jsonl").status == .ok)
        #expect(home.run("item find --account ada --reveal --json").text == found.text)
    }

    @Test("A path in a hint is one word of each shell, and the same path")
    func hints() throws {
        let marks = [
            "`\u{301}touch ran`", "$(touch ran)", "\"\u{301};touch ran;\"", "'\u{301};touch ran;'", "\\", "!!", "a b",
            "é",
            "e\u{301}", "\r\n", "\u{202e}", "\u{1b}[2J", "-rf", "~", "\u{1fef}touch ran\u{1fef}", "x\u{9b}", "K",
            "\u{212a}",
        ]
        let paths = marks.map { "/tmp/" + $0 + "/x" } + marks.filter { $0.utf8.last != UInt8(ascii: "\n") }
        let folder = try TemporaryFolder()
        for shell in ["sh", "bash", "zsh"].filter({ ExternalProgram.locate($0) != nil }) {
            let words = paths.map { shellWord($0) }
            for word in words {
                #expect(
                    displayed(word.exact.replacing("\\", with: ""), limit: .max).exact
                        == word.exact.replacing("\\", with: "").exact)
            }
            let outcome = try ExternalProgram.run(
                shell, ["-c", "printf '%s\\0' " + words.joined(separator: " ")],
                environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"], in: folder.path)
            let found = outcome.output.split(separator: 0).map { String(decoding: $0, as: UTF8.self).exact }
            #expect(found == paths.map { ($0.exact.hasPrefix("-") ? "./" + $0 : $0).exact })
        }
        #expect(try folder.list() == [])
    }

    @Test("An archive given to 'import' is named once, with the command that restores it")
    func archiveForItems() throws {
        let home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("create x.kcb --unencrypted").status == .ok)
        let refused = home.run("import x.kcb")
        #expect(refused.status == .refused)
        #expect(refused.messages == home.run("import x.kcb").messages)
        #expect(refused.messages.contains("'x.kcb' is a kcbackup archive, not a file of another program\n"))
        #expect(refused.messages.contains("kcbackup: hint: 'kcbackup restore x.kcb' restores it"))
    }
}

extension TestHome {
    /// The names of the archives in a folder.
    fileprivate func files(_ name: String) throws -> [String] {
        try Path.names(in: path(name)).filter { $0.exact.hasSuffix(".kcb") }
    }
}

extension Unicode.GeneralCategory {
    /// The code of a category whose characters are escaped; empty for others.
    fileprivate var code: String {
        switch self {
        case .control: "Cc"
        case .format: "Cf"
        case .lineSeparator: "Zl"
        case .paragraphSeparator: "Zp"
        case .privateUse: "Co"
        case .unassigned: "Cn"
        default: ""
        }
    }
}
