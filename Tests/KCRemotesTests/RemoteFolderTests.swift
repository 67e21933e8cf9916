import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KCRemotes

@Suite("Copies in a folder of a remote")
struct RemoteFolderTests {
    private let local: TemporaryFolder
    private let archive = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    private let path: String

    init() throws {
        local = try TemporaryFolder()
        path = try local.write("a.kcb", archive)
    }

    private func put(_ remote: FakeRemote) throws -> RemoteFolder.Outcome {
        try remote.folder().put(OpenFile.reading(path))
    }

    @Test("A copy is read back, and doing it again finds it there", arguments: ["webdav", "s3"])
    func again(kind: String) throws {
        let remote = FakeRemote()
        remote.configuration = "[nas]\ntype = \(kind)\n"
        #expect(try put(remote) == .copied)
        #expect(remote.files == ["backups/a.kcb": archive])
        #expect(remote.calls.filter { $0 == "cat" }.count == (kind == "s3" ? 1 : 2))
        #expect(try put(remote) == .present)
        #expect(remote.files == ["backups/a.kcb": archive])
    }

    @Test("A folder of this machine gets whole files under free names, and is not made where its disk may be away")
    func folderHere() throws {
        let disk = local.path + "/disk"
        let location = try #require(RemoteLocation(destination: disk + "/"))
        #expect(location.text == disk && location.isHere && location.folder?.text == local.path)
        let absent = try RemoteFolder(location, FolderMover(makesFolder: false))
        #expect(throws: RemoteFailure.missing(location)) { try absent.put(OpenFile.reading(path)) }
        let folder = try RemoteFolder(location, FolderMover(makesFolder: true))
        #expect(try folder.put(OpenFile.reading(path)) == .copied)
        #expect(try absent.put(OpenFile.reading(path)) == .present)
        #expect(try local.read("disk/a.kcb") == archive)
        #expect(try folder.files() == [RemoteEntry(name: "a.kcb", size: UInt64(archive.count))])
        _ = try local.write("disk/a.kcb", [1])
        #expect(throws: RemoteFailure.exists(location.appending("a.kcb"))) { try folder.put(OpenFile.reading(path)) }
        #expect(try local.read("disk/a.kcb") == [1])
    }

    @Test("A file that is there is never replaced, also if it has the same size", arguments: ["webdav", "s3"])
    func taken(kind: String) throws {
        for other in [[1, 2, 3], archive.dropLast() + [archive.last! ^ 1]] {
            let remote = FakeRemote()
            remote.configuration = "[nas]\ntype = \(kind)\n"
            remote.files = ["backups/a.kcb": other]
            #expect(throws: RemoteFailure.exists(RemoteLocation("nas:backups/a.kcb")!)) { try put(remote) }
            #expect(remote.files == ["backups/a.kcb": other] && remote.violations.isEmpty)
        }
    }

    @Test(
        "After a failure of any call, doing it again ends with one complete file and nothing else",
        arguments: ["webdav", "s3"], [FakeRemote.Fault.nothing, .done, .half])
    func brokenOff(kind: String, fault: FakeRemote.Fault) throws {
        let whole = FakeRemote()
        whole.configuration = "[nas]\ntype = \(kind)\n"
        _ = try put(whole)
        for number in 0..<whole.calls.count where fault != .half || ["copy", "copyto"].contains(whole.calls[number]) {
            // An object of S3 is whole or not there.
            if kind == "s3", fault == .half { continue }
            let remote = FakeRemote()
            remote.configuration = whole.configuration
            remote.faults = [number: fault]
            if whole.calls[number] == "moveto", fault == .done {
                #expect(try put(remote) == .copied)
            } else {
                #expect(throws: RemoteFailure.self, "\(number)") { try put(remote) }
            }
            #expect(remote.files["backups/a.kcb"] == nil || remote.files["backups/a.kcb"] == archive)
            remote.faults = [:]
            _ = try put(remote)
            #expect(remote.files == ["backups/a.kcb": archive], "\(whole.calls[number])")
            #expect(remote.violations.isEmpty)
        }
    }

