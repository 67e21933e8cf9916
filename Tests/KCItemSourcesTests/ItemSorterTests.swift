import Foundation
import Glibc
import KCByteStreams
import KCCryptography
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCItemSources

@Suite("Items that do not fit into memory")
struct ItemSorterTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// An item whose number is in its secret; every third one has a long secret, and every fifth none.
    private static func add(_ index: Int, _ service: String, uuid: ItemUUID? = nil, to sorter: inout ItemSorter) throws
    {
        var draft = ItemDraft(itemClass: index % 2 == 0 ? .genericPassword : .internetPassword, uuid: uuid)
        draft.attributes[index % 2 == 0 ? .svce : .srvr] = .text(service)
        draft.extra = [ExtraAttribute(name: "number", value: "\(index)")]
        let secret = String(repeating: "secret of \(index) ", count: index % 3 == 0 ? 1_000 : 1)
        var records = PackedRecords(date: .reference)
        try records.add(draft, number: index, secret: index % 5 == 0 ? nil : SecretBytes(copying: secret.utf8))
        try sorter.add(records)
    }

    private func sorted(_ services: [String], limit: Int, in folder: String?) throws -> ListingVisitor {
        var sorter = ItemSorter(spoolingIn: folder, limit: limit)
        for (index, service) in services.enumerated() { try Self.add(index, service, to: &sorter) }
        let items = try sorter.finish()
        #expect(items.count == services.count)
        var first = ListingVisitor()
        try items.visitItems(&first)
        var second = ListingVisitor()
        try items.visitItems(&second)
        #expect(first.items == second.items && first.secrets == second.secrets)
        return first
    }

    @Test(
        "They come as those that fit, each with its secret, however many are in memory",
        arguments: [0, 5_000, 40_000])
    func sameAsInMemory(limit: Int) throws {
        var random = SeededRandom(seed: 1)
        let services = (0..<300).map { "service \($0)" }.shuffled(using: &random)
        let spooled = try sorted(services, limit: limit, in: folder.path)
        let held = try sorted(services, limit: limit, in: nil)
        #expect(spooled.items == held.items)
        #expect(spooled.secrets == held.secrets)
        #expect(zip(spooled.items, spooled.items.dropFirst()).allSatisfy { $0.precedes($1) })
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("Two with the same unique key or UUID are found, wherever they are", arguments: [0, 100_000])
    func clashes(limit: Int) throws {
        let uuid = try #require(ItemUUID("0b1b25a8-d837-4f51-a693-4442d2b04834"))
        func sort(with service: String, uuid other: ItemUUID? = nil) throws {
            var sorter = ItemSorter(spoolingIn: folder.path, limit: limit)
            for index in 0..<20 { try Self.add(index, "\(index)", uuid: index == 4 ? uuid : nil, to: &sorter) }
            try Self.add(22, service, uuid: other, to: &sorter)
            _ = try sorter.finish()
        }
        #expect(throws: ItemCollection.Clash.sameKey(8, 22)) { try sort(with: "8") }
        #expect(throws: ItemCollection.Clash.sameUUID(4, 22)) { try sort(with: "new", uuid: uuid) }
        #expect(throws: ItemCollection.Clash.sameKey(4, 22)) { try sort(with: "4", uuid: uuid) }
    }

    @Test("A folder that is not there is named")
    func noFolder() throws {
        var sorter = ItemSorter(spoolingIn: folder.path("none"), limit: 0)
        #expect(throws: SpoolFailure.self) { try Self.add(0, "a", to: &sorter) }
    }

    @Test("The file shows nothing of what is in it, and pieces come back as they were written")
    func sealed() throws {
        let spool = try SealedSpool(inFolder: folder.path)
        var pieces: [(piece: SealedSpool.Piece, bytes: [UInt8])] = []
        for size in [0, 1, 65_535, 65_536, 65_537, 200_000] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 / 7 + size) }
            try spool.write(bytes.span.extracting(..<(size / 2)))
            try spool.write(bytes.span.extracting((size / 2)...))
            pieces.append((try spool.endPiece(), bytes))
        }
        for (piece, bytes) in pieces.reversed() {
            let reader = try SealedSpool.Reader(piece)
            var found = SecretBytes(capacity: 0)
            if !bytes.isEmpty { try reader.read(bytes.count, into: &found) }
            #expect(reader.isAtEnd)
            #expect(found.withBytes { $0.isEqual(to: bytes.span) })
        }
        let contents = try contents(of: spool.file)
        #expect(contents.count == pieces.reduce(9 * authenticationTagLength) { $0 + $1.bytes.count })
        // The written pieces have the same byte seven times in a row everywhere.
        let hasRun = contents.indices.dropLast(7).contains { start in
            (1..<7).allSatisfy { contents[start + $0] == contents[start] }
        }
        #expect(!hasRun)
    }

    @Test("A file that was changed, or whose blocks were exchanged, is not read")
    func changed() throws {
        let spool = try SealedSpool(inFolder: folder.path)
        try spool.write([UInt8](repeating: 7, count: 131_072).span)
        let piece = try spool.endPiece()
        let contents = try contents(of: spool.file)
        let half = contents.count / 2
        var flipped = contents
        flipped[half - 1] ^= 1
        for bytes in [flipped, Array(contents[half...] + contents[..<half])] {
            lseek(spool.file.descriptor, 0, SEEK_SET)
            try spool.file.write(bytes.span)
            var found = SecretBytes(capacity: 0)
            let reader = try SealedSpool.Reader(piece)
            #expect(throws: FileFailure.self) { try reader.read(131_072, into: &found) }
        }
    }

    private func contents(of file: OpenFile) throws -> [UInt8] {
        var bytes = SecretBytes(capacity: 0)
        let size = Int(try file.size())
        try bytes.append(upTo: size) { output throws(StreamFailure) in try file.read(at: 0, into: &output) }
        return bytes.withBytes { Array(copying: $0) }
    }
}
