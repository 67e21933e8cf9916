import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("An older archive under the name of the newest", .waitsForPrograms)
struct RolledBackTests {
    private let home: TestHome
    private let rclone: FakeRclone
    private let recipient: String
    /// The newest archive, whose name the older one has.
    private let name: String

    init() throws {
        home = try TestHome()
        rclone = try FakeRclone(home)
        for line in [
            "keychain create --no-passcode", "item add --service Mail --account ada --generate", "keygen -o key",
        ] { #expect(home.run(line).status == .ok) }
        let key = String(decoding: try home.folder.read("work/key"), as: UTF8.self)
        recipient = String(try #require(key.firstMatch(of: /age1\w+/)).0)
        for _ in 0..<2 { #expect(home.run(["create", "-r", recipient, "--to", "known"]).status == .ok) }
        let names = try home.folder.list().filter { $0.hasPrefix("work/known/login-") }.sorted()
        name = try #require(names.last.map { String($0.dropFirst("work/known/".count)) })
        for folder in ["known", "unknown", "remote/x"] {
            try FileManager.default.createDirectory(
                atPath: home.path(folder), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try home.write("\(folder)/\(name)", home.folder.read(#require(names.first)))
        }
    }

    private func run(_ line: String) -> TestHome.Outcome {
        home.run(line.split(separator: " ").map(String.init), environment: rclone.environment)
    }

    @Test("Every verb that takes a folder refuses it, with a catalogue, without one, and on a remote")
    func folders() throws {
        for folder in ["known", "unknown", "nas:x"] {
            let isHere = !folder.contains(":")
            let verbs = [
                "verify \(folder)", "verify \(folder) -i key", "verify \(folder) -i key --drill",
                "verify \(folder) --outside", "copy \(folder) --to \(isHere ? "nas:copies" : "back")",
                "restore --home \(folder) -i key --dry-run",
            ]
            for line in verbs {
                let outcome = run(line)
                #expect(outcome.status == .damaged, "\(line): \(outcome.messages)")
                #expect(outcome.messages.contains("\(name)'"), "\(line): \(outcome.messages)")
            }
        }
        #expect(run("list unknown").text.contains("replaced") && run("list known").text.contains("replaced"))
        let copied = try home.folder.list().filter { $0.hasSuffix("copies/\(name)") || $0.hasSuffix("back/\(name)") }
        #expect(copied == [])
    }

    @Test("A file of that name is refused where archives are checked or changed, and warned of where it is read")
    func files() throws {
        for path in ["unknown/\(name)", "nas:x/\(name)"] {
            let isHere = !path.contains(":")
            let changes = isHere ? ["copy \(path) --to nas:copies", "rekey \(path) -i key -r \(recipient)"] : []
            for line in ["verify \(path)", "verify \(path) -i key", "verify \(path) --drill -i key"] + changes {
                let outcome = run(line)
                #expect(outcome.status == .damaged, "\(line): \(outcome.messages)")
                #expect(outcome.messages.contains("\(name)' was renamed"), "\(line): \(outcome.messages)")
            }
            for line in [
                "restore \(path) -i key", "inspect \(path) -i key", "inspect \(path)", "diff \(path) \(path) -i key",
            ] {
                let outcome = run(line)
                #expect(outcome.status == .ok, "\(line): \(outcome.messages)")
                #expect(outcome.messages.contains("warning: '\(path)' was renamed"), "\(line): \(outcome.messages)")
            }
        }
        try home.write("old.kcb", home.folder.read("work/unknown/\(name)"))
        let unnamed = run("verify old.kcb -i key")
        #expect(unnamed.status == .ok && !unnamed.messages.contains("renamed"), "a name that says nothing")
    }
}
