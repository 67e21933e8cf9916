import Foundation
import KCByteStreams
import KCExportFormats
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("KDBX files piece by piece", .waitsForPrograms)
struct KDBXBlockTests {
    private static let xml = KDBXForge.xml(
        KDBXForge.entry(1, [("Title", "A"), ("UserName", "ada"), ("Password", "{{first}}")])
            + KDBXForge.entry(2, [("Title", "B"), ("Password", "{{second}}")]))

    @Test(
        "The size of the blocks does not matter, even if a block of the cipher is in two of them",
        arguments: [1, 7, 15, 16, 17, 33, 1_000])
    func sizes(size: Int) throws {
        for cipher in [KDBX.Cipher.aes256, .chaCha20] {
            for isCompressed in [false, true] {
                let forge = KDBXForge(
                    cipher: cipher, binaries: [[], [1, 2, 3]], isCompressed: isCompressed, blockSize: size)
                let contents = try ForeignReading.read(try forge.file(Self.xml), as: KeePassFormat(), password: "pw")
                let secrets = try contents.entries.map { String(decoding: $0.secret ?? [], as: UTF8.self) }
                #expect(secrets.sorted() == ["first", "second"])
            }
        }
    }

    @Test("No byte of any block may change, and no block may be missing or in another place")
    func changed() throws {
        let file = try KDBXForge(blockSize: 160).file(Self.xml)
        let block = 32 + 4 + 160
        let first = file.count - (file.count - 4) / block * block
        for index in stride(from: file.count - 1, to: max(first, 0), by: -37) {
            var changed = file
            changed[index] ^= 1
            #expect(throws: ForeignFailure.self) {
                try ForeignReading.read(changed, as: KeePassFormat(), password: "pw")
            }
        }
        var header = try KDBXHeader(file.span).size + 64
        var blocks: [[UInt8]] = []
        while header < file.count {
            let size = Int(file[header + 32]) + Int(file[header + 33]) << 8
            blocks.append(Array(file[header..<header + 36 + size]))
            header += 36 + size
        }
        let start = Array(file.prefix(try KDBXHeader(file.span).size + 64))
        #expect(start + blocks.flatMap { $0 } == file)
        #expect(blocks.count > 3)
        let swapped = [blocks[1], blocks[0]] + blocks.dropFirst(2)
        for other in [Array(blocks.dropFirst()), swapped, Array(blocks.dropLast())] {
            #expect(throws: ForeignFailure.self) {
                try ForeignReading.read(start + other.flatMap { $0 }, as: KeePassFormat(), password: "pw")
            }
        }
    }

    @Test("Many entries need no more mappings of memory than few, of which a process can have some ten thousand")
    func mappings() throws {
        func mappings() throws -> Int {
            try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).utf8.count { $0 == UInt8(ascii: "\n") }
        }
        let writer = try KDBXWriter(date: .reference, memoryInKiB: 64)
        let before = try mappings()
        let count = 20_000
        for number in 0..<count {
            var draft = ItemDraft(itemClass: .genericPassword)
            draft.attributes[.svce] = .text("\(number)")
            let item = try draft.completed(now: .reference, secretSize: 1)
            _ = try writer.add(ExportedRecord(ExportedPart(item, SecretBytes(copying: [UInt8(ascii: "x")]))))
        }
        // Other tests run at the same time.
        #expect(try mappings() - before < count / 2)
    }
}
