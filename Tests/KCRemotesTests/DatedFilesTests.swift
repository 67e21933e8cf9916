import Foundation
import KCByteStreams
import Testing

@testable import KCRemotes

@Suite("Small files that are written once")
struct DatedFilesTests {
    private let remote = FakeRemote()
    private let bytes = Array("{\"a\":1}\n".utf8)
    private let path: String
    private let file: RemoteLocation

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "kcbackup-test-\(UUID().uuidString)").path
        try Data(bytes).write(to: URL(filePath: path))
        file = try #require(RemoteLocation("nas:day/a.json"))
    }

    @Test("A file is written without a listing of its folder, and is never half there under its name")
    func create() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try remote.rclone.create(file, from: path, bytes)
        #expect(remote.files == ["day/a.json": bytes])
        #expect(remote.calls == ["config", "copyto", "moveto", "cat"])
        remote.configuration = "[nas]\ntype = s3\n"
        try remote.rclone.create(#require(RemoteLocation("nas:day/b.json")), from: path, bytes)
        #expect(remote.calls.suffix(3) == ["config", "copyto", "cat"])
    }

    @Test("What is read back and differs is reported, and so is every call that fails, unless the file is there")
    func faults() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        for fault in [FakeRemote.Fault.nothing, .done, .half, .rotten] {
            for call in 1...3 where fault != .half && fault != .rotten || call == 1 {
                let remote = FakeRemote()
                remote.faults = [call: fault]
                if fault == .done, call == 2 {
                    // The file was moved, and the answer was lost.
                    try remote.rclone.create(file, from: path, bytes)
                    #expect(remote.files == ["day/a.json": bytes])
                    continue
                }
                #expect(throws: RemoteFailure.self, "\(fault) in call \(call)") {
                    try remote.rclone.create(file, from: path, bytes)
                }
            }
        }
    }

    @Test("Only S3 and Swift, also behind an alias, have times that nobody else can set")
    func traits() throws {
        for (configuration, isAtomic, hasServerTimes) in [
            ("type = s3", true, true), ("type = swift", true, true), ("type = b2", true, false),
            ("type = sftp", false, false), ("type = webdav", false, false),
            ("type = union\nupstreams = a:x", false, false),
        ] {
            remote.configuration = "[nas]\n\(configuration)\n"
            #expect(
                try remote.rclone.traits(of: file)
                    == Rclone.Traits(isAtomic: isAtomic, hasServerTimes: hasServerTimes), "\(configuration)")
        }
        let alias = Rclone(environment: [:]) { arguments, receive in
            let inner = "type = s3\n"
            try receive(Array((arguments.last == "nas" ? "type = alias\nremote = box:fleet\n" : inner).utf8).span)
            return ProgramEnding(status: 0, messages: "")
        }
        #expect(try alias.traits(of: file).hasServerTimes)
    }
}
