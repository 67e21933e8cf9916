import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("A machine that is lost", .waitsForPrograms)
struct LostMachineTests {
    @Test("A laptop copies its backups to a remote and burns; an empty machine restores from there with the identity")
    func story() throws {
        let laptop = try TestHome()
        let first = try FakeRclone(laptop)
        try laptop.write("secret", "s3cret")
        for line in [
            "keychain create --no-passcode", "item add --service Mail --account ada --secret file:secret",
            "keygen -o restore-key.txt",
        ] { #expect(laptop.run(line).status == .ok) }
        let key = try laptop.folder.read("work/restore-key.txt")
        let recipient = String(try #require(String(decoding: key, as: UTF8.self).firstMatch(of: /age1\w+/)).0)
        for line in ["schedule add nightly -r \(recipient) --to backups --copy-to nas:laptop", "run nightly"] {
            let outcome = laptop.run(line.split(separator: " ").map(String.init), environment: first.environment)
            #expect(outcome.status == .ok, "\(outcome.messages)")
        }

        // All that is left: the identity, and what is on the remote.
        let new = try TestHome()
        let second = try FakeRclone(new)
        try FileManager.default.moveItem(atPath: laptop.path("remote"), toPath: new.path("remote"))
        try FileManager.default.removeItem(atPath: laptop.folder.path)
        try new.write("restore-key.txt", key)
        func run(_ line: String) -> TestHome.Outcome {
            new.run(line.split(separator: " ").map(String.init), environment: second.environment)
        }
        #expect(run("list nas:laptop").text.contains("login"))
        let asked = run("restore nas:laptop -i restore-key.txt --dry-run -v")
        #expect(asked.messages.contains("the newest archive: nas:laptop/login-"), "\(asked.messages)")
        let origin = try #require(asked.messages.firstMatch(of: /KC(-\w{4}){5}/)).0
        for line in [
            "keychain create --no-passcode", "restore nas:laptop -i restore-key.txt --accept-origin \(origin)",
            "copy nas:laptop --to old", "verify old -i restore-key.txt",
        ] {
            let outcome = run(line)
            #expect(outcome.status == .ok, "\(line): \(outcome.messages)")
        }
        #expect(run("item find --service Mail --reveal").text.contains("s3cret"))
    }
}
