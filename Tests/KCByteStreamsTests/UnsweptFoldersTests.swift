import Foundation
import KCTestSupport
import Testing

@testable import KCByteStreams

@Suite("Folders that the next run sweeps")
struct UnsweptFoldersTests {
    private static let left = ".kcbackup-1abc000000000.tmp"
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["data", "work"] { try Path.makeFolder(folder.path(name)) }
    }

    private func lists() throws -> [String] {
        try Path.names(in: folder.path("data")).filter(UnsweptFolders.isList).map { folder.path("data/" + $0) }
    }

    /// Writes what a process that was killed leaves: a list of these folders.
    private func list(_ folders: [String]) throws -> String {
        let name = "data/unswept-1abc000000000"
        try folder.write(name, folders.flatMap { Array($0.utf8) + [0] } + Array(folder.path("wo").utf8))
        return folder.path(name)
    }

    @Test("A file that a killed process left in a folder of the user goes with the next run, and the list with it")
    func swept() throws {
        try folder.write("work/" + Self.left, Array("secret".utf8))
        let list = try list([folder.path("work")])
        #expect(try UnsweptFolders.sweep(list) == [])
        #expect(try folder.list() == ["data", "work"])
    }

    @Test("A folder that is not there is remembered until it is")
    func missing() throws {
        let list = try list([folder.path("disk"), folder.path("work")])
        #expect(try UnsweptFolders.sweep(list) == [folder.path("disk")])
        #expect(try lists() == [list])
        try Path.makeFolder(folder.path("disk"))
        try folder.write("disk/" + Self.left, Array("secret".utf8))
        #expect(try UnsweptFolders.sweep(list) == [])
        #expect(try folder.list() == ["data", "disk", "work"])
    }

    @Test("A folder with a file that cannot be removed is remembered", .enabled(if: geteuid() != 0, "root can"))
    func notRemovable() throws {
        try folder.write("work/" + Self.left, Array("secret".utf8))
        let list = try list([folder.path("work")])
        #expect(unsafe chmod(folder.path("work"), 0o500) == 0)
        #expect(try UnsweptFolders.sweep(list) == [folder.path("work")])
        #expect(unsafe chmod(folder.path("work"), 0o700) == 0)
        #expect(try UnsweptFolders.sweep(list) == [])
    }

    @Test("A process lists a folder before it uses a temporary name there, and ends the list when the name is free")
    func kept() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            for name in ["data", "data/undo", "work"] { try Path.makeFolder(folder.path(name)) }
            let data = folder.path("data")
            func lists() throws -> [String] { try Path.names(in: data).filter(UnsweptFolders.isList) }
            UnsweptFolders.keep(in: data)
            try PrivateFile.replace(folder.path("data/undo/x"), [1].span)
            _ = try UnnamedFile(inFolder: folder.path("work"))
            // Nothing has been displaced, so nothing is written.
            #expect(try lists() == [])
            for name in ["a", "b"] {
                try PrivateFile.replace(folder.path("work/" + name), [1].span)
                let list = try #require(try lists().first)
                let text = try String(decoding: folder.read("data/" + list), as: UTF8.self)
                #expect(text == folder.path("work") + "\0")
                #expect(try UnsweptFolders.sweep(data + "/" + list) == [])
                #expect(try lists() == [list])
            }
            // A name that could not be freed keeps the list for the next run.
            let left = try UnnamedFile.temporaryName(in: folder.path("work"))
            try folder.write("work/" + left, [1])
            UnsweptFolders.finish()
            let list = try #require(try lists().first)
            #expect(try UnsweptFolders.sweep(data + "/" + list) == [])
            #expect(try folder.list() == ["data", "data/undo", "data/undo/x", "work", "work/a", "work/b"])
            UnsweptFolders.keep(in: data)
            try PrivateFile.replace(folder.path("work/a"), [2].span)
            UnsweptFolders.finish()
            #expect(try lists() == [])
        }
    }
}
