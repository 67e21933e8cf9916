import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The newest archive of a folder", .waitsForPrograms)
struct NewestOfFolderTests {
    private let home: TestHome
    private let recipient: String
    private let name: String
    /// The name of an archive that another device made later.
    private let planted: String

    init() throws {
        home = try TestHome()
        try home.write("secret", "s3cret")
        for line in [
            "keychain create --no-passcode", "item add --service Mail --account ada --secret file:secret",
            "keygen -o key",
        ] { #expect(home.run(line).status == .ok) }
        let key = String(decoding: try home.folder.read("work/key"), as: UTF8.self)
        recipient = String(try #require(key.firstMatch(of: /age1\w+/)).0)
        for _ in 0..<2 { #expect(home.run(["create", "-r", recipient, "--to", "b"]).status == .ok) }
        name = try #require(Self.archives(of: home, in: "b").last)

        let other = try TestHome()
        #expect(other.run("keychain create --no-passcode").status == .ok)
        for _ in 0..<20 { #expect(other.run("keychain list").status == .ok) }
        #expect(other.run(["create", "-r", recipient, "--to", "b"]).status == .ok)
        planted = try #require(Self.archives(of: other, in: "b").last)
        try FileManager.default.createDirectory(atPath: home.path("remote/x"), withIntermediateDirectories: true)
        for file in try Self.archives(of: home, in: "b") {
            try home.write("remote/x/\(file)", home.folder.read("work/b/\(file)"))
        }
        for folder in ["b", "remote/x"] {
            try home.write("\(folder)/\(planted)", other.folder.read("work/b/\(planted)"))
        }
    }

    private static func archives(of home: TestHome, in folder: String) throws -> [String] {
        try home.folder.list().filter { $0.hasPrefix("work/\(folder)/login-") }.sorted()
            .map { String($0.dropFirst("work/\(folder)/".count)) }
    }

    private func run(_ line: String, in home: TestHome) throws -> TestHome.Outcome {
        home.run(line.split(separator: " ").map(String.init), environment: try FakeRclone(home).environment)
    }

    @Test("One that another device planted is named and passed over, here and on a remote", arguments: ["b", "nas:x"])
    func planted(folder: String) throws {
        #expect(home.run("item delete --service Mail --yes").status == .ok)
        let restored = try run("restore \(folder) -i key", in: home)
        #expect(restored.status == .ok, "\(restored.messages)")
        #expect(restored.messages.contains("the newest archive: \(folder)/\(name)\n"), "\(restored.messages)")
        #expect(restored.messages.contains("warning: '\(planted)': passed over"), "\(restored.messages)")
        #expect(home.run("item find --service Mail --reveal").text.contains("s3cret"))
        for line in ["restore --home \(folder) -i key", "inspect \(folder) -i key", "diff \(folder) \(folder) -i key"] {
            let outcome = try run(line, in: home)
            #expect(outcome.status == .ok && outcome.messages.contains("'\(planted)': passed over"), "\(line)")
        }
    }

    @Test("One that was planted under the name of this device is refused, and the others are pointed to")
    func plantedUnderOwnName() throws {
        let named = try #require(name.firstMatch(of: /^.*-\d{8}T/)).0 + planted.suffix("000000Z.kcb".count)
        try home.write("b/\(named)", home.folder.read("work/b/\(planted)"))
        let renamed = home.run("restore b -i key")
        #expect(renamed.status == .damaged && renamed.messages.contains("'b/\(named)' was renamed"))
        #expect(renamed.messages.contains("name another archive to pass it over"), "\(renamed.messages)")
        try home.write("b/\(named)", "no archive")
        let other = home.run("restore b -i key")
        #expect(other.status == .damaged && other.messages.contains("'b/\(named)' is not a kcbackup archive"))
        #expect(other.messages.contains("or use another archive"), "\(other.messages)")
        #expect(home.run("restore b/\(name) -i key").status == .ok)
    }

    @Test("A machine that knows none of several devices takes those of the one that is accepted, and proposes none")
    func newMachine() throws {
        let device = try #require(home.run("device show").text.firstMatch(of: /KC(-\w{4}){5}/)).0
        let new = try TestHome()
        #expect(new.run("keychain create --no-passcode").status == .ok)
        for file in try home.folder.list() where file.hasPrefix("work/remote/x/") || file == "work/key" {
            try new.write(String(file.dropFirst("work/".count)), home.folder.read(file))
        }
        for line in ["restore nas:x -i key", "restore --home nas:x -i key", "restore remote/x -i key"] {
            let refused = try run(line, in: new)
            #expect(refused.status == .refused && refused.messages.contains("archives of several devices"), "\(line)")
            #expect(!refused.messages.contains("--accept-origin KC"), "\(refused.messages)")
            let accepted = try run(line + " --accept-origin \(device)", in: new)
            #expect(
                accepted.status == .ok && accepted.messages.contains("passed over"), "\(line): \(accepted.messages)")
        }
    }

    @Test("A folder with archives of several stores is refused, and '--home' is named")
    func severalStores() throws {
        #expect(home.run("keychain create work --no-passcode").status == .ok)
        #expect(home.run(["create", "--keychain", "work", "-r", recipient, "--to", "w"]).status == .ok)
        let other = try #require(try home.folder.list().first { $0.hasPrefix("work/w/work-") })
        for folder in ["b", "remote/x"] {
            try home.write("\(folder)/\(other.dropFirst("work/w/".count))", home.folder.read(other))
        }
        for folder in ["b", "nas:x"] {
            let refused = try run("restore \(folder) -i key", in: home)
            #expect(refused.status == .usage && refused.messages.contains("of several stores: 'login', 'work'"))
            #expect(refused.messages.contains("'kcbackup restore --home \(folder)'"), "\(refused.messages)")
        }
    }
}