    @Test("What a failed upload wrote is removed; if that fails, too, it is named")
    func fullRemote() throws {
        let whole = FakeRemote()
        _ = try put(whole)
        let upload = try #require(whole.calls.firstIndex(of: "copyto"))
        let remote = FakeRemote()
        remote.failure = (1, "Failed to copyto: no space left on device")
        remote.faults = [upload: .half]
        #expect(throws: RemoteFailure.self) { try put(remote) }
        #expect(remote.files.isEmpty)
        let guarded = FakeRemote()
        guarded.failure = remote.failure
        guarded.faults = remote.faults
        guarded.meanwhile = [upload + 1: { $0.kept = Set($0.files.keys) }]
        do {
            _ = try put(guarded)
            Issue.record("it succeeded")
        } catch RemoteFailure.leaving(let place, .failed) {
            #expect(guarded.files.keys.map { "nas:" + $0 } == [place.text])
        }
    }

    @Test("Another run that writes the same file is waited for, and its copy is this one's")
    func sameFile() throws {
        let whole = FakeRemote()
        _ = try put(whole)
        let move = try #require(whole.calls.firstIndex(of: "moveto"))
        // The other run began later, and removed what this one wrote; its file is complete after some looks, or never.
        for isCompleted in [true, false] {
            let remote = FakeRemote()
            let archive = archive
            let digest = SHA256.hash(archive.span).hex.prefix(16)
            let other = "backups/a.kcb.00000000.\(digest).part"
            remote.meanwhile[move] = { $0.files = [other: [1]] }
            if isCompleted { remote.meanwhile[move + 6] = { $0.files = ["backups/a.kcb": archive] } }
            if isCompleted {
                #expect(try put(remote) == .present)
            } else {
                #expect(throws: RemoteFailure.busy(RemoteLocation("nas:backups/a.kcb")!)) { try put(remote) }
            }
            #expect(remote.violations.isEmpty)
        }
    }

    @Test("If the other run breaks off, this one writes the file again")
    func brokenOffTwin() throws {
        let whole = FakeRemote()
        _ = try put(whole)
        let move = try #require(whole.calls.firstIndex(of: "moveto"))
        let remote = FakeRemote()
        remote.meanwhile[move] = { $0.files = [:] }
        #expect(try put(remote) == .copied)
        #expect(remote.files == ["backups/a.kcb": archive])
    }

