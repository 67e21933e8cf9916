import Foundation
import KCTestSupport
import Testing

@testable import KCByteStreams

/// What another program does in the moment between the last look and the change of names.
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
        try folder.write("passing", Array("new".utf8))
        return try displacement.replace(by: OpenFile.reading(folder.path("passing")), named: "passing")
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
        try folder.write("passing", Array("new".utf8))
        let isReplaced = try displacement.replace(by: OpenFile.reading(folder.path("passing")), named: "passing")
        #expect(!isReplaced)
        #expect(try text("a") == "read" && folder.list() == ["a"])
    }

    @Test("A file that is not as it was read is not touched")
    func changedBefore() throws {
        let displacement = try displacement()
        rename()
        try folder.write("passing", Array("new".utf8))
        let isReplaced = try displacement.replace(by: OpenFile.reading(folder.path("passing")), named: "passing")
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
        try folder.write("passing", Array("new".utf8))
        let new = try OpenFile.reading(folder.path("passing"))
        let failure = #expect(throws: FileFailure.self) { try displacement.replace(by: new, named: "passing") }
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
        try folder.write("passing", Array("new".utf8))
        let new = try OpenFile.reading(folder.path("passing"))
        let isReplaced = try displacement.replace(by: new, named: "passing")
        #expect(!isReplaced)
        #expect(try contents() == ["a": "second"])
    }

    @Test("While it has a passing name, nobody takes the file for what a killed process left")
    func swept() throws {
        var displacement = try displacement()
        let path = folder.path
        let name = try UnnamedFile.temporaryName(in: path)
        displacement.isWanted = {
            do throws(FileFailure) { try StaleFiles.remove(in: path) } catch { Issue.record("\(error)") }
            return false
        }
        try folder.write(name, Array("new".utf8))
        let new = try OpenFile.reading(folder.path(name))
        #expect(new.lockAsInUse())
        let isReplaced = try displacement.replace(by: new, named: name)
        #expect(!isReplaced)
        #expect(try text("a") == "read" && folder.list() == ["a"])
    }
}
