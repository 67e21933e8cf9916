import Foundation
import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

@Suite("The lock that keeps readers out during a commit")
struct LateLockTests {
    private let bench: Bench
    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

    init() throws {
        bench = try Bench()
        try bench.create().add(password("before"), secret: "0".secret, now: moment(1))
    }

    private static func accounts(_ database: Database) throws -> Int64 {
        let rows = try SQLStatement("SELECT count(*) FROM genp", on: database)
        return try rows.step() ? rows.integer(0) : -1
    }

    /// True if the journal is as it is when it may be played back: complete, with its header.
    private var isJournalComplete: Bool {
        guard let journal = try? bench.folder.read("login.keychain-journal") else { return false }
        return journal.starts(with: Self.magic)
    }

    @Test("A commit completes its journal before it locks readers out, and then waits for those who read")
    func journalFirst() throws {
        let reader = try bench.open().connection
        let transaction = try reader.beginReading()
        #expect(try Self.accounts(transaction.database) == 1)
        let (device, path) = (bench.device, bench.path)
        let written = DispatchSemaphore(value: 0)
        let outcome = Tally<String>()
        Thread {
            do {
                let keychain = try Keychain.open(
                    at: path, deviceKey: device, lockWait: Bench.patience, minimumCost: Bench.cost)
                try keychain.add(password("after"), secret: "1".secret, now: moment(2))
                outcome.count("added")
            } catch {
                outcome.count("\(error)")
            }
            written.signal()
        }.start()
        // With SQLite's own order, the journal would get its header only after this reader has ended.
        while !isJournalComplete && outcome.result.isEmpty { sched_yield() }
        #expect(outcome.result == [:])
        #expect(try Self.accounts(transaction.database) == 1)
        try transaction.commit()
        written.wait()
        #expect(outcome.result == ["added": 1])
        #expect(try bench.open().items().count == 2)
    }

    @Test("A commit that those who read do not let through is rolled back at once, and they go on")
    func keptOut() throws {
        let reader = try bench.open().connection
        let writer = try bench.open(lockWait: .zero)
        let transaction = try reader.beginReading()
        #expect(try Self.accounts(transaction.database) == 1)
        for _ in 0..<2 {
            #expect(throws: KeychainStoreError.busy) {
                try writer.add(password("after"), secret: "1".secret, now: moment(2))
            }
            // A journal that is left would keep everyone out until it has been played back.
            #expect(try !bench.folder.list().contains("login.keychain-journal"))
            #expect(try Self.accounts(transaction.database) == 1)
            #expect(try bench.open(lockWait: .zero).items().count == 1)
        }
        try transaction.commit()
        try writer.add(password("after"), secret: "1".secret, now: moment(2))
        let files = SQLiteFile(bench.path)
        #expect(try files.run("PRAGMA integrity_check") == [[.text("ok")]])
        #expect(try files.run("SELECT count(*) FROM genp") == [[.integer(2)]])
    }

    @Test("A signal ends the waiting for the lock of another connection, before a change and at its end")
    func interrupted() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench()
            let other = try bench.create().connection
            let keychain = try bench.open(lockWait: .seconds(600))
            Interruption.request(SIGTERM)
            defer { Interruption.request(0) }
            try other.database.begin(writing: true)
            #expect(throws: KeychainStoreError.interrupted) {
                try keychain.connection.write { _ in Issue.record("the file was locked") }
            }
            other.database.rollBack()
            let transaction = try other.beginReading()
            #expect(try LateLockTests.accounts(transaction.database) == 0)
            #expect(throws: KeychainStoreError.interrupted) {
                try keychain.connection.write { database in
                    try SQLStatement("UPDATE keychain SET created = created + 1", on: database).run()
                }
            }
            try transaction.commit()
        }
    }

    @Test("A change too large for memory is written early, and is undone with everything else")
    func spilled() throws {
        let keychain = try bench.open()
        // Pages beyond ten are written to the file in the middle of the transaction.
        try keychain.connection.database.execute("PRAGMA cache_size = 10")
        let big = String(repeating: "x", count: 100_000)
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try keychain.writeBatch { batch in
                for number in 0..<5 {
                    try batch.change { writer in
                        try writer.add(password("\(number)"), secret: big.secret, now: moment(2))
                    }
                }
                throw Refusal()
            }
        }
        #expect(try SQLiteFile(bench.path).run("SELECT count(*) FROM genp") == [[.integer(1)]])
        try keychain.add(password("after"), secret: big.secret, now: moment(3))
        #expect(try SQLiteFile(bench.path).run("PRAGMA integrity_check") == [[.text("ok")]])
        #expect(try bench.open().items().count == 2)
    }

    @Test("Programs that lock in SQLite's own order lose nothing beside this one, and it loses nothing")
    func besideOthers() throws {
        let path = bench.path
        let (device, tally) = (bench.device, Tally<String>())
        onThreads(6) { thread in
            do {
                guard thread.isMultiple(of: 2) else {
                    for _ in 0..<25 { try SQLiteFile(path).run("UPDATE attempts SET last = last + 1") }
                    return
                }
                let keychain = try Keychain.open(
                    at: path, deviceKey: device, lockWait: Bench.patience, minimumCost: Bench.cost)
                for number in 0..<25 {
                    try keychain.add(password("\(thread) \(number)"), secret: "1".secret, now: moment(2))
                    tally.count("read", when: try keychain.items().count > number)
                }
            } catch {
                tally.count("\(error)")
            }
        }
        #expect(tally.result == ["read": 75])
        let file = SQLiteFile(path)
        #expect(try file.run("SELECT last FROM attempts") == [[.integer(75)]])
        #expect(try file.run("SELECT count(*) FROM genp") == [[.integer(76)]])
        #expect(try file.run("PRAGMA integrity_check") == [[.text("ok")]])
    }
}
