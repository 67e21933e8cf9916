import Foundation
@testable import KCByteStreams
import KCTestSupport
import Testing

@Suite("Unnamed files")
struct UnnamedFileTests {
    private static let ways: [UnnamedFile.Way] = [.withoutName, .linking, .renaming]
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("A published file is complete, accessible only to its owner, and alone in the folder", arguments: ways)
    func publishes(way: UnnamedFile.Way) throws {
        var unnamed: UnnamedFile? = try UnnamedFile(inFolder: folder.path, way: way)
        try unnamed?.file.write([1, 2, 3].span)
        #expect(try !Path.exists(folder.path("f")))
        try unnamed?.publish(as: "f")
        #expect(try folder.list() == ["f"])
        unnamed = nil
        #expect(try folder.list() == ["f"])
        #expect(try folder.read("f") == [1, 2, 3])
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("f"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(attributes[.referenceCount] as? Int == 1)
    }

    @Test("A dropped file leaves nothing behind", arguments: ways)
    func leavesNothing(way: UnnamedFile.Way) throws {
        do {
            let unnamed = try UnnamedFile(inFolder: folder.path, way: way)
            try unnamed.file.write([1].span)
            try unnamed.synchronize()
        }
        #expect(try folder.list().isEmpty)
    }

    @Test("An existing name is never overwritten", arguments: ways, ["file", "link", "dangling", "folder"])
    func neverOverwrites(way: UnnamedFile.Way, name: String) throws {
        try folder.write("file", [7])
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "file")
        try FileManager.default.createSymbolicLink(atPath: folder.path("dangling"), withDestinationPath: "nowhere")
        try FileManager.default.createDirectory(atPath: folder.path("folder"), withIntermediateDirectories: false)
        let before = try folder.list()
        do {
            let unnamed = try UnnamedFile(inFolder: folder.path, way: way)
            try unnamed.file.write([1].span)
            #expect(throws: FileFailure(folder.path(name), .exists)) { try unnamed.publish(as: name) }
        }
        #expect(try folder.list() == before)
        #expect(try folder.read("file") == [7])
    }

    @Test("After a name is refused, the file can be published under another", arguments: ways)
    func publishesAfterRefusal(way: UnnamedFile.Way) throws {
        try folder.write("taken", [7])
        let unnamed = try UnnamedFile(inFolder: folder.path, way: way)
        try unnamed.file.write([1].span)
        #expect(throws: FileFailure.self) { try unnamed.publish(as: "taken") }
        try unnamed.publish(as: "free")
        #expect(try folder.list() == ["free", "taken"])
        #expect(try folder.read("free") == [1])
    }

    @Test("A missing folder is reported as not found")
    func noticesMissingFolder() {
        let path = folder.path("missing")
        #expect(throws: FileFailure(path, .notFound)) { _ = try UnnamedFile(inFolder: path) }
    }

    @Test("A sink writes every byte around its buffer size", arguments: [0, 1, 262_143, 262_144, 262_145, 600_000])
    func sinks(count: Int) throws {
        var random = SeededRandom(seed: 3)
        let bytes = random.bytes(count)
        let unnamed = try UnnamedFile(inFolder: folder.path)
        var sink = UnnamedFileSink(unnamed)
        let cut = count / 3
        try sink.write(bytes.span.extracting(0..<cut))
        try sink.write(bytes.span.extracting(cut..<count))
        let spooled = try sink.finish()
        #expect(spooled.length == UInt64(count))
        #expect(try drain(spooled.source) == bytes)
        try unnamed.publish(as: "f")
        #expect(try folder.read("f") == bytes)
    }

    @Test("A spooled file remains readable after the sink is gone", arguments: ways)
    func outlivesItsMaker(way: UnnamedFile.Way) throws {
        var sink = UnnamedFileSink(try UnnamedFile(inFolder: folder.path, way: way))
        try sink.write([1, 2].span)
        let spooled = try sink.finish()
        #expect(try folder.list().isEmpty)
        #expect(try drain(spooled.source) == [1, 2])
    }

    @Test("In a folder that others can write to, stale files of this user with one name are removed, and nothing else")
    func sharedFolder() throws {
        func name(_ word: String) -> String {
            ".kcbackup-\(word)\(String(repeating: "0", count: 13 - word.count)).tmp"
        }
        for stale in ["left", "linked", "held"] { try folder.write(name(stale), [1], mode: 0o640) }
        try folder.write("own", [1])
        try FileManager.default.linkItem(atPath: folder.path(name("linked")), toPath: folder.path("second"))
        try FileManager.default.createSymbolicLink(atPath: folder.path(name("link")), withDestinationPath: "own")
        try FileManager.default.createDirectory(
            atPath: folder.path(name("folder")), withIntermediateDirectories: false)
        let held = try OpenFile.reading(folder.path(name("held")))
        #expect(held.lockAsInUse())
        try FileManager.default.setAttributes([.posixPermissions: 0o770], ofItemAtPath: folder.path)
        _ = try UnnamedFile(inFolder: folder.path)
        #expect(
            try folder.list().sorted()
                == [name("folder"), name("held"), name("link"), name("linked"), "own", "second"].sorted())
        withExtendedLifetime(held) {}
    }
}
