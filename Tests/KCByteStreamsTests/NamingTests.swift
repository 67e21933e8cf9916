import Foundation
import KCTestSupport
import Testing

@testable import KCByteStreams

@Suite("Temporary and final file names")
struct NamingTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func links(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: folder.path(name))[.referenceCount] as? Int
    }

    private func open(_ path: String) throws -> OpenFile {
        OpenFile(owning: unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path: path)
    }

    @Test("A file moves to a free name and keeps only that one", arguments: [Naming.Way.renaming, .linking])
    func moves(way: Naming.Way) throws {
        try folder.write("old", [1])
        let parent = try open(folder.path)
        #expect(Naming.move("old", in: parent, to: "new", in: parent, way: way) == 0)
        #expect(try folder.list() == ["new"])
        #expect(try links("new") == 1)
    }

    @Test("An existing file is not overwritten", arguments: [Naming.Way.renaming, .linking])
    func keepsTakenName(way: Naming.Way) throws {
        try folder.write("old", [1])
        try folder.write("new", [2])
        let parent = try open(folder.path)
        #expect(Naming.move("old", in: parent, to: "new", in: parent, way: way) == EEXIST)
        #expect(try folder.read("new") == [2])
        #expect(try folder.read("old") == [1])
    }

    @Test("Temporary files of a killed process are removed, and those in use are kept")
    func sweeps() throws {
        let names = [
            ".kcbackup-1abc000000000.tmp", ".restoring-old0000000000/login.keychain",
            ".restoring-old0000000000/login.keychain-journal",
        ]
        try FileManager.default.createDirectory(
            atPath: folder.path(".restoring-old0000000000"), withIntermediateDirectories: false)
        for name in names { try folder.write(name, [1]) }
        let others = [
            ".kcbackup-1abc000000000", "kcbackup-1abc000000000.tmp", "login.keychain", ".restoring", ".restoring-notes",
            ".kcbackup-notes.tmp", ".kcbackup-NOTES00000000.tmp", ".kcbackup-1abc0000000000.tmp",
        ]
        for name in others { try folder.write(name, [1]) }
        let held = try UnnamedFile(inFolder: folder.path, way: .renaming)
        let passing = try StagingFolder(in: folder.path)
        try StaleFiles.remove(in: folder.path)
        let left = try folder.list()
        #expect(left.count == others.count + 2)
        #expect(Set(left).isSuperset(of: others))
        #expect(left.contains(Path.split(passing.path).name))
        withExtendedLifetime((held, passing)) {}
    }

    @Test("A staging folder can be where others have files, in which no other user can put any, and is removed")
    func stagingBesideOthers() throws {
        #expect(unsafe chmod(folder.path, 0o1777) == 0)
        #expect(throws: FileFailure(folder.path, .sharedFolder(mode: 0o1777))) { try StagingFolder(in: folder.path) }
        var staging: StagingFolder? = try StagingFolder(inTemporaryFolder: folder.path)
        // A name of another program need not be UTF-8.
        if let staging {
            let name = Array("\(staging.path)/x".utf8).map { CChar(bitPattern: $0) } + [CChar(bitPattern: 0xff), 0]
            close(unsafe creat(name, 0o600))
        }
        let path = try #require(staging?.path)
        try PrivateFile.create(path + "/receipt", [1].span)
        staging = nil
        #expect(try folder.list() == [])
        #expect(unsafe chmod(folder.path, 0o777) == 0)
        #expect(throws: FileFailure.self) { try StagingFolder(inTemporaryFolder: folder.path) }
        #expect(try folder.list() == [])
    }

    @Test("The extra name left by a kill between link and unlink is removed by the next cleanup")
    func finishesNaming() throws {
        try folder.write("login.keychain", [1])
        try FileManager.default.linkItem(
            atPath: folder.path("login.keychain"), toPath: folder.path(".kcbackup-1abc000000000.tmp"))
        try StaleFiles.remove(in: folder.path)
        #expect(try folder.list() == ["login.keychain"])
        #expect(try links("login.keychain") == 1)
    }

    @Test("Each file that is created removes what a killed process left in its folder", arguments: [true, false])
    func makersOfUnnamedFilesSweep(hasUnnamedFiles: Bool) throws {
        try folder.write(".kcbackup-1abc000000000.tmp", [1])
        let file = try UnnamedFile(inFolder: folder.path, way: hasUnnamedFiles ? .withoutName : .renaming)
        #expect(try !folder.list().contains(".kcbackup-1abc000000000.tmp"))
        withExtendedLifetime(file) {}
    }

    @Test("Replacing a file cleans up, and so does creating one where unnamed files are not supported")
    func makersSweep() throws {
        try folder.write(".kcbackup-1abc000000000.tmp", [1])
        try PrivateFile.replace(folder.path("f"), SecretBytes(copying: [2]))
        #expect(try folder.list() == ["f"])
        try folder.write(".kcbackup-1abc000000000.tmp", [1])
        try UnnamedFile(inFolder: folder.path, way: .renaming).publish(as: "g")
        #expect(try folder.list() == ["f", "g"])
    }

    @Test("In a folder that others can write to, a file of this user that was left is removed, and a folder is kept")
    func sparesSharedFolders() throws {
        let names = [".kcbackup-1abc000000000.tmp", ".restoring-old0000000000"]
        for mode in [0o777, 0o1777, 0o770] {
            let name = String(mode, radix: 8)
            let shared = folder.path(name)
            try FileManager.default.createDirectory(atPath: shared + "/" + names[1], withIntermediateDirectories: true)
            for file in [names[0], names[1] + "/x.keychain"] { try folder.write(name + "/" + file, [1]) }
            try #require(unsafe chmod(shared, mode_t(mode)) == 0)
            try UnnamedFile(inFolder: shared, way: .renaming).publish(as: "g")
            #expect(Set(try FileManager.default.contentsOfDirectory(atPath: shared)) == [names[1], "g"])
            #expect(try folder.read(name + "/.restoring-old0000000000/x.keychain") == [1])
            #expect(throws: FileFailure(shared, .sharedFolder(mode: UInt32(mode)))) {
                _ = try StagingFolder(in: shared)
            }
        }
    }

    @Test("A staging folder is removed with its contents, except for what was published")
    func passingFolder() throws {
        do {
            let passing = try StagingFolder(in: folder.path)
            for name in ["f", "f-journal", "f.lock"] {
                try folder.write(Path.split(passing.path).name + "/" + name, [1])
            }
            try folder.write("taken", [2])
            #expect(throws: FileFailure(folder.path("taken"), .exists)) { try passing.publish("f", as: "taken") }
            try passing.publish("f", as: "g")
        }
        #expect(try folder.list() == ["g", "taken"])
        #expect(try folder.read("taken") == [2])
    }
}

