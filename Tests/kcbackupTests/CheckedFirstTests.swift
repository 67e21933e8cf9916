import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("What needs no secret is checked before one is asked for")
struct CheckedFirstTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("passcode", "walnut lantern\n")
        try home.write("passphrase", "orbit velvet\n")
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"Bank"},"secret":"kept"}"#)
    }

    private func run(_ line: String, _ answers: String...) -> (outcome: TestHome.Outcome, terminal: ScriptedTerminal) {
        let terminal = ScriptedTerminal(answers: answers)
        return (home.run(line.split(separator: " ").map(String.init), terminal: terminal), terminal)
    }

    @Test(
        "A second secret that cannot be read, a missing archive and a missing bus end a command before it asks",
        arguments: [
            ("create b.kcb --passphrase cred:none", .notFound), ("create b.kcb --passphrase file:none", .notFound),
            ("create --to backups --passphrase fd:99", .usage),
            ("create none/b.kcb --passphrase file:passphrase", .notFound),
            ("create b.kcb -r age1none", .usage),
            ("rekey a.kcb --new-passphrase tty --passphrase cred:none", .notFound),
            ("rekey none.kcb --new-passphrase tty", .notFound),
            ("keychain set-passcode --new-passcode file:none", .notFound),
            ("export --to kdbx -o b.kdbx --password cred:none", .notFound),
            ("device export -o none/key.age", .notFound),
            ("restore a.kcb --keychain secret-service:", .locked), ("restore a.kcb --keychain none/other", .notFound),
        ] as [(String, KCTerminal.ExitStatus)])
    func nothingIsAsked(line: String, status: KCTerminal.ExitStatus) throws {
        #expect(home.run("keychain create --passcode file:passcode").status == .ok)
        #expect(home.run("import items.jsonl --passcode file:passcode").status == .ok)
        #expect(home.run("create a.kcb --passcode file:passcode --passphrase file:passphrase").status == .ok)
        let (outcome, terminal) = run(line, "walnut lantern")
        #expect(outcome.status == status, "\(outcome.messages)")
        #expect(terminal.asked.isEmpty)
    }

    @Test(
        "A backup that fails before it has its passphrase makes no device key",
        arguments: [
            "create b.kcb --keychain file:items.jsonl",
            "create b.kcb --keychain file:items.jsonl --passphrase cred:none",
            "create none/b.kcb --keychain file:items.jsonl",
            "create --to backups --keychain file:items.jsonl --passphrase file:none",
        ])
    func noDeviceKey(line: String) throws {
        let (outcome, _) = run(line)
        #expect(outcome.status != .ok)
        #expect(try home.folder.list().allSatisfy { !$0.contains("device.key") }, "\(outcome.messages)")
        #expect(run("create b.kcb --keychain file:items.jsonl --passphrase file:passphrase").outcome.status == .ok)
        #expect(try home.folder.list().contains { $0.hasSuffix("device.key") })
    }

    @Test(
        "A folder in which no file can be made ends a command before it asks", .enabled(if: geteuid() != 0, "root can"))
    func unwritableFolder() throws {
        #expect(home.run("keychain create --passcode file:passcode").status == .ok)
        let folder = home.folder.path("work/closed")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o500])
        for line in [
            "create closed/b.kcb", "create closed", "export --to kdbx -o closed/b.kdbx",
            "device export -o closed/b.age",
            "keychain create closed/other",
        ] {
            let (outcome, terminal) = run(line, "walnut lantern")
            #expect(outcome.status == .io, "\(line): \(outcome.messages)")
            #expect(terminal.asked.isEmpty, "\(line)")
        }
    }
}
