import KCByteStreams
import KCTestSupport
import Testing

@testable import KCRemotes

@Suite("Copies on a host that OpenSSH reaches")
struct SftpTests {
    private let local: TemporaryFolder
    private let archive = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    private let path: String
    private let target = RemoteLocation("sftp:nas:backups/a.kcb")

    init() throws {
        local = try TemporaryFolder()
        path = try local.write("a.kcb", archive)
    }

    private func put(_ remote: FakeRemote) throws -> RemoteFolder.Outcome {
        try remote.host().put(OpenFile.reading(path))
    }

    @Test("A copy is read back, its folders are made, and doing it again finds it there")
    func again() throws {
        let remote = FakeRemote()
        let folder = try remote.host("sftp:ada@nas:a/b c/d")
        #expect(try folder.put(OpenFile.reading(path)) == .copied)
        #expect(remote.files == ["a/b c/d/a.kcb": archive] && remote.folders == ["a", "a/b c", "a/b c/d"])
        #expect(try folder.put(OpenFile.reading(path)) == .present)
        #expect(try folder.files() == [RemoteEntry(name: "a.kcb", size: 100_000)])
        #expect(remote.violations.isEmpty)
    }

    @Test("A file that is there is never replaced, also if another machine writes it at any step")
    func taken() throws {
        for other in [[1, 2, 3], archive.dropLast() + [archive.last! ^ 1]] {
            let remote = FakeRemote()
            remote.files = ["backups/a.kcb": other]
            #expect(throws: RemoteFailure.exists(target!)) { try put(remote) }
            #expect(remote.files == ["backups/a.kcb": other] && remote.violations.isEmpty)
        }
        let whole = FakeRemote()
        _ = try put(whole)
        for number in 1...(try #require(whole.calls.firstIndex(of: "rename"))) {
            let remote = FakeRemote()
            remote.meanwhile = [number: { $0.files["backups/a.kcb"] = [9] }]
            #expect(throws: RemoteFailure.exists(target!), "\(number)") { try put(remote) }
            #expect(remote.files == ["backups/a.kcb": [9]] && remote.violations.isEmpty, "\(number)")
        }
    }

    @Test(
        "After a failure of any call, doing it again ends with one complete file and nothing else",
        arguments: [FakeRemote.Fault.nothing, .done, .half])
    func brokenOff(fault: FakeRemote.Fault) throws {
        let whole = FakeRemote()
        _ = try put(whole)
        #expect(whole.calls == ["ls", "put", "mkdir", "put", "ls", "get", "ls", "ls", "rename", "ls", "get"])
        for number in whole.calls.indices where fault != .half || whole.calls[number] == "put" {
            let remote = FakeRemote()
            remote.faults = [number: fault]
            _ = try? put(remote)
            #expect(remote.files["backups/a.kcb"] == nil || remote.files["backups/a.kcb"] == archive)
            remote.faults = [:]
            _ = try put(remote)
            #expect(remote.files == ["backups/a.kcb": archive], "\(whole.calls[number])")
            #expect(remote.violations.isEmpty)
        }
    }

    @Test("Bytes that changed on their way never get the name of the archive")
    func rotten() throws {
        let remote = FakeRemote()
        remote.folders = ["backups"]
        remote.faults = [1: .rotten]
        #expect(throws: RemoteFailure.self) { try put(remote) }
        #expect(remote.files["backups/a.kcb"] == nil)
        #expect(try put(remote) == .copied)
        #expect(remote.files == ["backups/a.kcb": archive])
    }

