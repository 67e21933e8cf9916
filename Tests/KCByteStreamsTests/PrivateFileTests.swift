import Foundation
import KCByteStreams
import KCTestSupport
import Testing

@Suite("Private files")
struct PrivateFileTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("Any access for group or others is refused", arguments: (0..<6).map { 1 << $0 } + [0o040, 0o044, 0o077])
    func refusesExposed(bits: Int) throws {
        let path = try folder.write("f", [1], mode: 0o600 | bits)
        #expect(throws: FileFailure(path, .exposed(mode: UInt32(0o600 | bits)))) { try PrivateFile.read(path).count }
        #expect(try PrivateFile.readPublic(path).bytesForTest() == [1])
    }

    @Test("A file that only its owner can access is read", arguments: [0o400, 0o600, 0o700])
    func readsPrivate(mode: Int) throws {
        let path = try folder.write("f", [1, 2], mode: mode)
        #expect(try PrivateFile.read(path).bytesForTest() == [1, 2])
    }

    @Test("A file owned by another user is refused", .enabled(if: geteuid() == 0, "only root can give files away"))
    func refusesForeign() throws {
        let path = try folder.write("f", [1])
        try #require(unsafe chown(path, 65_534, 65_534) == 0)
        #expect(throws: FileFailure(path, .foreignOwner)) { try PrivateFile.read(path).count }
    }

    @Test("A file of the size limit is read, and a larger one is refused", arguments: [1, 4096, PrivateFile.sizeLimit])
    func limitsSize(limit: Int) throws {
        let path = try folder.write("fits", [UInt8](repeating: 1, count: limit))
        #expect(try PrivateFile.read(path, limit: limit).count == limit)
        let larger = try folder.write("larger", [UInt8](repeating: 1, count: limit + 1))
        #expect(throws: FileFailure(larger, .tooLarge(limit: limit))) {
            try PrivateFile.read(larger, limit: limit).count
        }
        #expect(throws: FileFailure(larger, .tooLarge(limit: limit))) {
            try PrivateFile.readPublic(larger, limit: limit).count
        }
    }

    @Test("A file whose reported size is 0 is read to its end")
    func readsPastClaimedSize() throws {
        #expect(try PrivateFile.readPublic("/proc/sys/kernel/ostype").bytesForTest() == Array("Linux\n".utf8))
    }

    @Test("Symbolic links, folders and missing files are refused with the reason")
    func refusesOtherTypes() throws {
        try folder.write("f", [1])
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "f")
        for path in [folder.path("link"), folder.path] {
            #expect(throws: FileFailure(path, .notRegular)) { try PrivateFile.read(path).count }
        }
        #expect(throws: FileFailure(folder.path("missing"), .notFound)) {
            try PrivateFile.read(folder.path("missing")).count
        }
    }

    @Test("A created file can be read, and creating it again fails")
    func creates() throws {
        try PrivateFile.create(folder.path("f"), SecretBytes(copying: [1, 2, 3]))
        #expect(try PrivateFile.read(folder.path("f")).bytesForTest() == [1, 2, 3])
        #expect(throws: FileFailure(folder.path("f"), .exists)) {
            try PrivateFile.create(folder.path("f"), SecretBytes(copying: [4]))
        }
        #expect(try folder.read("f") == [1, 2, 3])
        #expect(try folder.list() == ["f"])
    }

    @Test("Replacing leaves only the new contents, accessible to the owner alone")
    func replaces() throws {
        try folder.write("f", [1], mode: 0o644)
        try PrivateFile.replace(folder.path("f"), SecretBytes(copying: [2, 3]))
        try PrivateFile.replace(folder.path("new"), SecretBytes(copying: [4]))
        #expect(try PrivateFile.read(folder.path("f")).bytesForTest() == [2, 3])
        #expect(try PrivateFile.read(folder.path("new")).bytesForTest() == [4])
        #expect(try folder.list() == ["f", "new"])
    }

    @Test("A failed replacement leaves nothing behind")
    func cleansUpAfterFailedReplace() throws {
        let path = folder.path("sub")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(throws: FileFailure(path, .system(EISDIR, doing: "replacing"))) {
            try PrivateFile.replace(path, SecretBytes(copying: [1]))
        }
        #expect(try folder.list() == ["sub"])
    }
}
