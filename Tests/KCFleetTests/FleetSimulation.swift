import Foundation
import KCDeviceIdentity
import KCKeychainModel
import Testing

@testable import KCFleet

/// The receipts of a large fleet as files, for `.ci/fleet`, which reads them with the program.
///
/// FLEET_FOLDER is where they are made, FLEET_MACHINES how many machines there are, and FLEET_NIGHTS for how many nights.
@Suite("A simulated fleet", .enabled(if: ProcessInfo.processInfo.environment["FLEET_FOLDER"] != nil))
struct FleetSimulation {
    private let folder: URL
    private let machines: Int
    private let nights: Int
    private let now: Timestamp

    init() throws {
        let environment = ProcessInfo.processInfo.environment
        folder = URL(filePath: try #require(environment["FLEET_FOLDER"]))
        machines = Int(environment["FLEET_MACHINES"] ?? "") ?? 10_000
        nights = Int(environment["FLEET_NIGHTS"] ?? "") ?? 1
        now = try #require(Timestamp(microseconds: Int64(Date().timeIntervalSince1970) * 1_000_000))
    }

    /// The faults of some of the machines, one of each in a hundred.
    private enum Fault: Int, CaseIterable {
        case silent, late, failed, shrunk, forged, replayed, cloned, skewed, keys, stranger
        // Killed while it wrote its receipt, killed before that, with a receipt that somebody deleted, and with two jobs
        // that ended in the same second.
        case crashed, archiveOnly, deleted, racing

        /// A state that the report must show; nil if it is well.
        var state: FleetReport.State? {
            switch self {
            // A forged or replayed receipt leaves a machine without a receipt of this night.
            case .silent, .forged, .replayed, .crashed, .archiveOnly, .deleted: .absent
            case .racing: nil
            case .late: .late
            case .failed: .failed
            case .shrunk: .shrunk
            case .cloned: .replayed
            case .skewed: .clock
            case .keys: .keys
            case .stranger: .unknown
            }
        }
    }

    @Test("Receipts of every machine and night, and what must be said about each machine")
    func make() throws {
        var inventory = ""
        var expected = ""
        for number in 0..<machines {
            let key = try Fleet.device(number + 1_000)
            let fault = Fault(rawValue: number % 100)
            if fault != .stranger { inventory += "\(key.id) host-\(number)\n" }
            expected += "\(key.id) \(fault?.state?.rawValue ?? "well")\n"
            try write(number, key, fault)
        }
        try Data(inventory.utf8).write(to: folder.appending(path: "machines.txt"))
        try Data(expected.utf8).write(to: folder.appending(path: "expected.txt"))
    }

    private func write(_ number: Int, _ key: DeviceKey, _ fault: Fault?) throws {
        // Machines that are silent, forged or replayed are so every night.
        if fault == .silent { return }
        if fault == .archiveOnly {
            let archives = folder.appending(path: "fleet/archives/\(key.id)")
            try FileManager.default.createDirectory(at: archives, withIntermediateDirectories: true)
            return try Data(count: 9_000).write(to: archives.appending(path: "login-KC-ABCDEFGH-20261124T030000Z.kcb"))
        }
        // The nights before the last one are long enough ago that they alone make nobody well.
        for night in (0..<nights).reversed() where night > 0 || fault != .deleted {
            let minutes = Int64(180 + number % 120 + night * 1_440)
            let sequence = Int64((nights - night) * 10)
            let (result, items): (Int32, Int) =
                switch fault {
                case .late: (13, 40)
                case .failed: (night == 0 ? 3 : 0, 40)
                case .shrunk: (night == 0 ? 15 : 0, 40)
                default: (0, 40 + night)
                }
            try write(key, minutesAgo: minutes, sequence, result, items, fault)
            if night == 0, fault == .racing {
                try write(key, minutesAgo: minutes, sequence + 1, 0, items, fault, job: "hourly")
            }
            if night == 0, fault == .cloned || fault == .keys {
                try write(key, minutesAgo: minutes - 20, fault == .cloned ? sequence : sequence + 1, 0, items, fault)
            }
        }
    }

    private func write(
        _ key: DeviceKey, minutesAgo: Int64, _ sequence: Int64, _ result: Int32, _ items: Int, _ fault: Fault?,
        job: String = "nightly"
    ) throws {
        let written = now.advanced(byMicroseconds: -minutesAgo * 60_000_000)
        let ahead: Int64 = fault == .skewed ? 40 : 0
        var counts = ItemCounts()
        counts[.genericPassword] = items
        let good = fault == .late ? now.advanced(byMicroseconds: -48 * 3_600_000_000) : written
        let receipt = Receipt(
            device: key.id, sequence: sequence, time: written.advanced(byMicroseconds: ahead * 60_000_000),
            job: job, result: result, good: good,
            keys: ["age1escrow", fault == .keys ? "age1of-\(sequence)" : "age1desk"], counts: counts,
            archives: [Fleet.archive(0, verified: written), Fleet.archive(1, verified: written)])
        var bytes = try receipt.signed(by: key)
        if fault == .forged { bytes[100] ^= 1 }
        // An old receipt under the name of a new one.
        let name =
            fault == .replayed ? ReceiptName(device: key.id, time: receipt.time, sequence: sequence + 5) : receipt.name
        let day = folder.appending(path: "fleet/receipts/\(name.day)/\(name.shard)")
        try FileManager.default.createDirectory(at: day, withIntermediateDirectories: true)
        // As one that is killed leaves it on a remote that has no complete files only.
        let isCut = fault == .crashed
        let file = day.appending(path: name.description + (isCut ? ".part" : ""))
        try Data(isCut ? Array(bytes.prefix(bytes.count / 2)) : bytes).write(to: file)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: Double(written.seconds))], ofItemAtPath: file.path)
    }
}
