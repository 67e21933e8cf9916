import KCByteStreams
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCKeychainStore

@Suite("Batches of changes in one transaction")
struct BatchTests {
    private let bench: Bench
    private let keychain: Keychain

    private struct Refusal: Error {}

    init() throws {
        bench = try Bench()
        keychain = try bench.create()
        try keychain.add(password("before"), secret: "0".secret, now: moment(1))
    }

    private var accounts: [String] {
        get throws { try keychain.items().compactMap { $0.attributes.text(.acct) }.sorted() }
    }

    /// The number of commits to the file, as counted by SQLite (sqlite.org/fileformat2.html, 1.3.7).
    private var commits: UInt32 {
        get throws { try bench.folder.read("login.keychain")[24..<28].reduce(0) { $0 << 8 | UInt32($1) } }
    }

    @Test("A failed change is undone completely, and the others are committed together")
    func oneFails() throws {
        let before = try commits
        try keychain.writeBatch { batch in
            try batch.change { writer in try writer.add(password("one"), secret: "1".secret, now: moment(2)) }
            #expect(throws: Refusal.self) {
                try batch.change { writer in
                    try writer.add(password("two"), secret: "2".secret, now: moment(2))
                    try writer.delete(matching: ItemQuery(itemClass: .genericPassword), now: moment(2))
                    throw Refusal()
                }
            }
            #expect(throws: KeychainStoreError.duplicateItem) {
                try batch.change { writer in try writer.add(password("one"), secret: "3".secret, now: moment(2)) }
            }
            try batch.change { writer in try writer.add(password("four"), secret: "4".secret, now: moment(2)) }
        }
        #expect(try accounts == ["before", "four", "one"])
        #expect(try commits == before + 1)
        try keychain.checkIntegrity()
    }

    @Test("A change that swallows a failure is undone")
    func swallowed() throws {
        try keychain.writeBatch { batch in
            #expect(throws: KeychainStoreError.itemNotFound) {
                try batch.change { writer in
                    try writer.add(password("half"), secret: "1".secret, now: moment(2))
                    do {
                        try writer.update(
                            matching: ItemQuery(itemClass: .certificate), set: [:], now: moment(2))
                    } catch {}
                }
            }
            try batch.change { writer in try writer.add(password("whole"), secret: "2".secret, now: moment(2)) }
        }
        #expect(try accounts == ["before", "whole"])
    }

    @Test("If the batch throws, nothing is committed")
    func batchThrows() throws {
        #expect(throws: Refusal.self) {
            try keychain.writeBatch { batch in
                try batch.change { writer in try writer.add(password("one"), secret: "1".secret, now: moment(2)) }
                throw Refusal()
            }
        }
        #expect(try accounts == ["before"])
    }

    @Test("After SQLite rolls the transaction back, nothing is committed and later changes report the reason")
    func lost() throws {
        var refusals = 0
        #expect(throws: Refusal.self) {
            try keychain.writeBatch { batch in
                try batch.change { writer in try writer.add(password("one"), secret: "1".secret, now: moment(2)) }
                do {
                    try batch.change { _ in
                        try keychain.connection.database.execute("ROLLBACK")
                        throw Refusal()
                    }
                } catch is Refusal {
                    refusals += 1
                }
                do {
                    try batch.change { writer in
                        try writer.add(password("two"), secret: "2".secret, now: moment(2))
                    }
                } catch is Refusal {
                    refusals += 1
                }
            }
        }
        #expect(refusals == 2)
        #expect(try accounts == ["before"])
        try keychain.add(password("after"), secret: "3".secret, now: moment(3))
        #expect(try accounts == ["after", "before"])
    }
}
