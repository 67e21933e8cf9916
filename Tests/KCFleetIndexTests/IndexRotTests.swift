import Foundation
import KCAgeEncryption
import KCBackupArchive
import KCByteStreams
import KCDeviceIdentity
import KCFleet
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCFleetIndex

@Suite("The index of a fleet, with rot and with too much in it")
struct IndexRotTests {
    private let folder: TemporaryFolder
    private let inspector: NativeIdentity
    private let devices: [DeviceKey]
    private let keys: IndexKeys

    private var path: String { folder.path("fleet.index") }

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        inspector = try NativeIdentity.generate(.x25519)
        devices = try (0..<2).map { _ in try DeviceKey.generate() }
        keys = IndexKeys(recipients: [inspector.recipient.description])
    }

    private func moment(_ seconds: Int) -> Timestamp {
        Timestamp.reference.advanced(byMicroseconds: Int64(seconds) * 1_000_000)
    }

    private func item(_ number: Int, night: Int, label: String) throws -> Item {
        var draft = ItemDraft(itemClass: .internetPassword, uuid: ItemUUID(high: 1, low: UInt64(number)))
        draft.attributes[.acct] = .text("user\(number)")
        draft.attributes[.srvr] = .text("host\(number % 7).example.org")
        draft.attributes[.labl] = .text(label)
        return try draft.completed(now: moment(number == night ? night : 0), secretSize: 1)
    }

    /// Takes in an archive of a machine with this many items.
    private func add(
        _ items: Int, of machine: DeviceKey, night: Int, label: String = "x", to index: FleetIndex,
        _ budget: IndexBudget = .standard
    ) throws -> IndexWriter.Taken {
        let name = "login-\(night).kcb"
        var writer = try ArchiveWriter(
            .encrypted(ArchiveKeys(recipients: [inspector.recipient])),
            of: ArchiveSource(kind: ArchiveSource.keychain, name: "login"), device: machine, folder: folder.path)
        for item in try (0..<items).map({ try item($0, night: night, label: label) }).sorted(by: { $0.precedes($1) }) {
            var line = SecretBytes(capacity: 1_024)
            ItemLine.encode(item, into: &line)
            try line.withBytes { span in try writer.append(item, line: span, secret: SecretBytes(copying: "s".utf8)) }
        }
        let finished = try writer.finish(omitted: 0, damaged: 0, created: moment(night), tool: "test")
        try finished.publish(as: "\(machine.id)-\(name)")
        let archive = try #require(FleetArchive(path: Array("\(machine.id)/\(name)".utf8), size: finished.size))
        let genuine = try ArchiveFile(OpenFile.reading(folder.path("\(machine.id)-\(name)"))).prove()
        let metadata = try genuine.openMetadata(identities: [inspector])
        let members = FleetMembers(inventory: nil, signers: nil, trusted: [machine.id: "host of \(machine.id)"])
        return try index.database.write {
            let writer = try IndexWriter(index.database, keys, members, budget, now: moment(1_000))
            var hasher = ContentsHasher(limit: budget.archive)
            do {
                let read = try metadata.read(&hasher)
                return try writer.add(
                    archive,
                    ProvedMetadata(
                        metadata: metadata, source: read.source, digest: hasher.finish(), count: hasher.count,
                        size: hasher.size))
            } catch let problem as IndexProblem {
                return try writer.reject(archive, problem)
            }
        }
    }

    /// All that an index answers.
    private func answers() throws -> [AnyHashable] {
        let index = try FleetIndex.opening(path)
        var answers: [AnyHashable] = [try index.counts()]
        for device in devices { answers.append(try index.machines(named: "host of \(device.id)")) }
        for time in [FleetQuery.Time.now, .before(moment(2)), .ever] {
            for (text, machines) in [(SearchText("host3.example.org"), nil), (nil, [devices[0].id])] {
                let found = try index.search(FleetQuery(text: text, machines: machines, time: time, limit: 1_000))
                answers += [found.items, found.hasMore]
            }
        }
        for time in [nil, moment(2)] {
            var items: [FoundItem] = []
            answers.append(try index.visitItems(before: time) { items.append($0) })
            answers.append(items)
        }
        return answers
    }

    /// An index of two machines with two nights each, some of whose names need pages of their own.
    private func make() throws -> FleetIndex {
        let index = try FleetIndex.opening(path, creating: true)
        let long = String(repeating: "long", count: 2_000)
        for (device, night, count, label) in [(0, 1, 8, "x"), (0, 2, 8, "x"), (1, 1, 1, long), (1, 2, 8, "x")] {
            guard case .added = try add(count, of: devices[device], night: night, label: label, to: index) else {
                Issue.record("an archive was not taken in")
                return index
            }
        }
        return index
    }

    @Test("With one wrong bit in the file, an index answers what it did, or says that it is damaged")
    func rot() throws {
        _ = try make()
        let whole = try answers()
        let bytes = try folder.read("fleet.index")
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        func write(_ byte: UInt8, at offset: Int) throws {
            try file.seek(toOffset: UInt64(offset))
            try file.write(contentsOf: [byte])
        }
        var random = SeededRandom(seed: 46)
        var found = 0
        for page in 0..<bytes.count / 4_096 {
            // The last of the three is where the page and its rows begin, which is what SQLite believes.
            for limit in [4_096, 4_096, 128] {
                let offset = page * 4_096 + Int.random(in: 0..<limit, using: &random)
                let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &random)
                try write(bytes[offset] ^ bit, at: offset)
                do {
                    let answers = try answers()
                    #expect(answers == whole, "bit \(bit) of byte \(offset)")
                } catch let failure as FleetIndexFailure {
                    #expect(failure == .damaged(path) || failure == .notAnIndex(path))
                    found += 1
                }
                try write(bytes[offset], at: offset)
            }
        }
        #expect(found > bytes.count / 4_096)
        #expect(try answers() == whole)
    }

    @Test("An index whose end is missing is damaged, and one without checksums too")
    func cutAndBare() throws {
        _ = try make()
        let bytes = try folder.read("fleet.index")
        let damaged = FleetIndexFailure.damaged(path)
        try Data(bytes.dropLast(2_048)).write(to: URL(filePath: path))
        #expect(throws: damaged) { try answers() }
        var bare = bytes
        for end in stride(from: 4_096, through: bare.count, by: 4_096) {
            for offset in end - 8..<end { bare[offset] = 0 }
        }
        try Data(bare).write(to: URL(filePath: path))
        #expect(throws: damaged) { try answers() }
        try Data(bytes).write(to: URL(filePath: path))
        #expect(throws: Never.self) { try answers() }
    }

    @Test("Pages that are freed before they were ever written are no holes without a checksum")
    func holes() throws {
        let index = try make()
        let whole = try answers()
        try index.failing {
            try index.database.write {
                let insert = try index.database.statement(
                    "INSERT INTO archive(machine, name, size, problem, detail) VALUES(9, ?1, 0, 'copy', ?2)")
                for number in 0..<40 {
                    try insert.bind(text: "\(number)", 1)
                    try insert.bind(text: String(repeating: "l", count: 4_000), 2)
                    try insert.run()
                }
                try index.database.statement("DELETE FROM archive WHERE machine = 9 AND name <> '39'").run()
            }
            try index.database.write {
                try index.database.statement("DELETE FROM archive WHERE machine = 9").run()
            }
        }
        #expect(try answers() == whole)
        let bytes = try folder.read("fleet.index")
        for start in stride(from: 0, to: bytes.count, by: 4_096) {
            #expect(bytes[start..<start + 4_096].contains { $0 != 0 }, "page at \(start)")
        }
    }

    @Test("Neither one archive nor one machine can fill an index, and other machines go on")
    func budget() throws {
        let index = try FleetIndex.opening(path, creating: true)
        let budget = IndexBudget(archive: 4_000, machine: 5_000)
        func limit(_ taken: IndexWriter.Taken) -> String? {
            if case .rejected(.limit(let what)) = taken { what } else { nil }
        }
        let long = String(repeating: "l", count: 5_000)
        #expect(try limit(add(1, of: devices[0], night: 21, label: long, to: index, budget)) != nil)
        #expect(try limit(add(10, of: devices[0], night: 22, to: index, budget)) == nil)
        // With other names, so that all of it is new.
        #expect(try limit(add(10, of: devices[0], night: 23, label: "y", to: index, budget)) == nil)
        #expect(try limit(add(10, of: devices[0], night: 24, label: "z", to: index, budget)) != nil)
        #expect(try limit(add(10, of: devices[1], night: 25, label: "z", to: index, budget)) == nil)
        // Costs nothing, since another archive has the same items.
        #expect(try limit(add(10, of: devices[0], night: 26, to: index, budget)) == nil)
        let counts = try index.counts()
        #expect(counts.read == 4 && counts.unread == 2)
        let found = try index.search(FleetQuery(text: SearchText("host3"), time: .ever, limit: 100))
        #expect(Set(found.items.map(\.device)) == Set(devices.map(\.id)))
    }
}
