import Foundation
import KCTestSupport
import Synchronization
import Testing

@testable import KCByteStreams

/// The acts of another program in the moment between the last look and the change of names.
@Suite("Files that are replaced or removed only as they were read")
struct DisplacementTests {
    private let folder: TemporaryFolder
    private let file: OpenFile

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("a", Array("read".utf8))
        let descriptor = unsafe open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(descriptor >= 0)
        file = OpenFile(owning: descriptor, path: folder.path)
    }

    private func text(_ name: String) throws -> String { String(decoding: try folder.read(name), as: UTF8.self) }

    private func displacement() throws -> Displacement {
        Displacement(of: "a", in: file, expecting: try EntryStatus(OpenFile.reading(folder.path("a"))))
    }

    /// Replaces the file by one with other contents, while `body` runs in the moment between look and change.
    private func replace(_ body: @escaping () -> Void = {}) throws -> Bool {
        var displacement = try displacement()
        displacement.meanwhile = body
        return try replace(displacement)
    }

    private func replace(_ displacement: Displacement) throws -> Bool {
        let place = try PassingFolder(in: file)
        let path = "\(place.name)/\(PassingFolder.fileName)"
        try folder.write(path, Array("new".utf8))
        return try displacement.replace(by: OpenFile.reading(folder.path(path)), in: place)
    }

    /// Puts a newer version in the place of the file, as editors do.
    private func rename() {
        do {
            try folder.write("b", Array("newer".utf8))
            #expect(unsafe Glibc.rename(folder.path("b"), folder.path("a")) == 0)
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("What was read is replaced")
    func replaced() throws {
        let isReplaced = try replace()
        #expect(isReplaced)
        #expect(try text("a") == "new" && folder.list() == ["a"])
    }

    @Test("A version that was put there meanwhile keeps its name")
    func renamed() throws {
        let isReplaced = try replace(rename)
        #expect(!isReplaced)
        #expect(try text("a") == "newer" && folder.list() == ["a"])
    }

    @Test("A file that was written to meanwhile stays")
    func written() throws {
        let handle = try #require(FileHandle(forWritingAtPath: folder.path("a")))
        let isReplaced = try replace {
            handle.seekToEndOfFile()
            handle.write(Data(" more".utf8))
        }
        #expect(!isReplaced)
        #expect(try text("a") == "read more" && folder.list() == ["a"])
    }

    @Test("A link, a folder or a pipe that was put there meanwhile stays", arguments: ["link", "folder", "pipe"])
    func irregular(kind: String) throws {
        let path = folder.path("a")
        let isReplaced = try replace {
            var made: [Int32] = [unsafe unlink(path)]
            switch kind {
            case "link": made.append(unsafe symlink("elsewhere", path))
            case "folder": made.append(unsafe mkdir(path, 0o700))
            default: made.append(unsafe mkfifo(path, 0o600))
            }
            #expect(made == [0, 0])
        }
        #expect(!isReplaced)
        #expect(try folder.list() == ["a"])
        #expect(try Path.kind(of: folder.path("a")) != .file)
    }

    @Test("A file that was removed meanwhile does not come back")
    func gone() throws {
        let path = folder.path("a")
        let isReplaced = try replace { _ = unsafe unlink(path) }
        #expect(!isReplaced)
        #expect(try folder.list() == [])
    }

    @Test("A file to which somebody has a claim goes back into its place")
    func unwanted() throws {
        var displacement = try displacement()
        displacement.isWanted = { false }
        let isReplaced = try replace(displacement)
        #expect(!isReplaced)
        #expect(try text("a") == "read" && folder.list() == ["a"])
    }

    @Test("A file that is not as it was read is not touched")
    func changedBefore() throws {
        let displacement = try displacement()
        rename()
        let isReplaced = try replace(displacement)
        #expect(!isReplaced)
        #expect(try !displacement.remove())
        #expect(try text("a") == "newer" && folder.list() == ["a"])
    }

    @Test("What was read is removed, and a version that was put there meanwhile is not")
    func removed() throws {
        var displacement = try displacement()
        displacement.meanwhile = rename
        #expect(try !displacement.remove())
        #expect(try text("a") == "newer" && folder.list() == ["a"])
        #expect(try self.displacement().remove())
        #expect(try folder.list() == [])
    }

    /// The names in the folder, and what has them.
    private func contents() throws -> [String: String] {
        Dictionary(uniqueKeysWithValues: try folder.list().map { ($0, try text($0)) })
    }

    /// Puts a version there as another program does.
    private func put(_ text: String) {
        do {
            try folder.write("other", Array(text.utf8))
            #expect(unsafe Glibc.rename(folder.path("other"), folder.path("a")) == 0)
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("If several programs replace it at once, no version is lost and none has a name that is removed later")
    func severalWriters() throws {
        var displacement = try displacement()
        displacement.meanwhile = { put("second") }
        var versions = ["third"]
        displacement.whilePuttingBack = { if let next = versions.popLast() { put(next) } }
        let failure = #expect(throws: FileFailure.self) { try replace(displacement) }
        guard case .displaced(let other) = failure?.problem else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(failure?.path == folder.path("a"))
        #expect(try contents() == ["a": "third", Path.split(other).name: "second"])
        try StaleFiles.remove(in: folder.path)
        #expect(try folder.list().count == 2)
    }

    @Test("A version that cannot go back into its place, since another one has it, is named")
    func placeTaken() throws {
        var displacement = try displacement()
        displacement.meanwhile = { put("second") }
        displacement.whilePuttingBack = { put("third") }
        let failure = #expect(throws: FileFailure.self) { try displacement.remove() }
        guard case .displaced(let other) = failure?.problem else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(try contents() == ["a": "third", Path.split(other).name: "second"])
    }

    @Test("If the new file is removed meanwhile, the version that was displaced gets its name back")
    func newFileGone() throws {
        var displacement = try displacement()
        displacement.meanwhile = { put("second") }
        let path = folder.path("a")
        displacement.whilePuttingBack = { _ = unsafe unlink(path) }
        let isReplaced = try replace(displacement)
        #expect(!isReplaced)
        #expect(try contents() == ["a": "second"])
    }

    @Test(
        "While it is out of its place, nobody takes the file for what a killed process left", arguments: [0o700, 0o777])
    func swept(mode: mode_t) throws {
        #expect(unsafe chmod(folder.path, mode) == 0)
        var displacement = try displacement()
        displacement.isWanted = {
            #expect(UnnamedFile.sweep(file))
            return false
        }
        let isReplaced = try replace(displacement)
        #expect(!isReplaced)
        #expect(try text("a") == "read" && folder.list() == ["a"])
    }

    /// The mode of each folder on the way to what was displaced, and of the file, at the moment when a process may be killed.
    private func modes(while change: (Displacement) throws -> Bool) throws -> [Int] {
        let modes = Mutex<[Int]>([])
        var displacement = try displacement()
        let folder = folder
        displacement.isWanted = {
            do {
                for path in try folder.list() where path.hasSuffix(PassingFolder.fileName) {
                    for name in [Path.split(path).folder, path] {
                        var status = stat()
                        #expect(unsafe lstat(folder.path(name), &status) == 0)
                        modes.withLock { $0.append(Int(status.st_mode & 0o777)) }
                    }
                }
            } catch {
                Issue.record("\(error)")
            }
            return true
        }
        let isDone = try change(displacement)
        #expect(isDone)
        return modes.withLock { $0 }
    }

    @Test("What was displaced cannot be reached by others, whatever its mode, and a file that goes back keeps that")
    func hidden() throws {
        #expect(unsafe chmod(folder.path, 0o755) == 0)
        #expect(unsafe chmod(folder.path("a"), 0o644) == 0)
        #expect(try modes(while: replace) == [0o700, 0o644])
        #expect(unsafe chmod(folder.path("a"), 0o644) == 0)
        #expect(try modes { try $0.remove() } == [0o700, 0o644])
        #expect(try folder.list() == [])
    }

    @Test(
        "What a killed process displaced is swept, in a folder that others can write to as well",
        arguments: [0o700, 0o777])
    func sweptLater(mode: mode_t) throws {
        let left = ".restoring-old0000000000"
        for name in [left, ".restoring-mine000000000"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: false)
        }
        try folder.write(left + "/" + PassingFolder.fileName, Array("secret".utf8))
        // Others who may rename what is in the folder must not have this user's files removed.
        let kept = ".restoring-mine000000000/diary"
        if mode == 0o777 { try folder.write(kept, Array("mine".utf8)) }
        #expect(unsafe chmod(folder.path, mode) == 0)
        #expect(UnnamedFile.sweep(file))
        #expect(try folder.list() == (mode == 0o777 ? [Path.split(kept).folder, kept, "a"] : ["a"]))
    }
}
