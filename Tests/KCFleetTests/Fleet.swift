import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCKeychainModel
import Testing

@testable import KCFleet

/// Machines and their receipts, at a fixed time.
struct Fleet {
    /// A Tuesday morning.
    static let now = at("2026-11-24T08:00:00.000000Z")
    /// The keys of machines, by number; the same in every test.
    static func device(_ number: Int) throws -> DeviceKey {
        var secret = SecretBytes(capacity: 32)
        for index in 0..<32 { secret.append(UInt8(truncatingIfNeeded: number >> (8 * (index % 4)))) }
        return try DeviceKey(secret: secret)
    }

    static func at(_ text: String) -> Timestamp { Timestamp(text) ?? .reference }

    /// A file on the remote.
    struct File {
        var name: String
        var day: ReceiptDay
        var written: Timestamp?
        var contents: [UInt8]?
        /// Nil for that of the contents.
        var size: UInt64?
    }

    /// The receipt of a run that ended some hours ago.
    static func receipt(
        _ device: DeviceKey, hoursAgo: Int64 = 5, sequence: Int64 = 1, job: String = "nightly", result: Int32 = 0,
        good: Timestamp? = nil, items: Int = 40, keys: [String] = ["age1a"], archives: Int = 1,
        jobs: [String] = []
    ) -> Receipt {
        var counts = ItemCounts()
        counts[.genericPassword] = items
        let time = now.advanced(byMicroseconds: -hoursAgo * 3_600_000_000)
        return Receipt(
            device: device.id, sequence: sequence, time: time, job: job, result: result, good: good, keys: keys,
            counts: counts, archives: (0..<archives).map { archive($0, verified: time) }, jobs: jobs)
    }

    static func archive(_ number: Int, verified: Timestamp) -> Receipt.Archive {
        let id = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32)
        return Receipt.Archive(
            name: "login-KC-ABCDEFGH-20261124T0300\(number)Z.kcb", archiveID: id, size: 9_000,
            digest: SHA256.hash(id.span), verified: verified)
    }

    /// A receipt as its machine writes it, on a server whose clock is right.
    static func file(_ receipt: Receipt, by key: DeviceKey, seconds: Int64 = 2) throws -> File {
        File(
            name: receipt.name.path, day: receipt.name.day,
            written: receipt.time.advanced(byMicroseconds: seconds * 1_000_000), contents: try receipt.signed(by: key))
    }

    /// The report on some files.
    static func report(
        _ files: [File], inventory: String? = nil, signers: String? = nil, trusted: [DeviceID: String] = [:],
        age: String? = "26h", hasServerTimes: Bool = true
    ) throws -> FleetReport {
        let members = FleetMembers(
            inventory: try inventory.map { try Inventory(Array($0.utf8)) },
            signers: try signers.map { try AllowedSigners(Array($0.utf8)) }, trusted: trusted)
        var observer = FleetObserver(members: members, hasServerTimes: hasServerTimes)
        for file in files {
            let size = file.size ?? UInt64(file.contents?.count ?? 0)
            guard let name = observer.admit(Array(file.name.utf8), on: file.day, size: size) else { continue }
            observer.see(name, written: file.written, contents: file.contents)
        }
        return observer.report(days: [ReceiptDay(now)], maximumAge: age.flatMap { MaximumAge($0) }, now: now)
    }
}
