import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KCRemotes

@Suite("Many files in few calls, and folders that may not be listed")
struct RemoteBatchTests {
    private let remote = FakeRemote()
    private let here: TemporaryFolder
    private let paths: [String]

    init() throws {
        here = try TemporaryFolder(inMemory: true)
        remote.configuration = "[nas]\ntype = s3\n"
        let here = here
        paths = try (1...3).map { try here.write("\($0).kcb", Array(repeating: UInt8($0), count: 1_000)) }
    }

    private func folder() throws -> RemoteFolder { try remote.folder() }

    @Test("All files are written by one call and read by another, however many they are")
    func together() throws {
        let folder = try folder()
        try folder.writeTogether(paths)
        let digests = try folder.digests(of: (1...4).map { RemoteEntry(name: "\($0).kcb", size: 1_000) })
        #expect(remote.calls == ["config", "copy", "hashsum"] && digests.count == 3)
        #expect(digests["2.kcb"] == SHA256.hash([UInt8](repeating: 2, count: 1_000).span))
    }

    @Test("A name that is taken keeps its file, and the others are written")
    func taken() throws {
        remote.files["backups/2.kcb"] = [7]
        let folder = try folder()
        try folder.writeTogether(paths)
        #expect(remote.files["backups/2.kcb"] == [7] && remote.files.count == 3)
        let digests = try folder.digests(of: [RemoteEntry(name: "2.kcb", size: 1)])
        #expect(digests["2.kcb"] == SHA256.hash([7].span))
    }

    @Test("Where files get their names last, each is written by itself")
    func parts() throws {
        remote.configuration = "[nas]\ntype = webdav\n"
        let folder = try folder()
        #expect(!folder.writesTogether)
        try folder.writeTogether(paths)
        #expect(remote.files.isEmpty && remote.calls == ["config"])
    }

    @Test("What a server that failed has stored of a file is completed, under the name of the file")
    func half() throws {
        remote.faults[2] = .half
        let folder = try folder()
        #expect(throws: RemoteFailure.self) { try folder.put(OpenFile.reading(paths[0])) }
        #expect(remote.files["backups/1.kcb"]?.count == 500)
        #expect(try folder.put(OpenFile.reading(paths[0])) == .copied)
        #expect(remote.files["backups/1.kcb"]?.count == 1_000)
    }

    @Test("A shorter file with other bytes is another file, and stays")
    func otherShorter() throws {
        remote.files["backups/1.kcb"] = [1, 1, 2]
        let folder = try folder()
        let location = folder.location.appending("1.kcb")
        #expect(throws: RemoteFailure.exists(location)) { try folder.put(OpenFile.reading(paths[0])) }
        #expect(remote.files["backups/1.kcb"] == [1, 1, 2])
    }

    @Test("Where only writing is allowed, a file is written and not read back, and its name is taken the next time")
    func writeOnly() throws {
        remote.refused = ["lsf", "cat", "hashsum"]
        let folder = try folder()
        let copy = try folder.copyUnlisted(OpenFile.reading(paths[0]), mayBeUnread: true)
        #expect(copy.outcome == .copied && !copy.isReadBack && remote.files["backups/1.kcb"]?.count == 1_000)
        let again = try folder.copyUnlisted(OpenFile.reading(paths[0]), mayBeUnread: true)
        #expect(again.outcome == .present && !again.isReadBack)
        #expect(throws: RemoteFailure.self, "what could be read before is not there") {
            try folder.copyUnlisted(OpenFile.reading(paths[1]), mayBeUnread: false)
        }
    }

    @Test("Where listing alone is not allowed, the copy is read back, and another file is not taken for it")
    func unlisted() throws {
        remote.refused = ["lsf", "hashsum"]
        let folder = try folder()
        #expect(try folder.copyUnlisted(OpenFile.reading(paths[0]), mayBeUnread: true).isReadBack)
        remote.files["backups/2.kcb"] = [7]
        #expect(throws: RemoteFailure.exists(folder.location.appending("2.kcb"))) {
            try folder.copyUnlisted(OpenFile.reading(paths[1]), mayBeUnread: true)
        }
        remote.refused.insert("copy")
        #expect(throws: RemoteFailure.self) { try folder.copyUnlisted(OpenFile.reading(paths[2]), mayBeUnread: true) }
    }
}
