import Foundation
import KCAgeEncryption
import KCBackupTasks
import KCByteStreams
import KCDeviceIdentity
import KCFleet
import KCFleetIndex
import KCKeychainModel
import KCRemotes
import KCStoreTasks
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Indexers that are killed, or work at the same time", .waitsForPrograms)
struct FleetIndexerTests {
    private let fleet: IndexedFleet
    private let path: String
    private let identities: [NativeIdentity]

    private struct Killed: Error {}

    init() throws {
        fleet = try IndexedFleet()
        path = fleet.home.path("fleet.index")
        let text = SecretBytes(copying: try fleet.home.folder.read("work/inspect-key"))
        identities = try IdentityFile.parse(text).identities
        for machine in ["ada", "bob"] {
            for number in 1...2 {
                try fleet.backUp(machine, as: "login-\(number).kcb")
                try fleet.add("host-\(number).example.org", to: machine)
            }
        }
    }

    /// Runs an indexer, and `before` ahead of each call of rclone.
    private func run(_ before: @escaping (_ verb: String) throws -> Void = { _ in }) throws -> FleetIndexReport {
        let world = fleet.home.world(environment: fleet.rclone.environment)
        let real = try world.machine.rclone()
        let rclone = real.intercepted(before)
        let folder = try FleetFolder(
            #require(RemoteLocation("nas:fleet")), rclone, temporaryFolder: fleet.home.path("bin"))
        let inventory = try Inventory(fleet.home.folder.read("work/machines.txt"))
        let indexer = FleetIndexer(
            folder, FleetMembers(inventory: inventory, signers: nil, trusted: [:]), identities: identities,
            index: try FleetIndex.opening(path, creating: true), temporaryFolder: fleet.home.path("bin"),
            now: world.machine.clock())
        var report = FleetIndexReport()
        try indexer.run(into: &report) { _ in }
        return report
    }

    /// The number of items of all archives, each of which has two, or one, of which one in both.
    private func requireEachOnce() throws {
        let index = try FleetIndex.opening(path)
        let found = try index.search(FleetQuery(text: SearchText("example"), time: .ever, limit: 100))
        #expect(found.items.count == 4 && Set(found.items.map(\.uuid)).count == 4)
        #expect(try run().known == 4)
    }

    @Test(
        "An indexer that ends before any call of rclone is continued by the next one",
        arguments: ["config", "lsf", "copy"])
    func killed(verb: String) throws {
        #expect(throws: Killed.self) { try run { if $0 == verb { throw Killed() } } }
        let report = try run()
        #expect(report.added == 4 && report.rejected.isEmpty)
        try requireEachOnce()
    }

    @Test("Of two indexers that fetch the same archives, one writes them, and the other one finds them known")
    func race() throws {
        var other: FleetIndexReport?
        let report = try run { verb in
            // The first one has listed, and is about to fetch.
            if verb == "copy", other == nil {
                other = FleetIndexReport()
                other = try run()
            }
        }
        #expect(other?.added == 4 && report.added == 0 && report.known == 4)
        try requireEachOnce()
    }

    @Test("An archive that changes or goes between the listing and the copy is tried again by the next run")
    func vanishing() throws {
        let path = "remote/fleet/archives/\(try fleet.id("ada"))/login-1.kcb"
        let bytes = try fleet.home.folder.read("work/\(path)")
        let report = try run { verb in if verb == "copy" { try fleet.home.write(path, bytes + [0]) } }
        #expect(report.added == 3 && report.unfetched.count == 1)
        try fleet.home.write(path, bytes)
        let gone = try run { verb in
            if verb == "copy" { try FileManager.default.removeItem(atPath: fleet.home.path(path)) }
        }
        #expect(gone.unfetched.count == 1 && gone.failure != nil)
        try fleet.home.write(path, bytes)
        #expect(try run().added == 1)
        try requireEachOnce()
    }
}
