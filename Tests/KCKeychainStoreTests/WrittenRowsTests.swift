import Foundation
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@Suite("The rows that a change wrote")
struct WrittenRowsTests {
    @Test("They are those of the file, whether the change only added items or did more", arguments: [false, true])
    func record(doesMore: Bool) throws {
        let bench = try Bench(inMemory: true)
        let keychain = try bench.create()
        let path = bench.folder.path("before.keychain")
        try FileManager.default.copyItem(atPath: bench.path, toPath: path)
        let before = try bench.open(at: path)
        let written: WrittenRows = try keychain.write { writer in
            for name in ["a", "b", "c"] { try writer.add(password(name), secret: name.secret, now: moment(1)) }
            let site = try writer.add(draft(.internetPassword, [:]), secret: nil, now: moment(1))
            if doesMore {
                _ = try writer.delete(matching: ItemQuery(site), now: moment(2))
                try writer.add(draft(.internetPassword, [:]), secret: "d".secret, now: moment(2))
            }
            return try writer.rowsWritten(since: before)
        }
        // Half of the salt, which comes after the format.
        let sql = "SELECT substr(data, 2, 16) FROM genp UNION ALL SELECT substr(data, 2, 16) FROM inet"
        let seals = try bench.alter(sql).map { row in try #require(row.first?.blob) }
        let recorded = stride(from: 0, to: written.record.count, by: RowSeal.size).map { start in
            Array(written.record[start..<start + RowSeal.size])
        }
        #expect(seals.count == 4 && Set(recorded) == Set(seals) && recorded.count == 4)
        #expect(!written.isNone)
    }

    @Test("A change that writes nothing has none")
    func none() throws {
        let bench = try Bench(inMemory: true)
        let keychain = try bench.create()
        let path = bench.folder.path("before.keychain")
        try FileManager.default.copyItem(atPath: bench.path, toPath: path)
        let before = try bench.open(at: path)
        let written = try keychain.write { writer in try writer.rowsWritten(since: before) }
        #expect(written.isNone && written.record.isEmpty)
    }
}
