import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// Each rule about archives holds at each kind of place, for each command that reads or copies them.
@Suite("Places of archives", .waitsForPrograms)
struct PlaceTests {
    enum Place: String, CaseIterable {
        case backupFolder = "b"
        case otherFolder = "plain"
        case remote = "nas:x"
        case host = "sftp:nas:y"

        /// The folder where its files are, in the working folder.
        var folder: String {
            switch self {
            case .backupFolder, .otherFolder: rawValue
            case .remote: "remote/x"
            case .host: "remote/y"
            }
        }

        var isRemote: Bool { self == .remote || self == .host }
    }

    /// A fault of the newest archive of a place.
    enum Fault: CaseIterable {
        case flipped, cut, empty, foreign, renamed

        /// The messages of a command, which ends with 13; the last one where a catalogue knows the archive.
        var messages: [String] {
            switch self {
            case .flipped: ["is damaged"]
            case .cut, .foreign: ["is not a kcbackup archive"]
            case .empty: ["is empty"]
            case .renamed: ["was renamed", "is not the archive that was made under this name"]
            }
        }
    }

    private let home: TestHome
    private let environment: [String: String]
    /// The names of two archives, the newest last.
    private let names: [String]
    private let rclone: FakeRclone

    init() throws {
        home = try TestHome()
        try home.write("secret", "s3cret")
        for line in [
            "keychain create --no-passcode", "item add --service Mail --account ada --secret file:secret",
            "keygen -o key",
        ] { #expect(home.run(line).status == .ok) }
        let key = String(decoding: try home.folder.read("work/key"), as: UTF8.self)
        let recipient = String(try #require(key.firstMatch(of: /age1\w+/)).0)
        for _ in 0..<2 { #expect(home.run(["create", "-r", recipient, "--to", "b"]).status == .ok) }
        names = try home.folder.list().filter { $0.hasPrefix("work/b/login-") }.sorted().map {
            String($0.dropFirst("work/b/".count))
        }
        rclone = try FakeRclone(home)
        let sftp = try FakeSftp(home).environment
        environment = rclone.environment.merging(
            ["PATH": try [sftp, rclone.environment].map { try #require($0["PATH"]) }.joined(separator: ":")]) { $1 }
        for place in Place.allCases where place != .backupFolder {
            try FileManager.default.createDirectory(
                atPath: home.path(place.folder), withIntermediateDirectories: true)
            for name in names { try home.write("\(place.folder)/\(name)", home.folder.read("work/b/\(name)")) }
        }
    }

    private func run(_ line: String) -> TestHome.Outcome {
        home.run(line.split(separator: " ").map(String.init), environment: environment)
    }

    private func make(_ fault: Fault, at place: Place) throws {
        let path = "\(place.folder)/\(names[1])"
        var bytes = try home.folder.read("work/\(path)")
        switch fault {
        case .flipped: bytes[bytes.count / 2] ^= 1
        case .cut: bytes.removeLast(bytes.count - 100)
        case .empty: bytes = []
        case .foreign: bytes = Array("no archive".utf8)
        case .renamed: bytes = try home.folder.read("work/\(place.folder)/\(names[0])")
        }
        try home.write(path, bytes)
    }

    @Test("Whole archives pass every command", arguments: Place.allCases)
    func whole(place: Place) {
        let folder = place.rawValue
        for line in [
            "verify \(folder) -i key", "restore \(folder) -i key", "restore --home \(folder) -i key",
            "inspect \(folder) -i key", "diff \(folder) \(folder) -i key", "recovery check \(folder) -i key",
            "copy \(folder) --to \(place.isRemote ? "back" : "nas:z")", "list \(folder)",
        ] { #expect(run(line).status == .ok, "\(line): \(run(line).messages)") }
    }

    @Test(
        "A newest archive that is not what it should be is named by every command, and nothing is taken of it",
        arguments: Place.allCases, Fault.allCases)
    func faults(place: Place, fault: Fault) throws {
        try make(fault, at: place)
        let (folder, path) = (place.rawValue, "\(place.rawValue)/\(names[1])")
        #expect(run("item delete --service Mail --yes").status == .ok)
        for line in [
            "verify \(folder) -i key", "verify --outside \(folder)", "restore \(folder) -i key",
            "restore --home \(folder) -i key", "inspect \(folder) -i key", "recovery check \(folder) -i key",
            "copy \(folder) --to \(place.isRemote ? "back" : "nas:z")",
        ] {
            let outcome = run(line)
            #expect(outcome.status == .damaged, "\(line): \(outcome.messages)")
            #expect(
                fault.messages.contains { outcome.messages.contains("'\(path)' \($0)") }, "\(line): \(outcome.messages)"
            )
        }
        #expect(run("item find --service Mail").status == .notFound)
        let copies = try home.folder.list().filter { $0.hasSuffix("/\(names[1])") && !$0.contains("/\(place.folder)/") }
        #expect(!copies.contains { $0.hasPrefix("work/remote/z/") || $0.hasPrefix("work/back/") }, "\(copies)")
    }

    @Test("An archive that is gone is missed where a catalogue, or a folder to compare with, knows of it")
    func gone() throws {
        for place in [Place.backupFolder, .remote] {
            try FileManager.default.removeItem(atPath: home.path("\(place.folder)/\(names[1])"))
        }
        for line in ["verify b", "copy b --to nas:z", "verify nas:x --against plain"] {
            let outcome = run(line)
            #expect(outcome.status == .notFound, "\(line): \(outcome.status)")
            #expect(outcome.messages.contains(names[1]), "\(line): \(outcome.messages)")
        }
    }

    @Test("The folder of a remote is listed as often for two archives as for one")
    func listings() throws {
        #expect(run("verify nas:x").status == .ok)
        let two = try rclone.calls()
        try FileManager.default.removeItem(atPath: home.path("remote/x/\(names[0])"))
        #expect(run("verify nas:x").status == .ok)
        let one = try rclone.calls().dropFirst(two.count)
        #expect(two.count { $0 == "lsjson" } == one.count { $0 == "lsjson" }, "\(two), \(one)")
        #expect(two.count { $0 == "cat" } == 2 && one.count { $0 == "cat" } == 1, "\(two), \(one)")
    }
}
