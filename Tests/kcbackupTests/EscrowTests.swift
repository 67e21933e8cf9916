import Foundation
import KCByteStreams
import KCLocalKeychains
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Escrow keys on the command line")
struct EscrowTests {
    private let home: TestHome

    init() throws {
        home = try TestHome()
        try home.write("passcode", "walnut lantern\n")
        try home.write("passphrase", "correct horse\n")
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"a"},"secret":"tulip"}"# + "\n")
        for line in [
            "keychain create --passcode file:passcode", "import items.jsonl --passcode file:passcode",
            "keychain escrow enable -o escrow --passcode file:passcode",
        ] {
            let outcome = home.run(line)
            #expect(outcome.status == .ok, "\(outcome.messages)")
        }
    }

    private func create(_ options: String) -> KCTerminal.ExitStatus {
        home.run("create \(UUID().uuidString).kcb --passphrase file:passphrase \(options)").status
    }

    private func allow(_ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: home.path("escrow"))
    }

    @Test("An escrow key that others can read is refused, and doctor says so before the job does")
    func exposed() throws {
        #expect(home.run("schedule add x --to b --passphrase file:passphrase --escrow escrow").status == .ok)
        #expect(home.run("doctor").status == .ok)
        try allow(0o644)
        #expect(create("--escrow escrow") == .refused)
        let doctor = home.run("doctor")
        #expect(doctor.status == .refused && doctor.text.contains("escrow"), "\(doctor.text)")
        try allow(0o600)
        #expect(home.run("run x").status == .ok)
        #expect(home.run("keychain escrow revoke").status == .ok)
        #expect(home.run("doctor").status == .wrongKey)
    }

    /// Leaves what a run leaves that is killed between writing its key and changing the keychain, or right after that.
    private func leaveNote(of keyFile: String) throws {
        let text = try home.folder.read("work/" + keyFile)
        let publicKey = try #require(String(decoding: text, as: UTF8.self).firstMatch(of: /kcbackup-escrow1\w+/)).0
        let note = try UnfinishedEscrow(
            of: String(publicKey), SecretBytes(copying: text), in: home.path(keyFile),
            of: home.folder.path("home/.local/share/kcbackup/keychains/login.keychain"),
            in: DataFolder(environment: [:], home: home.home))
        withExtendedLifetime(note) {}
    }

    @Test("The key file of an interrupted 'enable' is removed by the next verb, and the same command succeeds again")
    func interrupted() throws {
        #expect(home.run("keychain escrow revoke").status == .ok)
        try leaveNote(of: "escrow")
        #expect(home.run("keychain list").status == .ok)
        #expect(try !Path.exists(home.path("escrow")))
        #expect(try !Path.names(in: home.folder.path("home/.local/share/kcbackup")).contains { $0.contains("escrow") })
        #expect(home.run("keychain escrow enable -o escrow --passcode file:passcode").status == .ok)
        #expect(create("--escrow escrow") == .ok)
    }

    @Test("A lock that a killed 'enable' left without its note is removed by the next verb")
    func lockAlone() throws {
        let lock = home.home + "/.local/share/kcbackup/unfinished-escrow.lock"
        try PrivateFile.replace(lock, [UInt8]().span)
        // A test that starts a program holds the locks of other tests between fork and exec, and a busy lock stays.
        for _ in 1...20 where try Path.exists(lock) { #expect(home.run("keychain list").status == .ok) }
        #expect(try !Path.exists(lock))
    }

    @Test("A key file whose keychain has its record stays, and so does another file under that name")
    func interruptedLate() throws {
        try leaveNote(of: "escrow")
        #expect(home.run("keychain list").status == .ok)
        #expect(create("--escrow escrow") == .ok)
        #expect(home.run("keychain escrow revoke").status == .ok)
        try leaveNote(of: "escrow")
        try home.write("escrow", "mine\n")
        #expect(home.run("keychain list").status == .ok)
        #expect(try home.folder.read("work/escrow") == Array("mine\n".utf8))
    }

    @Test("A job with an escrow credential needs it in its unit, and only there")
    func credential() throws {
        let added = home.run("schedule add x --to b --passphrase file:passphrase --escrow cred:login.escrow")
        #expect(added.status == .ok)
        let unit = home.run("schedule show x").text
        #expect(unit.contains("LoadCredential=login.escrow:%E/kcbackup/login.escrow\n"))
        #expect(home.run("doctor").status == .ok)
        #expect(home.run("run x").status == .notFound)
        for option in ["fd:5", "tty"] {
            let outcome = home.run("schedule add y --to b --passphrase file:passphrase --escrow \(option)")
            #expect(outcome.status == .usage, "\(option)")
        }
    }

    @Test("No message repeats an escrow key that was typed instead of its file")
    func typed() throws {
        let text = String(decoding: try home.folder.read("work/escrow"), as: UTF8.self)
        let key = try #require(text.split(separator: "\n").last)
        for value in [String(key), key.lowercased(), "file:" + key, "fd:" + key] {
            let outcome = home.run(["create", "x.kcb", "--passphrase", "file:passphrase", "--escrow", value])
            #expect(outcome.status != .ok)
            if !value.hasPrefix("file:") { #expect(!outcome.messages.contains(value.suffix(30))) }
        }
    }

    @Test("The standard output of 'escrow enable -o -' is an escrow key file and nothing else")
    func piped() throws {
        #expect(home.run("keychain escrow revoke").status == .ok)
        let outcome = home.run("keychain escrow enable -o - --passcode file:passcode")
        try home.write("piped", outcome.text)
        #expect(create("--escrow piped") == .ok)
        #expect(create("--escrow escrow") == .wrongKey)
        #expect(home.run("keychain escrow enable -o - --json --passcode file:passcode").status == .usage)
    }

    @Test("One file with the keys of several keychains serves a backup of all of them")
    func several() throws {
        for line in [
            "keychain create work --passcode file:passphrase", "keychain create plain --no-passcode",
            "keychain escrow enable work -o work.escrow --passcode file:passphrase",
        ] {
            #expect(home.run(line).status == .ok)
        }
        let backup = "create --all --to b --passphrase file:passphrase"
        #expect(home.run("\(backup) --escrow work.escrow").status == .wrongKey)
        try home.write(
            "all.escrow",
            try ["escrow", "work.escrow"].map { String(decoding: try home.folder.read("work/" + $0), as: UTF8.self) }
                .joined(separator: "\n"))
        let outcome = home.run("\(backup) --escrow all.escrow -v")
        #expect(outcome.status == .ok, "\(outcome.messages)")
        #expect(outcome.messages.contains("keychain 'plain' has no passcode, so '--escrow' is not read\n"))
        let lines = home.run("list b --columns keychain").text.split(separator: "\n").sorted()
        #expect(lines.suffix(5) == ["login", "plain", "plain", "work", "work"], "\(lines)")
    }

    @Test("A failure leaves no key file, and an existing one is unchanged")
    func leftovers() throws {
        let before = try home.folder.read("work/escrow")
        #expect(home.run("keychain escrow enable -o new --passcode file:passcode").status == .exists)
        #expect(home.run("keychain escrow revoke").status == .ok)
        #expect(home.run("keychain escrow enable -o escrow --passcode file:passcode").status == .exists)
        #expect(home.run("keychain escrow enable -o new --passcode file:passphrase").status == .wrongKey)
        #expect(home.run("keychain escrow enable -o nowhere/new --passcode file:passcode").status == .notFound)
        #expect(!home.run("keychain info").text.contains("kcbackup-escrow"))
        #expect(try home.folder.read("work/escrow") == before)
        #expect(try !Path.exists(home.path("new")))
    }
}
