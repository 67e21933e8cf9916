import Foundation
import KCByteStreams
import KCTestSupport
import Testing

@Suite("Private folders")
struct PrivateFolderTests {
    private let folder: TemporaryFolder
    private static let isRoot = geteuid() == 0

    init() throws {
        folder = try TemporaryFolder()
        for name in ["a", "a/b"] { try make(name, 0o700) }
    }

    private func make(_ name: String, _ mode: Int) throws {
        try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: false)
        try setMode(name, mode)
    }

    private func setMode(_ name: String, _ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path(name))
    }

    private func expectShared(_ name: String, _ mode: UInt32, in path: String) {
        #expect(throws: FileFailure(folder.path(name), .sharedFolder(mode: mode))) { try PrivateFolder.require(path) }
    }

    @Test("A folder that only its owner can write to is private, even below a sticky one")
    func isPrivate() throws {
        try PrivateFolder.require(folder.path("a/b"))
        try setMode("a", 0o1777)
        try setMode("a/b", 0o755)
        try PrivateFolder.require(folder.path("a/b"))
        try PrivateFolder.require(folder.path("a/b/") + "./../b")
    }

    @Test("A folder that group or others can write to is refused, even if sticky", arguments: [0o770, 0o702, 0o1777])
    func refusesShared(mode: Int) throws {
        try setMode("a/b", mode)
        expectShared("a/b", UInt32(mode), in: folder.path("a/b"))
    }

    @Test("A folder whose parent others can write to is refused, unless it is sticky", arguments: [0o770, 0o707])
    func refusesSharedParent(mode: Int) throws {
        try setMode("a", mode)
        expectShared("a", UInt32(mode), in: folder.path("a/b"))
        try setMode("a", mode | 0o1000)
        try PrivateFolder.require(folder.path("a/b"))
    }

    @Test("A folder or parent of another user is refused", .enabled(if: isRoot, "only root can give folders away"))
    func refusesForeign() throws {
        for name in ["a/b", "a"] {
            try #require(unsafe chown(folder.path(name), 65_534, 65_534) == 0)
            #expect(throws: FileFailure(folder.path(name), .foreignFolder(owner: 65_534))) {
                try PrivateFolder.require(folder.path("a/b"))
            }
        }
    }

    @Test("Symbolic links are followed, and every folder along the way is checked")
    func followsLinks() throws {
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: folder.path("relative"), withDestinationPath: "a/../a/b")
        try manager.createSymbolicLink(atPath: folder.path("absolute"), withDestinationPath: folder.path("relative"))
        try manager.createSymbolicLink(atPath: folder.path("loop"), withDestinationPath: "loop")
        try PrivateFolder.require(folder.path("absolute"))
        #expect(throws: FileFailure.self) { try PrivateFolder.require(folder.path("loop")) }
        try setMode("a", 0o777)
        expectShared("a", 0o777, in: folder.path("absolute"))
    }

    @Test("A symbolic link owned by another user is refused", .enabled(if: isRoot, "only root can give links away"))
    func refusesForeignLinks() throws {
        let path = folder.path("link")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "a")
        try #require(unsafe lchown(path, 65_534, 65_534) == 0)
        #expect(throws: FileFailure(path, .foreignFolder(owner: 65_534))) { try PrivateFolder.require(path) }
    }

    @Test("A combining mark at the start of a name does not hide the folder that it is in")
    func combiningMark() throws {
        for name in ["a/\u{301}d", "a/\u{308}\u{301}", "a/b/\u{20dd}"] { try make(name, 0o700) }
        try setMode("a", 0o777)
        for name in ["a/\u{301}d", "a/\u{308}\u{301}", "a/b/\u{20dd}"] {
            #expect(throws: FileFailure(folder.path("a"), .sharedFolder(mode: 0o777)), "\(name)") {
                try PrivateFolder.require(folder.path(name))
            }
        }
    }

    @Test("For a folder that does not exist yet, its parents are checked")
    func missing() throws {
        let path = folder.path("a/new/newer")
        #expect(throws: FileFailure(path, .notFound)) { try PrivateFolder.require(path) }
        try PrivateFolder.require(path, mayBeMissing: true)
        try setMode("a", 0o777)
        #expect(throws: FileFailure(folder.path("a"), .sharedFolder(mode: 0o777))) { try Path.makeFolder(path) }
        #expect(try folder.list() == ["a", "a/b"])
    }

    @Test("A key file in a shared folder is not read, created or replaced")
    func privateFiles() throws {
        let path = try folder.write("a/key", [1])
        try setMode("a", 0o1777)
        let failure = FileFailure(folder.path("a"), .sharedFolder(mode: 0o1777))
        #expect(throws: failure) { try PrivateFile.read(path).count }
        #expect(throws: failure) { try PrivateFile.replace(path, SecretBytes(copying: [2])) }
        #expect(throws: failure) { try PrivateFile.create(folder.path("a/new"), SecretBytes(copying: [2])) }
        #expect(try folder.list() == ["a", "a/b", "a/key"])
        // A file meant to leave this system may be created anywhere.
        try PrivateFile.create(folder.path("a/new"), SecretBytes(copying: [2]), anywhere: true)
    }
}
