import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Verbs that changed something when standard output fails", .waitsForPrograms)
struct LostOutputTests {
    /// A verb that changes something.
    struct Case: Sendable, CustomTestStringConvertible {
        /// The command lines before it, without quotation marks.
        let before: [String]
        let line: String
        /// False if the verb has no JSON for this form of it.
        var hasJSON = true

        init(_ before: [String], _ line: String) {
            self.before = before
            self.line = line
        }

        init(_ line: String, hasJSON: Bool = true) {
            self.init([], line)
            self.hasJSON = hasJSON
        }

        var testDescription: String { line }
    }

    static let cases = [
        Case("create a.kcb --unencrypted"),
        Case("create --to backups --unencrypted"),
        Case("create --home --to backups --unencrypted"),
        Case(["create --home --to backups --unencrypted", "item delete --service a"], "restore --home backups"),
        Case(["create a.kcb --unencrypted", "item delete --service a"], "restore a.kcb"),
        Case(["create a.kcb --unencrypted"], "restore a.kcb --keychain new"),
        Case(["item delete --service a"], "undo"),
        Case(["item delete --service a"], "undo"),
        Case("import logins.csv"),
        Case(["create a.kcb --passphrase file:old"], "copy a.kcb --to nas:backups"),
        Case("export -o out.csv --to csv --plaintext"),
        Case(["create a.kcb --passphrase file:old"], "rekey a.kcb --passphrase file:old --new-passphrase file:new"),
        Case(
            ["create --to backups --unencrypted", "create --to backups --unencrypted"], "prune backups --keep-last 1"),
        Case(
            ["create --to backups --unencrypted", "create --to backups --unencrypted", "prune backups --keep-last 1"],
            "prune backups --undo"),
        Case(["create --to backups --unencrypted"], "list backups --rebuild"),
        Case("device adopt --keep-key"),
        Case("device adopt --new-key"),
        Case("device export -o key.age --passphrase file:old"),
        Case(["device export -o key.age --passphrase file:old"], "device import key.age --passphrase file:old --yes"),
        Case("device seal --without-archive --yes"),
        Case(["device seal --without-archive --yes"], "device unseal --confirm DEVICE"),
        Case("device trust KC-ABCD-EFGH-IJKL-MNOP-QRST laptop"),
        Case(["device trust KC-ABCD-EFGH-IJKL-MNOP-QRST laptop"], "device untrust KC-ABCD-EFGH-IJKL-MNOP-QRST"),
        Case("keychain create other --no-passcode"),
        Case("keychain default login"),
        Case("keychain set-passcode --new-passcode file:new"),
        Case("keychain delete --confirm login"),
        Case(["keychain create other --passcode file:old"], "keychain unlock other --passcode file:old"),
        Case(
            ["keychain create other --passcode file:old", "keychain unlock other --passcode file:old"],
            "keychain lock other"),
        Case(["keychain create other --passcode file:old"], "keychain lock --all"),
        Case(
            ["keychain create other --passcode file:old"],
            "keychain set-settings other --lock-after 1m --passcode file:old"),
        Case(
            ["keychain create other --passcode file:old"],
            "keychain escrow enable other -o escrow --passcode file:old"),
        Case(
            [
                "keychain create other --passcode file:old",
                "keychain escrow enable other -o escrow --passcode file:old",
            ], "keychain escrow revoke other"),
        Case(
            ["keychain create other --passcode file:old"],
            "keychain token add blue --keychain other --passcode file:old"),
        Case(
            [
                "keychain create other --passcode file:old",
                "keychain token add blue --keychain other --passcode file:old",
            ], "keychain token remove blue --keychain other"),
        Case("item add --service b --generate"),
        Case("import items.jsonl"),
        Case("item update --service a --set account=b"),
        Case("item delete --service a"),
        Case("keygen -o key.txt"),
        Case("recovery make -o kit.txt"),
        Case(["recovery make -o kit.txt"], "recovery retire KIT"),
        Case("schedule add nightly --to backups --unencrypted"),
        Case(["schedule add nightly --to backups --unencrypted"], "schedule install nightly"),
        Case(["schedule add nightly --to backups --unencrypted"], "schedule edit nightly --at hourly"),
        Case(["schedule add nightly --to backups --unencrypted"], "schedule remove nightly"),
        Case(["schedule add nightly --to backups --unencrypted"], "run nightly"),
        Case("protect files old --class none"),
        Case("protect identity -o identity.txt"),
        Case(["protect old --class none"], "unprotect old.age"),
    ]

    /// The verbs whose only result is what they print, and those that note nothing but that they looked.
    static let reading: Set<[String]> = [
        ["inspect"], ["verify"], ["diff"], ["doctor"], ["status"], ["fleet", "status"], ["fleet", "index"],
        ["fleet", "search"], ["fleet", "export"], ["list"], ["recovery", "list"], ["recovery", "check"],
        ["item", "list"], ["item", "find"], ["keychain", "list"], ["keychain", "info"], ["keychain", "token", "list"],
        ["device", "show"],
        ["device", "list"], ["protect", "status"], ["schedule", "list"], ["schedule", "show"], ["exec"],
    ]

    @Test("A verb that did its work says so if its result cannot be printed", arguments: cases, [false, true])
    func doneIsSaid(of tried: Case, asJSON: Bool) throws {
        if asJSON, !tried.hasJSON { return }
        let home = try TestHome()
        let rclone = try FakeRclone(home)
        for (name, text) in [
            ("old", "old"), ("new", "new"),
            ("logins.csv", "name,url,username,password,note\na,https://a.example,ada,one,\n"),
            (
                "items.jsonl",
                #"{"class":"genp","uuid":"0b1b25a8-d837-4f51-a693-4442d2b04834","attributes":{"svce":"c"},"secret":"s"}"#
                    + "\n"
            ),
        ] { try home.write(name, text) }
        for line in ["keychain create --no-passcode", "item add --service a --generate"] + tried.before {
            let outcome = home.run(line)
            try #require(outcome.status == .ok, "\(line): \(outcome.messages)")
        }
        var world = home.world(environment: rclone.environment)
        let messages = CollectedOutput()
        world.messages = messages
        world.output = FailingOutput(code: 28)
        let kit = home.run("recovery list").text.firstMatch(of: /[0-9a-f]{4}-[0-9a-f]{4}/).map { String($0.0) }
        let device = home.run("device show").text.firstMatch(of: /KC-[A-Z2-7-]+/).map { String($0.0) }
        let line = tried.line.replacing("KIT", with: kit ?? "").replacing("DEVICE", with: device ?? "")
        let words = line.split(separator: " ").map(String.init)
        let status = CommandLineTool.program.run(words + (asJSON ? ["--json"] : []), in: world)
        // Without '--json', most verbs print nothing if no user is watching.
        if status == .ok, !asJSON { return }
        #expect(status == .io, "\(messages.text)")
        let error = messages.text.split(separator: "\n").first { $0.hasPrefix("kcbackup: error: ") } ?? ""
        #expect(error.contains(", but standard output does not accept the result"), "\(messages.text)")
        #expect(messages.text.contains("do not repeat it"))
        #expect(!messages.text.contains("make room"))
    }

    @Test("Every verb changes nothing, or is tried with a standard output that fails")
    func everyVerbIsTried() {
        let tried = Self.cases.map { $0.line.split(separator: " ").map(String.init) }
        for path in verbPaths() where !Self.reading.contains(path) {
            #expect(tried.contains { $0.starts(with: path) }, "\(path.joined(separator: " ")) is not tried")
        }
    }
}