@Suite("Locks")
struct FileLockTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("x.lock") }

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Why the lock cannot be taken; nil if it can.
    private func refusal(waitingAtMost limit: Duration = .zero) throws -> FileFailure? {
        let path = path
        return try endingWithinAMinute {
            do throws(FileFailure) {
                _ = try FileLock(path, waitingAtMost: limit)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test("A lock has one holder at a time and can be taken once released")
    func excludes() throws {
        var first: FileLock? = try FileLock(path)
        #expect(try refusal() == FileFailure(path, .busy))
        withExtendedLifetime(first) {}
        first = nil
        #expect(try refusal(waitingAtMost: .seconds(30)) == nil)
    }

    @Test("A lock file that is exposed or not a regular file is refused without waiting")
    func refusesForeign() throws {
        try folder.write("x.lock", [], mode: 0o644)
        #expect(try refusal(waitingAtMost: FileLock.defaultWait) == FileFailure(path, .exposed(mode: 0o644)))
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "elsewhere")
        #expect(try refusal(waitingAtMost: FileLock.defaultWait) == FileFailure(path, .notRegular))
        #expect(try folder.list() == ["x.lock"])
        try FileManager.default.removeItem(atPath: path)
        try #require(unsafe mkfifo(path, 0o600) == 0)
        #expect(try refusal(waitingAtMost: FileLock.defaultWait) == FileFailure(path, .notRegular))
    }

    @Test("A lock file owned by another user is refused", .enabled(if: geteuid() == 0, "only root can give files away"))
    func refusesForeignOwner() throws {
        try folder.write("x.lock", [])
        try #require(unsafe chown(path, 65_534, 65_534) == 0)
        #expect(try refusal(waitingAtMost: FileLock.defaultWait) == FileFailure(path, .foreignOwner))
    }

    @Test("If a held lock file is removed, the next holder locks a new one")
    func survivesRemoval() throws {
        let first = try FileLock(path)
        try FileManager.default.removeItem(atPath: path)
        let second = try FileLock(path, waitingAtMost: .zero)
        #expect(try refusal() == FileFailure(path, .busy))
        withExtendedLifetime((first, second)) {}
    }
}