    @Test("Bytes that changed on their way never get the name of the archive")
    func rotten() throws {
        let remote = FakeRemote()
        let upload = try #require(
            {
                let whole = FakeRemote()
                _ = try put(whole)
                return whole.calls.firstIndex(of: "copyto")
            }())
        remote.faults = [upload: .rotten]
        #expect(throws: RemoteFailure.self) { try put(remote) }
        #expect(remote.files["backups/a.kcb"] == nil)
        remote.faults = [:]
        #expect(try put(remote) == .copied)
        #expect(remote.files == ["backups/a.kcb": archive])
    }

    @Test(
        "If another machine takes the name first, its file stays, and none of ours is left",
        arguments: [("webdav", "moveto"), ("s3", "copy")])
    func race(kind: String, last: String) throws {
        let whole = FakeRemote()
        whole.configuration = "[nas]\ntype = \(kind)\n"
        _ = try put(whole)
        for number in 2...(try #require(whole.calls.firstIndex(of: last))) {
            let remote = FakeRemote()
            remote.configuration = whole.configuration
            remote.replaces = false
            remote.meanwhile = [number: { $0.files["backups/a.kcb"] = [9] }]
            #expect(throws: RemoteFailure.exists(RemoteLocation("nas:backups/a.kcb")!), "\(number)") {
                try put(remote)
            }
            #expect(remote.files == ["backups/a.kcb": [9]] && remote.violations.isEmpty, "\(number)")
        }
    }

    @Test("An upload whose answer was lost is not taken for a file of another machine")
    func lostAnswer() throws {
        let remote = FakeRemote()
        remote.configuration = "[nas]\ntype = s3\n"
        remote.failure = (1, "PreconditionFailed: At least one of the pre-conditions you specified did not hold")
        remote.faults = [2: .done]
        #expect(try put(remote) == .copied)
        #expect(remote.files == ["backups/a.kcb": archive])
    }

    @Test("A bucket that knows no conditions, or ignores them, gets the file, and none is replaced that was seen")
    func conditions() throws {
        for conditions in [FakeRemote.Conditions.ignored, .refused] {
            let remote = FakeRemote()
            remote.configuration = "[nas]\ntype = s3\n"
            remote.conditions = conditions
            #expect(try put(remote) == .copied)
            #expect(remote.files == ["backups/a.kcb": archive])
            remote.files = ["backups/a.kcb": [9]]
            #expect(throws: RemoteFailure.exists(RemoteLocation("nas:backups/a.kcb")!)) { try put(remote) }
            #expect(remote.files == ["backups/a.kcb": [9]])
        }
    }

    @Test("Only buckets are asked for conditions, also behind other remotes; files that are not parts are not touched")
    func kinds() throws {
        for (configuration, calls) in [
            ("type = s3\n", ["copy"]), ("type = b2\n", ["copy"]), ("type = webdav\n", ["copyto", "moveto"]),
        ] {
            let remote = FakeRemote()
            remote.configuration = configuration
            remote.conditions = configuration.contains("s3") ? .kept : .refused
            let others = [
                "backups/a.kcb.0123456789abcdef.part", "backups/a.kcb.x.part",
                "backups/b.kcb.01234567.0123456789abcdef.part",
            ]
            for other in others { remote.files[other] = [1] }
            _ = try put(remote)
            #expect(remote.files == others.reduce(into: ["backups/a.kcb": archive]) { $0[$1] = [1] })
            #expect(remote.calls.filter { ["copy", "copyto", "moveto", "deletefile"].contains($0) } == calls)
        }
    }

    @Test("A remote whose host is not checked is refused, also behind another remote")
    func unpinned() throws {
        for (text, isRefused) in [
            ("[nas]\ntype = sftp\nhost = example.org\n", true),
            ("[nas]\ntype = sftp\nknown_hosts_file = ~/.ssh/known_hosts\n", false),
            ("[nas]\ntype = sftp\nssh = ssh nas\n", false),
            ("[nas]\ntype = alias\nremote = :sftp,host=example.org:backups\n", true),
            ("[nas]\ntype = webdav\npass = type = sftp\n", false),
        ] {
            let remote = FakeRemote()
            remote.configuration = text
            if isRefused {
                #expect(throws: RemoteFailure.unpinnedHost(remote: "nas")) { try remote.folder() }
            } else {
                _ = try remote.folder()
            }
        }
        let chain = Rclone(environment: [:]) { arguments, receive in
            let text = arguments.last == "nas" ? "type = crypt\nremote = far:x\n" : "type = sftp\n"
            try receive(Array(text.utf8).span)
            return ProgramEnding(status: 0, messages: "")
        }
        #expect(throws: RemoteFailure.unpinnedHost(remote: "far")) {
            try RemoteFolder(RemoteLocation("nas:backups")!, chain)
        }
    }

    @Test("A remote whose configuration cannot be read is not taken for a safe one")
    func unread() throws {
        let remote = FakeRemote()
        remote.faults = [0: .nothing]
        #expect(throws: RemoteFailure.unknownRemote("nas")) { try remote.folder() }
        remote.failure = (1, "CRITICAL: Failed to load config file \"x\": unable to decrypt configuration")
        remote.faults = [1: .nothing]
        #expect(
            throws: RemoteFailure.unreadableConfiguration(
                "Failed to load config file \"x\": unable to decrypt configuration")
        ) { try remote.folder() }
        remote.configuration = String(repeating: "x = y\n", count: 20_000)
        #expect(throws: RemoteFailure.unclear(RemoteLocation("nas:backups")!)) { try remote.folder() }
    }

    @Test("Remotes behind others are all looked at, however many, and a circle of them ends")
    func chains() throws {
        func folder(last: String) throws -> RemoteFolder {
            let rclone = Rclone(environment: [:]) { arguments, receive in
                let number = arguments.last == "nas" ? 0 : Int(arguments.last?.dropFirst() ?? "") ?? 0
                let text = number < 20 ? "type = alias\nremote = r\(number + 1):x\n" : last
                try receive(Array(text.utf8).span)
                return ProgramEnding(status: 0, messages: "")
            }
            return try RemoteFolder(#require(RemoteLocation("nas:backups")), rclone)
        }
        #expect(throws: RemoteFailure.unpinnedHost(remote: "r20")) { try folder(last: "type = sftp\n") }
        _ = try folder(last: "type = alias\nremote = nas:x\n")
    }

    @Test("A name that would spoil later listings is refused before anything is written")
    func names() throws {
        for name in ["a\nb.kcb", "a\u{7}.kcb"] {
            let remote = FakeRemote()
            let path = try local.write(name, archive)
            #expect(throws: RemoteFailure.unusableName(name)) { try remote.folder().put(OpenFile.reading(path)) }
            #expect(remote.files.isEmpty)
        }
    }

    @Test("A password in the URL of a message is left out")
    func passwords() throws {
        let remote = FakeRemote()
        remote.failure = (1, "Propfind \"https://ada:s3cret@example.org/\": 500 Internal")
        remote.faults = [1: .nothing]
        do {
            _ = try remote.folder().files()
            Issue.record("it succeeded")
        } catch let failure as RemoteFailure {
            #expect(!"\(failure)".contains("s3cret") && "\(failure)".contains("example.org"), "\(failure)")
        }
    }

    @Test("A file that ends early, or is longer than listed, is not taken for whole")
    func lengths() throws {
        for (size, fails) in [(3, false), (2, true), (4, true)] as [(UInt64, Bool)] {
            let remote = FakeRemote()
            remote.files = ["backups/a.kcb": [1, 2, 3]]
            var read: [UInt8] = []
            let entry = RemoteEntry(name: "a.kcb", size: size)
            let run = { try remote.folder().read(entry) { piece in read += piece.indices.map { piece[$0] } } }
            if fails {
                #expect(throws: RemoteFailure.changed(RemoteLocation("nas:backups/a.kcb")!)) { try run() }
            } else {
                try run()
                #expect(read == [1, 2, 3])
            }
        }
    }

    @Test(
        "What rclone says is told apart: refused, out of reach, missing, anything else",
        arguments: [
            ("AccessDenied: Access Denied\n\tstatus code: 403", "denied"),
            ("couldn't connect SSH: ssh: handshake failed: knownhosts: key mismatch", "denied"),
            ("dial tcp 127.0.0.1:1: connect: connection refused", "unreachable"),
            ("Failed to create file system for \"nas:\": didn't find section in config file", "unknownRemote"),
            ("SSH_FX_FAILURE", "failed"), ("", "failed"),
        ])
    func messages(text: String, kind: String) throws {
        let remote = FakeRemote()
        remote.failure = (1, text)
        remote.faults = [1: .nothing]
        do {
            _ = try remote.folder().files()
            Issue.record("it succeeded")
        } catch let failure as RemoteFailure {
            #expect("\(failure)".hasPrefix(kind), "\(failure)")
        }
    }

    @Test("A name with a line feed is one name, and hides no other")
    func lineFeed() throws {
        let remote = FakeRemote()
        remote.files = ["backups/a.kcb": [1], "backups/x\n2,b.kcb": [1, 2], "backups/c.kcb": [1, 2, 3]]
        let files = try remote.folder().files()
        #expect(Set(files.map { "\($0.size) \($0.name)" }) == ["1 a.kcb", "2 x\n2,b.kcb", "3 c.kcb"])
    }

    @Test("A listing that cannot be understood, or is too long, is refused")
    func listings() throws {
        for text in ["a.kcb\n", "1,a.kcb", "x,a.kcb\n", "1,\n", "1,a,b\n"] {
            let rclone = Rclone(environment: [:]) { arguments, receive in
                if arguments[0] == "lsf" { try receive(Array(text.utf8).span) }
                return ProgramEnding(status: 0, messages: "")
            }
            #expect(throws: RemoteFailure.unclear(RemoteLocation("nas:x")!), "\(text)") {
                try rclone.files(in: RemoteLocation("nas:x")!)
            }
        }
    }
}
