import KCByteStreams
import Glibc
@testable import KCTarArchive
import KCTestSupport
import Testing

@Suite("Verification with libarchive")
struct LibarchiveReaderTests {
    private static let first = TarMember(name: "first.txt", offset: 512, length: 37, modified: 1_700_000_000)
    private static let second = TarMember(name: "second", offset: 1536, length: 0, modified: 1_700_000_000)

    private func confirm(_ members: [TarMember], in archive: [UInt8]) throws {
        try LibarchiveReader.confirm(members, in: TarSample.file(archive))
    }

    private func expectDisagreement(_ members: [TarMember], at offset: UInt64, in archive: [UInt8]) throws {
        let kind = StreamFailure.Kind.malformed("libarchive finds the same members")
        #expect(throws: StreamFailure(.readingContainer, kind, offset: offset)) { try confirm(members, in: archive) }
    }

    @Test("The members of an archive are confirmed")
    func confirms() throws {
        try confirm([Self.first, Self.second], in: TarSample.small())
    }

    @Test(
        "A wrong detail of a member is a disagreement",
        arguments: [
            TarMember(name: "first.tx", offset: 512, length: 37, modified: 1_700_000_000),
            TarMember(name: "first.txt", offset: 513, length: 37, modified: 1_700_000_000),
            TarMember(name: "first.txt", offset: 512, length: 38, modified: 1_700_000_000),
            TarMember(name: "first.txt", offset: 512, length: 37, modified: 1_700_000_001),
        ])
    func noticesWrongFact(member: TarMember) throws {
        try expectDisagreement([member, Self.second], at: member.offset - 512, in: TarSample.small())
    }

    @Test("A missing or extra member is a disagreement")
    func noticesCount() throws {
        let archive = try TarSample.small()
        try expectDisagreement([Self.first], at: 1024, in: archive)
        let third = TarMember(name: "third", offset: 2048, length: 0, modified: 1_700_000_000)
        try expectDisagreement([Self.first, Self.second, third], at: 1536, in: archive)
    }

    @Test("An archive without its two zero blocks at the end is a disagreement")
    func noticesOtherEnd() throws {
        let archive = try TarSample.small()
        try expectDisagreement([Self.first, Self.second], at: 1536, in: archive.dropLast(512))
    }

    @Test(
        "A different mode or type is a disagreement",
        arguments: [(100, "000644 \0"), (156, "1"), (156, "2"), (156, "5"), (257, "ustar  \0")])
    func noticesOtherHeader(offset: Int, value: String) throws {
        let archive = try TarSample.changed(TarSample.small(), at: offset, Array(value.utf8))
        try expectDisagreement([Self.first, Self.second], at: 0, in: archive)
    }

    @Test("A read failure is reported with its own reason rather than libarchive's")
    func passesReadFailures() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("a.tar", TarSample.small())
        let unreadable = OpenFile(owning: unsafe open(path, O_WRONLY), path: path)
        #expect(throws: StreamFailure(.reading, .system(EBADF), offset: 0)) {
            try LibarchiveReader.confirm([Self.first, Self.second], in: unreadable)
        }
    }
}
