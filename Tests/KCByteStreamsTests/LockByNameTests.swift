import Foundation
import KCTestSupport
import Testing

@testable import KCByteStreams

@Suite("Locks that are names of files")
struct LockByNameTests {
    private static let mark = Array("mine\n".utf8)
    private let folder: TemporaryFolder
    private var path: String { folder.path("a.lock") }

    init() throws { folder = try TemporaryFolder() }

    @Test("The file is there until it is released")
    func made() throws {
        let lock = try LockByName(path, mark: Self.mark)
        #expect(try folder.read("a.lock") == Self.mark)
        try lock.release()
        #expect(try folder.list() == [])
    }

    @Test("One that its process still has is not taken, though it has the same mark")
    func held() throws {
        let lock = try LockByName(path, mark: Self.mark)
        #expect(throws: FileFailure(path, .busy)) { try LockByName(path, mark: Self.mark) }
        #expect(try folder.list() == ["a.lock"])
        try lock.release()
        try LockByName(path, mark: Self.mark).release()
    }

    @Test("One that a killed process left is taken, and one of another program is not")
    func left() throws {
        try folder.write("a.lock", Self.mark)
        try LockByName(path, mark: Self.mark).release()
        #expect(try folder.list() == [])
        for other in ["", "mine", "mine\nand more", "git's"] {
            try folder.write("a.lock", Array(other.utf8))
            #expect(throws: FileFailure(path, .busy)) { try LockByName(path, mark: Self.mark) }
            #expect(try folder.read("a.lock") == Array(other.utf8))
        }
    }

    @Test("Whether one could be made is told without making it")
    func free() throws {
        try LockByName.requireFree(path, mark: Self.mark)
        #expect(try folder.list() == [])
        try folder.write("a.lock", Self.mark)
        try LockByName.requireFree(path, mark: Self.mark)
        #expect(try folder.list() == ["a.lock"])
        let lock = try LockByName(path, mark: Self.mark)
        #expect(throws: FileFailure(path, .busy)) { try LockByName.requireFree(path, mark: Self.mark) }
        try lock.release()
        try folder.write("a.lock", Array("git's".utf8))
        #expect(throws: FileFailure(path, .busy)) { try LockByName.requireFree(path, mark: Self.mark) }
    }
}
