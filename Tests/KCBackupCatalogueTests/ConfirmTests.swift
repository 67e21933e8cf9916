import Foundation
import KCBackupEngine
import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCBackupCatalogue

/// A backup that makes no archive, since the store is in the state of which the newest one was made.
@Suite("Confirming the newest archive of a store that has not changed")
struct ConfirmTests {
    private let home: BackupHome
    private let before = [UInt8](repeating: 1, count: 32)

    init() throws { home = try BackupHome() }

    private func destination(
        _ state: [UInt8]?, isCurrent: Bool = true, skipsUnchanged: Bool = true, keys: [String] = ["age1key"]
    ) throws -> SeriesDestination {
        let folder = try home.open()
        let pin = BackupPin(isOfAll: false, mode: .encrypted, keys: keys, subjects: ["login".exact: "store"])
        try folder.use(for: pin, maySwitch: true)
        return SeriesDestination(
            folder, series: "login", rules: SeriesDestination.Rules(skipsUnchanged: skipsUnchanged),
            state: state.map { StoreState(digest: $0) { isCurrent } })
    }

    private func backUp(damaged: Int = 0, isCurrent: Bool = true) throws {
        try home.backUp(damaged: damaged, to: destination(before, isCurrent: isCurrent))
    }

    private func confirms(_ destination: SeriesDestination) throws -> Bool { try destination.confirm(now: home.now) }

    @Test("The same state confirms it, and reads no item")
    func same() throws {
        try backUp()
        home.pass(days: 3)
        let outcome = try {
            let destination = try destination(before)
            #expect(try confirms(destination))
            return destination.outcome
        }()
        guard case .unchanged(let entry) = outcome else { throw CatalogueFailure.noArchives(folder: "b") }
        #expect(entry.confirmed == home.now)
        #expect(try confirms(destination(before)))
    }

    @Test("An archive that a fast clock dated too late is confirmed at the time of the run")
    func fastClock() throws {
        home.pass(days: 30)
        try backUp()
        home.pass(days: -30)
        #expect(try confirms(destination(before)))
        let entry = try #require(try home.open().catalogue.newest(of: "login"))
        #expect(entry.confirmed == home.now && entry.lastGood(at: home.now) == home.now)
    }

    @Test("Another state, or none, does not, nor a run that saves in any case")
    func other() throws {
        #expect(try !confirms(destination(before)))
        try backUp()
        #expect(try !confirms(destination([UInt8](repeating: 2, count: 32))))
        #expect(try !confirms(destination(nil)))
        #expect(try !confirms(destination(before, skipsUnchanged: false)))
    }

    @Test("A state that changed while the archive was made is not recorded with it")
    func changedMeanwhile() throws {
        try backUp(isCurrent: false)
        #expect(try !confirms(destination(before)))
    }

    @Test("An archive that lacks items, has other keys, or is damaged or gone is not confirmed")
    func unfit() throws {
        try backUp(damaged: 1)
        #expect(try !confirms(destination(before)))
        try backUp()
        #expect(try !confirms(destination(before, keys: ["age1other"])))
        #expect(try confirms(destination(before)))
        let path = home.folder.path("backups/\(try #require(home.names().last))")
        try Data(contentsOf: URL(filePath: path)).dropLast(600).write(to: URL(filePath: path))
        #expect(try !confirms(destination(before)))
        try FileManager.default.removeItem(atPath: path)
        #expect(try !confirms(destination(before)))
    }

    @Test("A catalogue that was rebuilt knows no state, and the next archive is made to compare")
    func rebuilt() throws {
        try backUp()
        try home.loseCatalogue()
        #expect(try !confirms(destination(before)))
    }
}
