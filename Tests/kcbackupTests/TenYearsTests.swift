import Foundation
import KCBackupTasks
import KCByteStreams
import KCDeviceIdentity
import KCKeychainModel
import KCLocalKeychains
import KCStoreTasks
import KCTerminal
import KCTestSupport
import Testing

@testable import KCBackupCatalogue
@testable import kcbackup

@Suite("Ten years of backups")
struct TenYearsTests {
    private static let rules = [
        (Calendar.Component.hour, 24), (.day, 7), (.weekOfYear, 5), (.month, 12), (.year, 3),
    ]
    private static let words = "--keep-hourly 24 --keep-daily 7 --keep-weekly 5 --keep-monthly 12 --keep-yearly 3"

    /// The times that are kept according to restic's documentation; none of them may be in the future.
    private static func kept(_ times: [Timestamp]) -> Set<Timestamp> {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = .current
        let newestFirst = times.sorted(by: >)
        var kept: Set<Timestamp> = []
        for (component, count) in rules {
            var starts: [Date] = []
            for time in newestFirst {
                let date = Date(timeIntervalSince1970: Double(time.seconds))
                guard let start = calendar.dateInterval(of: component, for: date)?.start else { continue }
                if starts.contains(start) { continue }
                if starts.count == count { break }
                starts.append(start)
                kept.insert(time)
            }
            // The oldest is kept if the rule keeps fewer than it may.
            if starts.count < count, let oldest = newestFirst.last { kept.insert(oldest) }
        }
        return kept
    }

    @Test(
        "Whatever happens to runs, clock and folder, the rules decide what is kept, and the newest backup always stays"
    )
    func decade() throws {
        var random = SeededRandom(seed: 10)
        let home = try TestHome(inMemory: true)
        #expect(home.run("keychain create --no-passcode").status == .ok)
        var hours: Int64 = 0
        var runs = 0
        while hours < 10 * 8_766 {
            let step = Int64.random(in: 1...Int64.random(in: 2...3_000, using: &random), using: &random)
            hours += step
            home.pass(hours: step)
            var clockError: Int64 = 0
            switch Int.random(in: 0..<20, using: &random) {
            case 0: try disturb(home, &random)
            case 1: try addBogusFile(home, runs)
            case 2: clockError = Int64.random(in: -900...900, using: &random)
            default: break
            }
            home.pass(hours: clockError)
            try check(home, lockedOut: Int.random(in: 0..<40, using: &random) == 0)
            home.pass(hours: -clockError)
            runs += 1
        }
        #expect(runs > 50)
        let catalogue = try catalogue(home)
        #expect(catalogue.complete.count < 70)
        // Each of three years keeps one backup: this one, and the last days of the two before.
        let oldest = try #require(catalogue.complete.map(\.created).min())
        #expect((365...1_100).contains((home.nextTime().seconds - oldest.seconds) / 86_400))
    }

    /// Does one run and one pruning, and checks everything that must hold afterwards.
    private func check(_ home: TestHome, lockedOut: Bool) throws {
        if lockedOut {
            let folder = try folder(home)
            #expect(home.run("create --unencrypted --to b --lock-wait 0s").status == .busy)
            withExtendedLifetime(folder) {}
        }
        let outcome = home.run("create --unencrypted --to b")
        try #require(outcome.status == .ok, "\(outcome.messages)")
        let before = try catalogue(home).complete
        let newest = try #require(before.last)
        let now = home.nextTime()
        let pruned = home.run("prune b \(Self.words)")
        try #require(pruned.status == .ok, "\(pruned.messages)")
        let after = try catalogue(home)
        let left = Set(after.complete.map(\.created))
        let past = before.map(\.created).filter { $0 <= now.advanced(byMicroseconds: 60_000_000) }
        let future = before.map(\.created).filter { $0 > now.advanced(byMicroseconds: 60_000_000) }
        #expect(left == Self.kept(past).union(future).union([newest.created]))
        #expect(after.complete.last?.archiveID == newest.archiveID)
        // Every entry has its file, and every archive of this device has its entry.
        let names = Set(try Path.names(in: home.path("b")).filter { $0.hasSuffix(".kcb") && !$0.hasPrefix("bogus") })
        #expect(names == Set(after.complete.map(\.name)))
        let trash = try Path.names(in: home.path("b/.trash"))
        #expect(Set(trash) == Set(after.entries.filter { $0.state == .trashed }.map(\.name)))
    }

    /// Leaves what a killed run would leave.
    private func disturb(_ home: TestHome, _ random: inout SeededRandom) throws {
        guard Path.isFolder(home.path("b")) else { return }
        let folder = try folder(home)
        guard let entry = folder.catalogue.complete.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            // Killed before an archive got its name.
            let lost = CatalogueEntry(
                name: "login-KC-AAAAAAAA-20260101T000000Z.kcb", archiveID: [UInt8](repeating: 1, count: 32),
                created: entry.created, series: "login", mode: .unencrypted, file: entry.file, content: nil,
                state: .writing, verified: entry.created)
            try folder.change { $0.entries.append(lost) }
        case 1:
            // Killed after that.
            try folder.change(entry) { $0.state = .writing }
        default:
            // Killed before a file was moved into the trash: the next run moves it, and then it is brought back.
            try folder.change(entry) {
                $0.state = .trashed
                $0.trashed = Timestamp(microseconds: Timestamp.latest).map { CatalogueEntry.Removal(date: $0, now: $0) }
            }
        }
    }

    /// Adds a file whose name is that of an archive newer than all others.
    private func addBogusFile(_ home: TestHome, _ number: Int) throws {
        guard Path.isFolder(home.path("b")) else { return }
        try home.write("b/bogus\(number)-KC-AAAAAAAA-20991231T000000Z.kcb", Array("no archive".utf8))
    }

    private func folder(_ home: TestHome) throws -> BackupFolder {
        let world = home.world()
        return try BackupFolder(
            home.path("b"), named: "b", catalogues: world.machine.catalogues, device: LocalDevice(world.machine).key(),
            waitingAtMost: .zero)
    }

    private func catalogue(_ home: TestHome) throws -> Catalogue {
        let world = home.world()
        let found = try CatalogueFile(
            of: home.path("b"), in: world.machine.catalogues, device: LocalDevice(world.machine).key()
        ).load()
        return try #require(found)
    }
}
