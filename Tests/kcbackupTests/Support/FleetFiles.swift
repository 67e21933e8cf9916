import Foundation
import KCByteStreams
import KCCryptography
import KCDeviceIdentity
import KCFleet
import KCKeychainModel
import KCTestSupport

/// Receipts of machines in the folder `remote/fleet` of a home, and the list of the machines in `machines.txt`.
struct FleetFiles {
    let home: TestHome
    let keys: [DeviceKey]

    /// The first time of a home.
    private static let start = Timestamp("2026-03-01T09:30:00.000000Z") ?? .reference

    private static let archive: Receipt.Archive = {
        let id = [UInt8](repeating: 7, count: 32)
        return Receipt.Archive(
            name: "login-KC-ABCDEFGH-20260301T030000Z.kcb", archiveID: id, size: 9_000, digest: SHA256.hash(id.span),
            verified: start)
    }()

    /// Three machines: `ada`, `bob`, `cy`.
    init(_ home: TestHome) throws {
        self.home = home
        keys = try (1...3).map { number in
            var secret = SecretBytes(capacity: 32)
            for _ in 0..<32 { secret.append(UInt8(number)) }
            return try DeviceKey(secret: secret)
        }
        let lines = zip(keys, ["ada", "bob", "cy"]).map { "\($0.id) \($1)\n" }
        try home.write("machines.txt", lines.joined())
    }

    /// Writes the receipt of a run, and returns the path of its file.
    ///
    /// - Parameters:
    ///   - machine: its place in `keys`.
    ///   - skew: by how many seconds its clock is ahead.
    @discardableResult
    func write(
        _ machine: Int, hoursAgo: Int64, sequence: Int64 = 1, job: String = "nightly", result: Int32 = 0,
        items: Int = 40, keys names: [String] = ["age1a"], skew: Int64 = 0
    ) throws -> String {
        let key = keys[machine]
        let written = Self.start.advanced(byMicroseconds: -hoursAgo * 3_600_000_000)
        var counts = ItemCounts()
        counts[.genericPassword] = items
        let receipt = Receipt(
            device: key.id, sequence: sequence, time: written.advanced(byMicroseconds: skew * 1_000_000), job: job,
            result: result, good: nil, keys: names, counts: counts, archives: [Self.archive])
        let path = "remote/fleet/receipts/\(receipt.name.day)/\(receipt.name.path)"
        try home.write(path, try receipt.signed(by: key))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: Double(written.seconds))],
            ofItemAtPath: home.path(path))
        return path
    }

    /// Makes every member of the report appear: a machine that is well, one that is late, one that is silent, one that
    /// nobody knows, and a file that is forged.
    func writeOfEveryKind() throws {
        try write(0, hoursAgo: 30, sequence: 1)
        try write(0, hoursAgo: 6, sequence: 2)
        let forged = try write(1, hoursAgo: 5)
        var bytes = try home.folder.read("work/\(forged)")
        bytes[30] ^= 1
        try home.write(forged, bytes)
        try write(2, hoursAgo: 5)
        try home.write("machines.txt", "\(keys[0].id) ada\n\(keys[1].id) bob\n")
    }
}
