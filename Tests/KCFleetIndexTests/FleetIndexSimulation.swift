import Foundation
import KCAgeEncryption
import KCBackupArchive
import KCByteStreams
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCFleetIndex

/// The archives of a large fleet as files, for `.ci/fleet-index`, which indexes and searches them with the program.
///
/// FLEET_FOLDER is where they are made, FLEET_MACHINES how many machines there are, FLEET_ITEMS how many items each has,
/// and FLEET_NIGHT which night it is: from the second on, every fifth machine has changed one item.
@Suite("Archives of a simulated fleet", .enabled(if: ProcessInfo.processInfo.environment["FLEET_NIGHT"] != nil))
struct FleetIndexSimulation {
    private let folder: String
    private let machines: Int
    private let items: Int
    private let night: Int
    private let inspector: NativeIdentity

    init() throws {
        let environment = ProcessInfo.processInfo.environment
        folder = try #require(environment["FLEET_FOLDER"])
        machines = Int(environment["FLEET_MACHINES"] ?? "") ?? 10_000
        items = Int(environment["FLEET_ITEMS"] ?? "") ?? 400
        night = Int(environment["FLEET_NIGHT"] ?? "") ?? 1
        let key = SecretBytes(copying: try Data(contentsOf: URL(filePath: folder + "/inspect-key")))
        inspector = try #require(try IdentityFile.parse(key).identities.first)
    }

    @Test("An archive of every machine, and the list of machines")
    func make() throws {
        let restorer = try NativeIdentity.generate(.x25519)
        var inventory = ""
        for machine in 0..<machines {
            var secret = SecretBytes(capacity: 32)
            for index in 0..<32 { secret.append(UInt8(truncatingIfNeeded: (machine + 77) >> (8 * (index % 4)))) }
            let device = try DeviceKey(secret: secret)
            inventory += "\(device.id) host-\(machine)\n"
            let path = "\(folder)/fleet/archives/\(device.id)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            let keys = try ArchiveKeys(recipients: [restorer.recipient], inspectors: [inspector.recipient])
            var writer = try ArchiveWriter(
                .encrypted(keys), of: ArchiveSource(kind: ArchiveSource.keychain, name: "login"), device: device,
                folder: path)
            for item in try contents(of: machine) {
                var line = SecretBytes(capacity: 1_024)
                ItemLine.encode(item, into: &line)
                let secret = SecretBytes(copying: "secret-0123456789".utf8)
                try line.withBytes { span in try writer.append(item, line: span, secret: secret) }
            }
            let finished = try writer.finish(omitted: 0, damaged: 0, created: time(night), tool: "simulation")
            try finished.publish(as: "login-\(night).kcb")
        }
        try Data(inventory.utf8).write(to: URL(filePath: folder + "/machines.txt"))
    }

    private func time(_ night: Int) -> Timestamp {
        Timestamp.reference.advanced(byMicroseconds: Int64(night) * 86_400_000_000)
    }

    /// Services, hosts and accounts of which many machines have the same.
    private func contents(of machine: Int) throws -> [Item] {
        try (0..<items).map { number in
            let isChanged = night > 1 && machine % 5 == 0 && number == 7
            let mixed = (machine * 7_919 + number * 104_729) % 1_000_003
            var attributes = Attributes()
            attributes[.acct] = .text("user\(mixed % 5_000)-\(number)")
            attributes[.agrp] = .text("kcbackup")
            attributes[.cdat] = .date(time(0))
            attributes[.labl] = .text(number % 2 == 0 ? "Login of host \(mixed % 3_000)" : "Service \(mixed % 20_000)")
            attributes[.mdat] = .date(time(isChanged ? night : 0))
            attributes[.pdmn] = .text("ak")
            attributes[.sync] = .number(0)
            if number % 2 == 0 {
                attributes[.srvr] = .text("host\(mixed % 3_000).example.com")
            } else {
                attributes[.svce] = .text("service-\(mixed % 20_000)")
            }
            return try Item(
                itemClass: number % 2 == 0 ? .internetPassword : .genericPassword,
                uuid: ItemUUID(high: UInt64(machine), low: UInt64(number)), attributes: attributes, secretSize: 17)
        }.sorted { $0.precedes($1) }
    }
}