    @Test("Names that sftp would not take literally are refused before anything is written")
    func names() throws {
        for name in ["a*.kcb", "a?.kcb", "[a].kcb", "a\\b.kcb", "a\"b.kcb", String(repeating: "ä", count: 120)] {
            let remote = FakeRemote()
            let path = try local.write(name, archive)
            let long = name.utf8.count > 200 ? "/" + String(repeating: "a", count: 1_800) : ""
            #expect(throws: RemoteFailure.self, "\(name)") {
                try remote.host("sftp:nas:b\(long)").put(OpenFile.reading(path))
            }
            #expect(remote.files.isEmpty && !remote.calls.contains("put"))
        }
        for path in ["-oProxyCommand=x", "a 'b' $(c) `d` #e;f&g", "ü", "{a,b}", "~"] {
            let remote = FakeRemote()
            _ = try remote.host("sftp:nas:\(path)").put(OpenFile.reading(self.path))
            #expect(remote.files == ["\(path)/a.kcb": archive])
        }
    }

    @Test("What ssh and sftp say is told apart")
    func messages() throws {
        let changed = "Host key for nas has changed and you have requested strict checking.\r\n"
        for (status, text, failure) in [
            (
                255, "No ED25519 host key is known for nas.\r\nHost key verification failed.\r\nConnection closed\n",
                "unknownHost"
            ),
            (255, changed + "Host key verification failed.\r\nConnection closed\n", "denied"),
            (255, "ada@nas: Permission denied (publickey).\r\nConnection closed\n", "denied"),
            (255, "ssh: Could not resolve hostname nas: Name or service not known\nConnection closed\n", "unreachable"),
            (255, "client_loop: send disconnect: Broken pipe\r\nConnection closed\n", "unreachable"),
            (255, "", "unreachable"), (1, "stat remote: No such file or directory\n", "missing"),
            (1, "File \"/x\" not found.\n", "missing"), (1, "dest open \"/x\": Permission denied\n", "denied"),
            (1, "write remote \"/x\": Failure\n", "failed"), (137, "", "failed"),
            (1, "no such identity: /k: No such file or directory\nremote rename \"a\" to \"b\": Failure\n", "failed"),
        ] as [(Int32, String, String)] {
            let found = RemoteFailure(ofSftp: ProgramEnding(status: status, messages: text), target!)
            #expect("\(found)".hasPrefix(failure), "\(text): \(found)")
        }
    }

    @Test("A full disk is named, where the server tells of it")
    func full() throws {
        let remote = FakeRemote()
        remote.folders = ["backups"]
        remote.failure = (1, "write remote \"./backups/a.kcb\": Failure")
        remote.faults = [1: .half]
        do {
            _ = try put(remote)
            Issue.record("it succeeded")
        } catch RemoteFailure.failed(_, let message) {
            #expect(message == "its disk is full")
        }
    }

    @Test("A listing is parsed strictly: users and groups of any kind, names of any kind, files alone")
    func listing() {
        let start = "-rw-r--r--    ? "
        for (line, entry) in [
            (start + "1000 1000 4711 Nov 24 15:25 a.kcb", RemoteEntry(name: "a.kcb", size: 4_711)),
            (start + "domain users Nov 7 12 Jan  1  2024   b ", RemoteEntry(name: "  b ", size: 12)),
            (start + "0 0 0 Dec 31 00:00 \\303\\274.kcb", RemoteEntry(name: "ü.kcb", size: 0)),
            (start + "0 0 1 May  5 10:00 Jun 6 11:00 x", RemoteEntry(name: "Jun 6 11:00 x", size: 1)),
        ] { #expect(SftpLine(Array(line.utf8)) == .file(entry), "\(line)") }
        for line in ["sftp> ls -lna", "drwxr-xr-x    2 0 0 4096 Nov 24 15:25 .", "lrwxrwxrwx 1 0 0 5 Nov 24 15:25 l"] {
            #expect(SftpLine(Array(line.utf8)) == .other, "\(line)")
        }
        for line in [
            "", "a.kcb", start, start + "0 0 x Nov 24 15:25 a", start + "0 0 1 Nov 24 15:25 ",
            start + "0 0 1 Nov 24 15:25",
            start + "0 0 1 Nov 241 15:25 a", start + "0 0 1 Nov 24 115:25 a", "-rw-r--r-- 0 0 1 Foo 24 15:25 a",
            start + "0 0 99999999999999999999 Nov 24 15:25 a",
        ] { #expect(SftpLine(Array(line.utf8)) == nil, "\(line)") }
    }

    @Test("A file of another size than its entry is not taken for whole")
    func lengths() throws {
        let remote = FakeRemote()
        remote.files = ["backups/a.kcb": [1, 2, 3]]
        for size in [2, 4] as [UInt64] {
            #expect(throws: RemoteFailure.changed(target!)) {
                try remote.host().read(RemoteEntry(name: "a.kcb", size: size)) { _ in }
            }
        }
    }

    @Test("What only rclone can do is refused for a host")
    func rcloneAlone() throws {
        #expect(throws: RemoteFailure.needsRclone(target!)) { try RemoteFolder(target!, FakeRemote().rclone) }
    }
}
