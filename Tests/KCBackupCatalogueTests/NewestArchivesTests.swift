import KCDeviceIdentity
import KCKeychainModel
import Testing

@testable import KCBackupCatalogue

@Suite("The newest archives of a folder, by their names")
struct NewestArchivesTests {
    private let mine: DeviceID
    private let other: DeviceID
    private let third: DeviceID
    private let now: Timestamp

    init() throws {
        mine = try #require(DeviceID("KC-ABCD-EFGH-IJKL-MNOP-QRST"))
        other = try #require(DeviceID("KC-BBCD-EFGH-IJKL-MNOP-QRST"))
        third = try #require(DeviceID("KC-CBCD-EFGH-IJKL-MNOP-QRST"))
        now = try #require(Timestamp("2026-06-15T03:00:00.000000Z"))
    }

    private func name(_ device: DeviceID, day: Int64, _ series: String = "login") -> String {
        ArchiveName(series: series, device: device, time: now.advanced(byMicroseconds: day * 86_400_000_000)).fileName
    }

    private func newest(of files: [String], knowing: [DeviceID]) throws -> NewestArchives {
        let known = Set(knowing.map(ArchiveName.short))
        return try NewestArchives(of: files, in: "backups", now: now) { known.contains($0.device) }
    }

    @Test("One that another device planted takes no place, whatever its time, series or name")
    func planted() throws {
        let (first, last) = (name(mine, day: -2), name(mine, day: -1))
        let planted = [name(other, day: 0), name(other, day: 0, "work"), "new.kcb"]
        let found = try newest(of: planted + [first, last], knowing: [mine])
        #expect(found.newest.map(\.fileName) == [last])
        #expect(found.passedOver == planted && found.later == [])
        let both = try newest(of: [name(other, day: 0), last], knowing: [mine, other])
        #expect(both.newest.map(\.fileName) == [name(other, day: 0)] && both.passedOver == [])
    }

    @Test("If no device is known, those of one are taken, and those of several are refused")
    func unknown() throws {
        let files = [name(other, day: -2), name(other, day: -1), "a.kcb"]
        #expect(try newest(of: files, knowing: [mine]).newest.map(\.fileName) == [files[1]])
        let failure = CatalogueFailure.severalDevices(folder: "backups", ["KC-BBCDEFGH", "KC-CBCDEFGH"])
        #expect(throws: failure) { try newest(of: files + [name(third, day: 0)], knowing: [mine]) }
        #expect(throws: CatalogueFailure.unclearNewest(folder: "backups")) {
            try newest(of: ["a.kcb", "b.kcb"], knowing: [mine])
        }
    }

    @Test("Each series has its newest, and one of a time to come counts only if it has no other")
    func series() throws {
        let files = [
            name(mine, day: -1), name(mine, day: 9), name(mine, day: 8, "work"), name(mine, day: 9, "work"),
        ]
        let found = try newest(of: files, knowing: [])
        #expect(found.newest.map(\.fileName) == [files[0], files[3]])
        #expect(found.later == [files[1]])
    }
}
