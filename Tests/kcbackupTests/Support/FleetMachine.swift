import Foundation
import KCByteStreams
import KCDeviceIdentity
import KCFleet
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// A home with a keychain of ten items and a job `nightly` that belongs to the fleet `nas:fleet`.
struct FleetMachine {
    let home: TestHome
    let rclone: FakeRclone
    let id: DeviceID
    /// The folder that the remotes are.
    let remote: String

    /// - Parameters:
    ///   - other: a machine whose remote this one uses; nil for one of its own.
    ///   - copied: the machine whose home this one has; nil for a new one.
    init(besides other: FleetMachine? = nil, copying copied: FleetMachine? = nil) throws {
        home = try copied.map { try TestHome(copying: $0.home) } ?? TestHome()
        remote = other?.remote ?? home.path("remote")
        rclone = try FakeRclone(home, remote: remote)
        if copied == nil {
            let items = (0..<10).map { #"{"class":"genp","attributes":{"svce":"s\#($0)"},"secret":"x"}"# + "\n" }
            try home.write("items.jsonl", items.joined())
            for line in [
                "keychain create --no-passcode", "import items.jsonl",
                "schedule add nightly --unencrypted --metadata-readable --to b --fleet nas:fleet",
            ] {
                let outcome = home.run(
                    line.split(separator: " ").map(String.init), environment: rclone.environment)
                #expect(outcome.status == .ok, "\(line): \(outcome.messages)")
            }
        }
        let text = home.run("device show").text
        id = try #require(text.firstMatch(of: /KC-[A-Z2-7-]+/).flatMap { DeviceID(String($0.0)) })
    }

    func run(_ line: String) -> TestHome.Outcome {
        home.run(line.split(separator: " ").map(String.init), environment: rclone.environment)
    }

    /// The path of a folder of the fleet, which may not exist.
    func folder(_ name: String) -> String { "\(remote)/fleet/\(name)" }

    /// The beginning of the path of a receipt of this machine, below the folder of its day.
    var receiptStart: String { "\(id.description.dropFirst(3).prefix(2))/\(id)" }

    /// The paths of the receipts of this machine, oldest first.
    func receiptFiles() throws -> [String] {
        let receipts = folder("receipts")
        if !Path.isFolder(receipts) { return [] }
        return try Path.names(in: receipts).sorted().flatMap { day -> [String] in
            let shard = Path.split("\(receipts)/\(day)/\(receiptStart)").folder
            if !Path.isFolder(shard) { return [] }
            return try Path.names(in: shard).filter { $0.hasPrefix(id.description) }.sorted().map { "\(shard)/\($0)" }
        }
    }

    /// The receipts of this machine, oldest first.
    func receipts() throws -> [Receipt] {
        try receiptFiles().map { path in
            try Receipt(verifying: Array(Data(contentsOf: URL(fileURLWithPath: path))))
        }.sorted { $0.sequence < $1.sequence }
    }

    /// The names of its archives in the fleet.
    func archives() throws -> Set<String> {
        let own = folder("archives/\(id)")
        return Path.isFolder(own) ? Set(try Path.names(in: own)) : []
    }

    /// Replaces its rclone by a script; `$REAL` is the one that was there.
    func replaceRclone(by script: String) throws {
        let real = home.path("bin/real")
        if !(try Path.exists(real)) {
            try FileManager.default.moveItem(atPath: home.path("bin/rclone"), toPath: real)
        }
        try home.write("bin/rclone", "#!/bin/sh\nREAL=\(real)\n\(script)\n", mode: 0o700)
    }

    /// Puts back the rclone that there was.
    func restoreRclone() throws {
        try FileManager.default.removeItem(atPath: home.path("bin/rclone"))
        try FileManager.default.moveItem(atPath: home.path("bin/real"), toPath: home.path("bin/rclone"))
    }
}
