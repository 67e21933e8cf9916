import Foundation
import KCAgeEncryption
import KCBackupTasks
import KCByteStreams
import KCConsole
import KCLocalKeychains
import KCStoreTasks
import KCTerminal
import KCTestSupport
import Synchronization
import Testing

@testable import KCRecoveryKits
@testable import kcbackup

@Suite("Recovery kits")
struct RecoveryKitTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write(
            "items.jsonl",
            """
            {"class":"genp","attributes":{"svce":"Chat","acct":"ada"},"secret":"travels"}
            {"class":"genp","attributes":{"svce":"Bank","acct":"ada","pdmn":"aku"},"secret":"bound"}

            """)
        #expect(home.run("keychain create --no-passcode").status == .ok)
        #expect(home.run("import items.jsonl").status == .ok)
    }

    /// Makes a kit; its public key, and the four lines that are printed.
    private func make(_ name: String = "kit.txt") throws -> (recipient: String, lines: [String]) {
        let outcome = home.run("recovery make -o \(name)")
        #expect(outcome.status == .ok, "\(outcome.messages)")
        let sheet = String(decoding: try home.folder.read("work/\(name)"), as: UTF8.self)
        let recipient = String(try #require(sheet.firstMatch(of: /age1\w+/)).0)
        #expect(outcome.messages.contains(recipient))
        return (recipient, sheet.matches(of: /(?m)^  [1-4]   [A-Z0-9 ]+$/).map { String($0.0) })
    }

    /// Runs a command line at a terminal.
    private func run(_ line: String, in home: TestHome, at terminal: ScriptedTerminal) -> TestHome.Outcome {
        home.run(line.split(separator: " ").map(String.init), terminal: terminal)
    }

    private func fingerprint() throws -> String {
        String(try #require(home.run("recovery list").text.firstMatch(of: /[0-9a-f]{4}-[0-9a-f]{4}/)).0)
    }

    @Test(
        "After the laptop is lost, the printed lines restore its backup on a new machine, all but ThisDeviceOnly items")
    func newMachine() throws {
        let kit = try make()
        #expect(kit.lines.count == 4)
        #expect(home.run("create -r \(kit.recipient) laptop.kcb").status == .ok)
        let other = try TestHome()
        try other.folder.write("work/laptop.kcb", home.folder.read("work/laptop.kcb"), mode: 0o600)
        #expect(other.run("keychain create --no-passcode").status == .ok)
        let terminal = ScriptedTerminal(answers: kit.lines.map { $0.lowercased() } + ["y"])
        let outcome = run("restore laptop.kcb -i tty", in: other, at: terminal)
        #expect(outcome.status == .ok, "\(outcome.messages)")
        #expect(terminal.unasked == 0)
        let items = other.run("item list")
        #expect(items.text.contains("Chat") && !items.text.contains("Bank"))
    }

    @Test("A check types the kit in, reads archives with it to their ends, and keeps the date")
    func checked() throws {
        let kit = try make()
        #expect(home.run("create -r \(kit.recipient) laptop.kcb").status == .ok)
        #expect(home.run("recovery list").text.contains("never"))
        let outcome = run("recovery check laptop.kcb", in: home, at: ScriptedTerminal(answers: kit.lines))
        #expect(outcome.status == .ok, "\(outcome.messages)")
        #expect(!home.run("recovery list").text.contains("never"))
        home.pass(hours: 24 * 400)
        #expect(home.run("recovery list").text.contains("due"))
    }

    @Test("A line with a mistake is asked for again, with what is wrong, and without repeating what was typed")
    func mistakes() throws {
        let kit = try make()
        let second = kit.lines[1]
        var swapped = Array(second)
        // A mistake at the end of a line is always noticed.
        swapped[swapped.count - 1] = swapped.last == "Q" ? "P" : "Q"
        let terminal = ScriptedTerminal(
            answers: [
                kit.lines[0], String(swapped), "2 OOOO", String(second.dropFirst(4).dropLast(2)), second, kit.lines[2],
                kit.lines[3],
            ])
        let outcome = run("recovery check", in: home, at: terminal)
        #expect(outcome.status == .ok, "\(outcome.messages)")
        let asked = terminal.asked.joined()
        #expect(
            asked.contains("does not fit") && asked.contains("'0' looks like it")
                && asked.contains("Line 2 has 17 characters, including the one at its end; you typed "))
        for line in kit.lines { #expect(!asked.contains(String(line.dropFirst(6).prefix(9)))) }
        #expect(terminal.asked.count == 7)
    }

    @Test("A line that is wrong on the sheet is put right if the others prove it and a yes confirms it")
    func repaired() throws {
        let kit = try make()
        #expect(home.run("create -r \(kit.recipient) laptop.kcb").status == .ok)
        let wrong = try #require(misread(kit.lines[1], number: 2))
        var illegible = Array(kit.lines[2])
        illegible[7] = "?"
        let lines = [kit.lines[0], wrong, wrong, String(illegible), kit.lines[3]]
        let terminal = ScriptedTerminal(answers: lines + ["n"] + lines + ["y"])
        let outcome = run("recovery check laptop.kcb", in: home, at: terminal)
        #expect(outcome.status == .ok && terminal.unasked == 0, "\(outcome.messages)")
        let proposed = terminal.asked.filter { $0.contains("would be right") }
        #expect(proposed.count == 2)
        for line in kit.lines[1...2] { #expect(proposed.allSatisfy { $0.contains(line) }) }
        #expect(proposed.allSatisfy { !$0.contains(kit.lines[0]) && !$0.contains(kit.lines[3]) })
    }

    @Test("Lines of two kits are no key, and whoever mistypes for ever is told so with the exit code of a wrong key")
    func twoKits() throws {
        let (one, two) = (try make("one.txt"), try make("two.txt"))
        let mixed = [one.lines[0], one.lines[1], two.lines[2], one.lines[3]]
        let terminal = ScriptedTerminal(answers: mixed + one.lines)
        #expect(run("recovery check", in: home, at: terminal).status == .ok)
        #expect(terminal.asked.contains { $0.contains("not the key of one kit") })
        let stubborn = ScriptedTerminal(answers: Array(repeating: "QQQQ", count: 30))
        #expect(run("recovery check", in: home, at: stubborn).status == .wrongKey)
    }

    @Test("A check fails if the kit does not open the archive, or if it is damaged, and keeps no date")
    func failing() throws {
        #expect(home.run("keygen -o other").status == .ok)
        let other = String(try #require(home.run("keygen").text.firstMatch(of: /age1\w+/)).0)
        #expect(home.run("create -r \(other) other.kcb").status == .ok)
        let kit = try make()
        #expect(home.run("create --unencrypted here.kcb").status == .ok)
        #expect(home.run("create -r \(kit.recipient) cut.kcb").status == .ok)
        let whole = try home.folder.read("work/cut.kcb")
        try home.folder.write("work/cut.kcb", Array(whole.dropLast(2_000)), mode: 0o600)
        for (archive, status) in [
            ("other.kcb", ExitStatus.wrongKey), ("here.kcb", .usage), ("cut.kcb", .damaged),
            ("missing.kcb", .notFound),
        ] {
            let terminal = ScriptedTerminal(answers: kit.lines)
            let outcome = run("recovery check \(archive)", in: home, at: terminal)
            #expect(outcome.status == status, "\(archive): \(outcome.messages)")
            #expect(terminal.asked.isEmpty == (status == .notFound), "no kit is typed in vain")
        }
        #expect(home.run("recovery list").text.contains("never"))
        #expect(home.run("recovery check -i other").status == .wrongKey)
    }

    @Test("On a machine that knows no kit, an archive shows what the key opens")
    func elsewhere() throws {
        let kit = try make()
        #expect(home.run("create -r \(kit.recipient) laptop.kcb").status == .ok)
        let other = try TestHome()
        try other.folder.write("work/laptop.kcb", home.folder.read("work/laptop.kcb"), mode: 0o600)
        let outcome = run("recovery check laptop.kcb", in: other, at: ScriptedTerminal(answers: kit.lines))
        #expect(outcome.status == .ok, "\(outcome.messages)")
        #expect(run("recovery check", in: other, at: ScriptedTerminal(answers: kit.lines)).status == .wrongKey)
    }

    @Test("A kit is in the list until for ever, and is retired once")
    func retired() throws {
        _ = try make()
        let fingerprint = try fingerprint()
        #expect(home.run("recovery retire 0000-0000").status == .notFound)
        #expect(home.run("recovery retire \(fingerprint.uppercased())").status == .ok)
        #expect(home.run("recovery retire \(fingerprint)").status == .exists)
        #expect(home.run("recovery list").text.contains("retired"))
    }

    @Test("The key is on the sheet alone, which nobody else can read and which replaces no file")
    func onSheetAlone() throws {
        try home.write("taken", "mine")
        #expect(home.run("recovery make -o taken").status == .exists)
        #expect(home.run("recovery list").text == "")
        let kit = try make()
        let attributes = try FileManager.default.attributesOfItem(atPath: home.path("kit.txt"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let start = Array(kit.lines[0].dropFirst(6).filter { $0 != " " }.utf8)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: home.folder.path("home"))
        var count = 0
        for path in paths.map({ home.folder.path("home/\($0)") }) where Path.isFile(path) {
            let bytes = try Data(contentsOf: URL(filePath: path))
            #expect(bytes.firstRange(of: Data(start)) == nil, "\(path)")
            count += 1
        }
        #expect(count > 2)
    }

    @Test("A kit opens whole archives, so it is refused as a key that opens the metadata alone")
    func inspecting() throws {
        let kit = try make()
        let other = String(try #require(home.run("keygen").text.firstMatch(of: /age1\w+/)).0)
        let outcome = home.run("create -r \(other) --inspect-recipient \(kit.recipient) names.kcb")
        #expect(outcome.status == .usage && outcome.messages.contains("recovery kit"), "\(outcome.messages)")
    }

    @Test("A file with several keys checks no kit, since another of them may have opened the archive")
    func severalKeys() throws {
        let kit = try make()
        #expect(home.run("keygen -o other").status == .ok)
        let key =
            KitText.prefix(.x25519)
            + kit.lines.map { $0.split(separator: " ").dropFirst().dropLast().joined() }.joined()
        let other = String(decoding: try home.folder.read("work/other"), as: UTF8.self)
        try home.write("both", "\(key)\n\(other)")
        #expect(home.run("recovery check -i both").status == .usage)
        // An identity of a plugin is no key of a kit, and may have opened the archive, too.
        try home.write("both", "\(key)\n\(home.run("protect identity --class none").text)")
        let refused = home.run("recovery check -i both")
        #expect(refused.status != .ok && refused.messages.contains("plugin"), "\(refused.messages)")
        #expect(home.run("recovery list").text.contains("never"))
    }

    @Test("If the list of kits cannot be read, no sheet is written")
    func notEntered() throws {
        _ = try make("first.txt")
        let folder = home.folder.path("home/.local/share/kcbackup")
        let name = try #require(try Path.names(in: folder).first { $0.hasPrefix("recovery-kits-") })
        var text = try home.folder.read("home/.local/share/kcbackup/\(name)")
        text[text.count / 2] ^= 1
        try home.folder.write("home/.local/share/kcbackup/\(name)", text, mode: 0o600)
        #expect(home.run("recovery make -o second.txt").status == .damaged)
        #expect(!Path.isFile(home.path("second.txt")))
        #expect(home.run("recovery make").text.isEmpty)
    }

    /// Looks at the list of kits when the sheet is written.
    private final class WatchedOutput: TextOutput {
        private let list: @Sendable () -> [Bool]
        let seen = Mutex<[Bool]>([])

        init(_ list: @escaping @Sendable () -> [Bool]) { self.list = list }

        func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
            let found = list()
            seen.withLock { $0 = found }
        }
    }

    /// Whether the sheet of each kit is known to be written.
    private static func printed(in home: TestHome) -> [Bool] {
        let device = LocalDevice(home.world().machine)
        return (try? LocalKits(of: device.key(), at: device).list().map(\.isPrinted)) ?? []
    }

    @Test("A kit is in the list before its sheet is written, so that no sheet is of a kit for which no backup is made")
    func enteredFirst() throws {
        let home = home
        let output = WatchedOutput { Self.printed(in: home) }
        var world = home.world()
        world.output = output
        #expect(CommandLineTool.program.run(["recovery", "make"], in: world) == .ok)
        #expect(output.seen.withLock { $0 } == [false])
        #expect(Self.printed(in: home) == [true])
        world.output = FailingOutput(code: 28)
        #expect(CommandLineTool.program.run(["recovery", "make"], in: world) == .io)
        #expect(Self.printed(in: home) == [true])
        #expect(home.run("recovery make -o none/kit.txt").status == .notFound)
        #expect(Self.printed(in: home) == [true])
    }

    @Test("After a run that was ended, the next one says what to do with its sheet, which backups are made for")
    func endedRun() throws {
        let kit = try make()
        let device = LocalDevice(home.world().machine)
        try LocalKits(of: device.key(), at: device).change { $0[0].isPrinted = false }
        #expect(home.run("recovery list").text.contains("not printed"))
        let again = home.run("recovery make -o kit.txt")
        #expect(again.status == .exists)
        #expect(again.messages.contains("try the sheet with 'kcbackup recovery check'"), "\(again.messages)")
        #expect(home.run("create -r \(kit.recipient) a.kcb").status == .ok)
        let key =
            KitText.prefix(.x25519)
            + kit.lines.map { $0.split(separator: " ").dropFirst().dropLast().joined() }.joined()
        try home.write("key", key + "\n")
        #expect(home.run("recovery check -i key").status == .ok)
        #expect(Self.printed(in: home) == [true])
        #expect(!home.run("recovery make -o second.txt").messages.contains("was ended"))
    }

    @Test("With what the sheet says, Debian's age opens an archive without kcbackup", .waitsForPrograms)
    func withoutProgram() throws {
        let kit = try make()
        #expect(home.run("create -r \(kit.recipient) laptop.kcb").status == .ok)
        let key = kit.lines.map { line in
            line.split(separator: " ").dropFirst().dropLast().joined()
        }.joined()
        #expect(key.utf8.count == KitText.lineLengths.reduce(0, +))
        try home.write("key.txt", KitText.prefix(.x25519) + key + "\n")
        let script = "tar -xf laptop.kcb && age -d -i key.txt secrets.jsonl.gz.age | gzip -dc"
        let outcome = try ExternalProgram.run("/bin/sh", ["-c", script], in: home.workingFolder)
        #expect(outcome.status == 0)
        // "travels" in base64.
        #expect(String(decoding: outcome.output, as: UTF8.self).contains("dHJhdmVscw"))
    }

    @Test("Archives are made for live kits beside any other key, and a folder's nightly run goes on without a question")
    func madeForKits() throws {
        let other = String(try #require(home.run("keygen").text.firstMatch(of: /age1\w+/)).0)
        #expect(home.run("create -r \(other) --to backups").status == .ok)
        #expect(home.run("schedule add nightly -r \(other) --to backups").status == .ok)
        let kit = try make()
        let nightly = home.run("run nightly -v")
        #expect(nightly.status == .ok, "\(nightly.messages)")
        #expect(!nightly.messages.contains("never tried"))
        try home.write("passphrase", "orbit velvet\n")
        let created = home.run("create laptop.kcb --passphrase file:passphrase -v")
        #expect(created.status == .ok)
        #expect(created.messages.contains("was never tried"))
        // As from cron, until it is a year old.
        let silent = home.run("create cron.kcb --passphrase file:passphrase")
        #expect(silent.status == .ok && !silent.messages.contains("never tried"), "\(silent.messages)")
        let names = try Path.names(in: home.path("backups")).filter { $0.hasSuffix(".kcb") }.sorted()
        let newest = try #require(names.last)
        for archive in ["laptop.kcb", "backups/\(newest)"] {
            let outcome = run("recovery check \(archive)", in: home, at: ScriptedTerminal(answers: kit.lines))
            #expect(outcome.status == .ok, "\(archive): \(outcome.messages)")
        }
        #expect(!home.run("create again.kcb --passphrase file:passphrase -v").messages.contains("never tried"))
    }

    @Test("A passphrase is still asked for where only a kit would open the archive, and a retired kit opens no new one")
    func notAlone() throws {
        let kit = try make()
        #expect(home.run("create laptop.kcb").status == .usage)
        try home.write("passphrase", "orbit velvet\n")
        #expect(home.run("recovery retire \(try fingerprint())").status == .ok)
        #expect(home.run("create later.kcb --passphrase file:passphrase").status == .ok)
        let outcome = run("recovery check later.kcb", in: home, at: ScriptedTerminal(answers: kit.lines))
        #expect(outcome.status == .wrongKey, "\(outcome.messages)")
    }

    @Test("With '--if-changed', a new kit makes a new archive of what has not changed, and a rekey keeps it")
    func existing() throws {
        let other = String(try #require(home.run("keygen -o key").messages.firstMatch(of: /age1\w+/)).0)
        #expect(home.run("create -r \(other) --to backups --if-changed").status == .ok)
        let kit = try make()
        #expect(home.run("create -r \(other) --to backups --if-changed").status == .ok)
        #expect(home.run("create -r \(other) --to backups --if-changed").status == .ok)
        let names = try Path.names(in: home.path("backups")).filter { $0.hasSuffix(".kcb") }.sorted()
        #expect(names.count == 2)
        let rekeyed = home.run("rekey backups -i key -r \(other)")
        #expect(rekeyed.status == .ok, "\(rekeyed.messages)")
        for name in names {
            let outcome = run("recovery check backups/\(name)", in: home, at: ScriptedTerminal(answers: kit.lines))
            #expect(outcome.status == .ok, "\(outcome.messages)")
        }
    }

    @Test("A list of kits that something else changed ends 'create', so that no archive is made without them")
    func alteredList() throws {
        _ = try make()
        let folder = home.folder.path("home/.local/share/kcbackup")
        let name = try #require(try Path.names(in: folder).first { $0.hasPrefix("recovery-kits-") })
        var text = try home.folder.read("home/.local/share/kcbackup/\(name)")
        text[text.count / 2] ^= 1
        try home.folder.write("home/.local/share/kcbackup/\(name)", text, mode: 0o600)
        let outcome = home.run("create laptop.kcb -r \(X25519Key.any)")
        #expect(outcome.status == .damaged, "\(outcome.messages)")
        #expect(!Path.isFile(home.path("laptop.kcb")))
        #expect(
            home.run("doctor").messages.contains("list of recovery kits") || home.run("doctor").text.contains("list of")
        )
    }
}

/// A printed line with its first character changed, so that the one at its end does not fit.
func misread(_ line: String, number: Int) -> String? {
    var letters = Array(line)
    for letter in "QPZRY9X8GF2TVDW0" where letter != line.dropFirst(6).first {
        letters[6] = letter
        let typed = SecretBytes(copying: Array(String(letters[4...]).utf8.filter { $0 != UInt8(ascii: " ") }))
        if !typed.withBytes({ KitText.hasCheck($0, number: number) }) { return String(letters) }
    }
    return nil
}

/// A public key to which nobody has the identity.
private enum X25519Key {
    static let any = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
}
