import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("What 'status' and 'doctor' say about recovery kits", .waitsForPrograms)
struct RecoveryStatusTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        #expect(home.run("keychain create --no-passcode").status == .ok)
    }

    /// Makes a kit and writes its key into a file; its fingerprint.
    private func make(_ name: String) throws -> String {
        let outcome = home.run("recovery make -o \(name).txt --comment <safe>")
        let sheet = String(decoding: try home.folder.read("work/\(name).txt"), as: UTF8.self)
        let lines = sheet.matches(of: /(?m)^  [1-4]   ([A-Z0-9 ]+)   [A-Z0-9]$/).map { $0.1.replacing(" ", with: "") }
        try home.write(name, "AGE-SECRET-KEY-1\(lines.joined())\n")
        return String(try #require(outcome.messages.firstMatch(of: /[0-9a-f]{4}-[0-9a-f]{4}/)).0)
    }

    @Test("Each live kit is shown with its last check: never, days ago, and due after a year")
    func shown() throws {
        #expect(!home.run("status").text.contains("KIT"))
        #expect(!home.run("status --prometheus").text.contains("recovery_kit"))
        let kit = try make("kit")
        let retired = try make("other")
        #expect(home.run("recovery retire \(retired)").status == .ok)
        let before = home.run("status")
        #expect(before.status == .ok)
        #expect(try before.text.contains(Regex("\(kit) .* never +- +<safe>")))
        #expect(!before.text.contains(retired))
        #expect(home.run("doctor").messages.contains("recovery kit \(kit) was never tried"))
        #expect(home.run("status --prometheus").text.contains("{kit=\"\(kit)\"} 0\n"))
        #expect(home.run("recovery check -i kit").status == .ok)
        home.pass(hours: 24 * 40)
        #expect(try home.run("status").text.contains(Regex("\(kit) .* 40 days +<safe>")))
        #expect(home.run("doctor -v").messages.contains("recovery kit \(kit) was tried 40 days ago"))
        #expect(try home.run("status --prometheus").text.contains(Regex("kit=\"\(kit)\"} [1-9]")))
        #expect(home.run("status --json").text.contains(#""fingerprint":"\#(kit)""#))
        home.pass(hours: 24 * 400)
        #expect(home.run("status").text.contains(", due"))
    }

    @Test("'create' has one line on all kits that nobody has tried, and none on those that were tried")
    func createWarnsOnce() throws {
        let kits = try [make("one"), make("two")]
        try home.write("passphrase", "lantern orbit 9 quarry mist\n")
        func lines(_ archive: String) -> [Substring] {
            home.run("create \(archive) --passphrase file:passphrase -v").messages.split(separator: "\n").filter {
                $0.contains("recovery kit")
            }
        }
        #expect(
            lines("a.kcb") == [
                "kcbackup: warning: 2 recovery kits open it too, and were not tried lately: \(kits[0]) and \(kits[1]): "
                    + "'kcbackup recovery check'"
            ])
        #expect(home.run("recovery check -i one").status == .ok)
        #expect(
            lines("b.kcb") == ["kcbackup: warning: recovery kit \(kits[1]) was never tried: 'kcbackup recovery check'"])
        #expect(home.run("recovery check -i two").status == .ok)
        #expect(lines("c.kcb") == [])
    }

    @Test("Among several kits, 'create' says of one alone what holds of it alone")
    func createNamesOne() throws {
        let kits = try [make("one"), make("two"), make("three")]
        home.pass(hours: 48)
        #expect(home.run("recovery check -i one").status == .ok)
        home.pass(hours: -48)
        try home.write("passphrase", "lantern orbit 9 quarry mist\n")
        let messages = home.run("create a.kcb --passphrase file:passphrase -v").messages
        #expect(messages.contains("recovery kit \(kits[0]) was last tried at a time in the future"), "\(messages)")
        #expect(messages.contains("2 recovery kits open it too"), "\(messages)")
    }

    @Test("If the list of kits was changed, 'status' shows all else, and ends with 13")
    func altered() throws {
        _ = try make("kit")
        let folder = home.folder.path("home/.local/share/kcbackup")
        let name = try #require(try Path.names(in: folder).first { $0.hasPrefix("recovery-kits-") })
        var text = try home.folder.read("home/.local/share/kcbackup/\(name)")
        text[text.count / 2] ^= 1
        try home.folder.write("home/.local/share/kcbackup/\(name)", text, mode: 0o600)
        let outcome = home.run("status")
        #expect(outcome.status == .damaged && outcome.text.contains("login"), "\(outcome.messages)")
        #expect(outcome.messages.contains("list of recovery kits"))
    }

    @Test("A check of a folder of a remote opens its newest archive, and of what the kit does not open says so")
    func remote() throws {
        let rclone = try FakeRclone(home)
        func run(_ line: String) -> TestHome.Outcome {
            home.run(line.split(separator: " ").map(String.init), environment: rclone.environment)
        }
        let other = String(try #require(home.run("keygen").text.firstMatch(of: /age1\w+/)).0)
        #expect(run("create -r \(other) --to backups").status == .ok)
        _ = try make("kit")
        #expect(run("copy backups --to nas:backups").status == .ok)
        #expect(run("recovery check -i kit nas:backups").status == .wrongKey)
        #expect(run("recovery list").text.contains("never"))
        #expect(run("create -r \(other) --to backups").status == .ok)
        #expect(run("copy backups --to nas:backups").status == .ok)
        let outcome = run("recovery check -i kit nas:backups -v")
        #expect(outcome.status == .ok && outcome.messages.contains("opens 'nas:backups'"), "\(outcome.messages)")
        #expect(!run("recovery list").text.contains("never"))
    }
}
