import KCByteStreams
import KCCryptography
import KCRemotes
import KCTestSupport
import Testing

@testable import KCBackupTasks

@Suite("Files that are copied together")
struct CopyBatchTests {
    private let home: TemporaryFolder
    private let remote: RemoteFolder

    /// A folder of this machine as the remote of an rclone that writes all files of a call at once.
    init() throws {
        home = try TemporaryFolder(inMemory: true)
        try Path.makeFolder(home.path("there"))
        let answer = Self.answer(in: home)
        remote = try RemoteFolder(#require(RemoteLocation("nas:x")), Rclone(environment: [:], answer))
    }

    private static func answer(in home: TemporaryFolder) -> Rclone.Runner {
        { arguments, receive in
            let names = arguments.indices.filter { arguments[$0] == "--include" }.map { arguments[$0 + 1].dropFirst() }
            if arguments[0] == "config" { try receive(Array("[nas]\ntype = s3\n".utf8).span) }
            for name in names {
                let target = "there/\(name)"
                let isThere = try Path.exists(home.path(target))
                if arguments[0] == "copy", !isThere {
                    let source = "\(arguments[arguments.count - 2])/\(name)".dropFirst(home.path.utf8.count)
                    _ = try home.write(target, home.read(String(source)))
                }
                if arguments[0] == "hashsum", isThere {
                    let bytes = try home.read(target)
                    try receive(Array("\(SHA256.hash(bytes.span).hex)  \(name)\n".utf8).span)
                }
            }
            return ProgramEnding(status: 0, messages: "")
        }
    }

    private func file(_ name: String, _ bytes: [UInt8]) throws -> OpenFile {
        try Path.makeFolder(home.path(Path.split(name).folder))
        return try OpenFile.reading(home.write(name, bytes))
    }

    @Test("What is there, what is new and what is another file are told from each other")
    func outcomes() throws {
        for name in ["old", "other"] { _ = try home.write("there/\(name)", [1]) }
        var batch = CopyBatch(to: remote, there: ["old": 1, "other": 1, "longer": 2])
        for (name, bytes) in [("a/old", [1]), ("a/other", [2]), ("a/new", [3]), ("a/longer", [4])] {
            try batch.add(file(name, bytes.map(UInt8.init)))
        }
        try batch.run(reading: [RemoteEntry(name: "gone", size: 1)])
        #expect(batch.copy(named: "old")?.outcome == .present && batch.copy(named: "new")?.outcome == .copied)
        #expect(batch.copy(named: "other") == nil && batch.digest(of: "other") != nil)
        #expect(batch.digest(of: "gone") == nil)
        #expect(batch.copy(named: "longer") == nil && batch.digest(of: "longer") == nil, "nobody reads another file")
    }

    @Test("Of files of one name in two folders, none is copied together, so that none passes for the other")
    func sameName() throws {
        var batch = CopyBatch(to: remote, there: [:])
        for (name, byte) in [("a/x", 1), ("b/x", 2), ("b/x", 2), ("b/y", 3)] {
            try batch.add(file(name, [UInt8(byte)]))
        }
        try batch.run()
        #expect(batch.copy(named: "x") == nil && batch.copy(named: "y") != nil)
        #expect(try Path.names(in: home.path("there")) == ["y"])
    }
}
