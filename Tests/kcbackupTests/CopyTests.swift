import Foundation
import KCBackupTasks
import KCKeychainModel
import KCLocalKeychains
import KCStoreTasks
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Archives on a remote", .waitsForPrograms)
struct CopyTests {
    private let home: TestHome
    private let rclone: FakeRclone

    init() throws {
        home = try TestHome()
        rclone = try FakeRclone(home)
        try home.write("secret", "s3cret")
        for line in [
            "keychain create --no-passcode", "item add --service Mail --account ada --secret file:secret",
            "keygen -o key",
        ] { #expect(home.run(line).status == .ok) }
        let key = String(decoding: try home.folder.read("work/key"), as: UTF8.self)
        let recipient = String(try #require(key.firstMatch(of: /age1\w+/)).0)
        #expect(home.run(["create", "-r", recipient, "a.kcb"]).status == .ok)
        #expect(home.run(["create", "--unencrypted", "open.kcb"]).status == .ok)
        for _ in 0..<2 { #expect(home.run(["create", "-r", recipient, "--to", "backups"]).status == .ok) }
    }

    private func run(_ line: String, environment: [String: String]? = nil) -> TestHome.Outcome {
        home.run(line.split(separator: " ").map(String.init), environment: environment ?? rclone.environment)
    }

    @Test("A copy is the archive, byte for byte; a second run copies nothing; what is there is never replaced")
    func copies() throws {
        #expect(run("copy a.kcb --to nas:x").text == "copied  nas:x/a.kcb\n")
        #expect(try home.folder.read("work/remote/x/a.kcb") == home.folder.read("work/a.kcb"))
        #expect(run("copy a.kcb --to nas:x").text == "there already  nas:x/a.kcb\n")
        try home.write("remote/x/a.kcb", "mine")
        let taken = run("copy a.kcb --to nas:x")
        #expect(taken.status == .exists && taken.messages.contains("was left as it is"))
        #expect(try home.folder.read("work/remote/x/a.kcb") == Array("mine".utf8))
    }

    @Test("No copy goes into the data folder, and one that is damaged is refused even if the same bytes are here")
    func copiesBackSafely() throws {
        #expect(run("copy a.kcb --to nas:x").status == .ok)
        let data = home.world().machine.dataFolder.path
        #expect(run("copy nas:x --to \(data)/keychains").status == .refused)
        for folder in ["remote/cut", "back"] {
            try FileManager.default.createDirectory(
                atPath: home.path(folder), withIntermediateDirectories: true)
            try home.write("\(folder)/a.kcb", Array(home.folder.read("work/a.kcb").prefix(3_000)))
        }
        #expect(run("copy nas:cut --to back").status == .damaged)
    }

    @Test("A file that is named as the folder for copies is said to be one")
    func fileAsFolder() throws {
        let outcome = run("copy a.kcb --to ./open.kcb")
        #expect(outcome.status == .usage && outcome.messages.contains("open.kcb' is a file"), "\(outcome.messages)")
    }

    @Test("A folder is copied archive by archive; one that is damaged is named, and the others are copied")
    func folders() throws {
        var bytes = try home.folder.read("work/a.kcb")
        bytes[bytes.count / 2] ^= 1
        try home.write("backups/damaged.kcb", bytes)
        let outcome = run("copy backups --to nas:x")
        #expect(outcome.status == .damaged, "\(outcome.messages)")
        #expect(outcome.text.split(separator: "\n").count == 2)
        #expect(!outcome.messages.contains("copied"), "each failure is told by itself")
        #expect(try home.folder.list().filter { $0.hasPrefix("work/remote/x/") && $0.hasSuffix(".kcb") }.count == 2)
    }

    @Test("Archives are read from the remote; where a folder is named, the newest, which is said")
    func reads() throws {
        #expect(run("copy backups --to nas:x").status == .ok)
        #expect(run("copy a.kcb --to nas:y").status == .ok)
        #expect(run("verify nas:y/a.kcb -i key").status == .ok)
        #expect(run("verify nas:x -i key -v").text.split(separator: "\n").count { $0.contains("genuine") } == 2)
        let outside = run("verify nas:x")
        #expect(outside.status == .ok && outside.text.isEmpty, "as of a folder here")
        #expect(run("inspect nas:y/a.kcb -i key").text.contains("Mail"))
        #expect(run("diff nas:y/a.kcb a.kcb -i key").status == .ok)
        #expect(run("item delete --service Mail --yes").status == .ok)
        let restored = run("restore nas:x -i key --json")
        #expect(restored.status == .ok && restored.messages.contains("the newest archive: nas:x/login-"))
        #expect(restored.text.contains(#""path":"nas:x/login-"#), "\(restored.text)")
        #expect(run("item find --service Mail --reveal").text.contains("s3cret"))
        #expect(run("list nas:x").text.split(separator: "\n").count == 3)
        #expect(run("list nas:x --json").text.contains(#""series":"login""#))
        #expect(run("list nas:x --columns keychain").text == "KEYCHAIN\nlogin\nlogin\n")
        #expect(run("list nas:y --wide --sort size --columns archive").text == "ARCHIVE\na.kcb\n")
        for options in ["--columns nope", "--sort nope", "--yes", "--lock-wait 1s"] {
            #expect(run("list nas:x \(options)").status == .usage, "\(options)")
        }
    }

    @Test("An old archive under a later name is refused and named, and so is a newest one that is damaged")
    func renamed() throws {
        #expect(run("copy backups --to nas:x").status == .ok)
        let names = try home.folder.list().filter { $0.hasPrefix("work/remote/x/") }.sorted()
        let later = try #require(names.last).replacing(/\d{8}T\d{6}Z/, with: "20260301T235900Z")
        let name = try #require(later.split(separator: "/").last)
        try home.write(String(later.dropFirst("work/".count)), home.folder.read(#require(names.first)))
        for line in ["restore nas:x -i key", "inspect nas:x -i key", "verify nas:x", "verify nas:x -i key"] {
            let outcome = run(line)
            #expect(
                outcome.status == .damaged && outcome.messages.contains("'nas:x/\(name)' was renamed"),
                "\(line): \(outcome.messages)")
        }
        let named = run("restore nas:x/\(name) -i key")
        #expect(named.status == .ok && named.messages.contains("warning: 'nas:x/\(name)' was renamed"), "it was named")
        try home.write(String(later.dropFirst("work/".count)), "damaged")
        let damaged = run("restore nas:x -i key")
        #expect(
            damaged.status == .damaged && damaged.messages.contains("error: 'nas:x/\(name)'"), "\(damaged.messages)")
    }

    @Test("An archive of another keychain under the name of this one is refused")
    func otherKeychain() throws {
        let key = String(decoding: try home.folder.read("work/key"), as: UTF8.self)
        let recipient = String(try #require(key.firstMatch(of: /age1\w+/)).0)
        #expect(run("keychain create work --no-passcode").status == .ok)
        #expect(run("create --keychain work -r \(recipient) --to nas:x").status == .ok)
        let made = try #require(home.folder.list().first { $0.hasPrefix("work/remote/x/work-") })
        let bytes = try home.folder.read(made)
        try FileManager.default.removeItem(atPath: home.folder.path(made))
        try home.write(String(made.replacing("/work-", with: "/login-").dropFirst("work/".count)), bytes)
        for line in ["restore nas:x -i key", "verify nas:x -i key"] {
            let outcome = run(line)
            #expect(outcome.status == .damaged && outcome.messages.contains("was renamed"), "\(line)")
        }
    }

    @Test("An archive that lacks what could not be read is restored and verified with 3, also from a remote")
    func incomplete() throws {
        let key = String(decoding: try home.folder.read("work/key"), as: UTF8.self)
        let recipient = String(try #require(key.firstMatch(of: /age1\w+/)).0)
        #expect(run("item add --service b --account b --generate").status == .ok)
        try SQLiteFile(home.home + "/.local/share/kcbackup/keychains/login.keychain").run(
            "UPDATE genp SET mdat = 9223372036854775807 WHERE svce = CAST('b' AS BLOB)")
        #expect(run("create -r \(recipient) --to nas:x").status == .incomplete)
        #expect(run("keychain create other --no-passcode").status == .ok)
        for line in ["verify nas:x -i key", "restore nas:x -i key --keychain other"] {
            let outcome = run(line)
            #expect(outcome.status == .incomplete, "\(line): \(outcome.messages)")
        }
        #expect(run("restore nas:x -i key --keychain other").messages.contains("left out, or not readable"))
    }

    @Test("Files whose names are not UTF-8 are named, and the exit code is 3")
    func names() throws {
        let made = try ExternalProgram.run(
            "/bin/sh", ["-c", #"cp "$1/a.kcb" "$1/backups/$(printf '\377').kcb""#, "sh", home.path(".")])
        #expect(made.status == 0)
        for line in ["copy backups --to nas:x", "verify backups"] {
            let outcome = run(line)
            #expect(
                outcome.status == .incomplete && outcome.messages.contains("its name is not UTF-8"),
                "\(line): \(outcome.messages)")
        }
        #expect(run("list backups").messages.contains("its name is not UTF-8"))
        #expect(try home.folder.list().filter { $0.hasPrefix("work/remote/x/") }.count == 2)
    }

    @Test("A remote is told apart from an empty folder of it, and from files that a command takes only from here")
    func hints() throws {
        try FileManager.default.createDirectory(atPath: home.path("remote/none"), withIntermediateDirectories: true)
        for line in ["verify nas:none", "restore nas:none -i key"] {
            let outcome = run(line)
            #expect(outcome.status == .notFound && outcome.messages.contains("there is no archive in"), "\(line)")
        }
        #expect(run("import nas:x.csv").messages.contains("nas:x.csv --to FOLDER"))
    }

    @Test("Where something is written, a folder here never takes the place of a remote")
    func localFolder() throws {
        let key = String(decoding: try home.folder.read("work/key"), as: UTF8.self)
        let recipient = String(try #require(key.firstMatch(of: /age1\w+/)).0)
        try FileManager.default.createDirectory(atPath: home.path("nas:z"), withIntermediateDirectories: true)
        #expect(run("create -r \(recipient) --to nas:z").status == .ok)
        #expect(try home.folder.list().contains { $0.hasPrefix("work/remote/z/login-") })
        #expect(run("create -r \(recipient) --to ./nas:z").status == .ok)
        #expect(try home.folder.list().contains { $0.hasPrefix("work/nas:z/login-") })
    }

    @Test("Nothing is fetched or copied where it is unclear or refused what is meant")
    func refusals() throws {
        #expect(run("copy backups a.kcb --to nas:x").status == .ok)
        let refused: [(String, KCTerminal.ExitStatus)] = [
            ("copy open.kcb --to nas:x", .refused), ("copy a.kcb --to far:x", .notFound),
            ("copy a.kcb --to tmp", .usage),
            ("copy a.kcb --to nas:../x", .usage), ("copy none.kcb --to nas:x", .notFound),
            ("copy key --to nas:x", .damaged),
            ("inspect nas:x/none.kcb", .notFound), ("inspect nas:none", .notFound),
            ("list far:x", .notFound), ("list nas:none", .notFound), ("list nas:x --rebuild", .usage),
            ("verify nas:none", .notFound), ("prune nas:x --keep-last 1", .refused), ("prune nas:x --undo", .refused),
        ]
        for (line, status) in refused {
            let outcome = run(line)
            #expect(outcome.status == status, "\(line): \(outcome.messages)")
        }
        #expect(run("copy open.kcb --to nas:x --metadata-readable").status == .ok)
        let missing = run("copy a.kcb --to nas:x", environment: ["PATH": "/none"])
        #expect(missing.status == .notFound && missing.messages.contains("rclone is not installed"))
    }

    @Test(
        "What has the name of a remote here never takes its place in silence, and the other way round",
        arguments: ["inspect", "verify", "restore", "list", "copy --to ./here"])
    func ambiguous(verb: String) throws {
        try FileManager.default.createDirectory(atPath: home.path("nas:"), withIntermediateDirectories: true)
        try home.write("nas:/a.kcb", home.folder.read("work/a.kcb"))
        for given in verb == "list" ? ["nas:"] : ["nas:/a.kcb"] {
            let refused = run("\(verb) \(given)")
            #expect(
                refused.status == .usage
                    && refused.messages.contains("is a file or folder here, and may be one of a remote"),
                "\(refused.messages)")
        }
        #expect(run("verify ./nas:/a.kcb -i key").status == .ok)
    }

    @Test("A backup can go to a remote alone: it is read back there, and nothing of it stays here")
    func creates() throws {
        let key = String(decoding: try home.folder.read("work/key"), as: UTF8.self)
        let recipient = String(try #require(key.firstMatch(of: /age1\w+/)).0)
        let made = run("create -r \(recipient) --to nas:z -v")
        #expect(made.status == .ok, "\(made.messages)")
        let path = try #require(made.messages.firstMatch(of: /nas:z\/login-KC-\w{8}-\d{8}T\d{6}Z\.kcb: 1 item/)).0
        let name = String(path.dropLast(": 1 item".count))
        #expect(run("inspect \(name) -i key").text.contains("Mail"))
        let second = run("create -r \(recipient) --to nas:z --json")
        #expect(second.status == .ok && second.text.contains(#""path":"nas:z/login-KC-"#), "\(second.text)")
        #expect(run("list nas:z").text.split(separator: "\n").count == 3)
        #expect(try !home.folder.list().contains { $0.contains(".restoring-") })
        let refused: [(String, KCTerminal.ExitStatus)] = [
            ("--unencrypted", .refused), ("-r \(recipient) --all", .usage), ("-r \(recipient) --if-changed", .usage),
        ]
        for (options, status) in refused {
            #expect(run("create \(options) --to nas:z").status == status, "\(options)")
        }
        #expect(run("create --unencrypted --metadata-readable --to nas:z").status == .ok)
        #expect(run("create -r \(recipient) --metadata-readable b.kcb").status == .usage)
        #expect(run("create -r \(recipient) --to far:z").status == .notFound)
    }

    @Test("Doctor says what could become of copies in a folder, and leaves nothing there")
    func doctor() throws {
        let found = run("doctor nas:x")
        #expect(
            found.status == .ok && found.messages.contains("can replace or delete the copies in 'nas:x'"),
            "\(found.messages)")
        #expect(
            found.text.contains(/a copy can be replaced +yes/) && found.text.contains(/versions are kept +not known/))
        #expect(run("doctor nas:x --json").text.contains(#""canDelete":true,"canDestroy":true,"left":[]"#))
        #expect(try !home.folder.list().contains { $0.contains("canary") || $0.contains(".restoring-") })
        #expect(run("doctor /tmp").status == .usage && run("doctor far:x").status == .notFound)
    }

    @Test("Every verb that takes a remote takes a host that OpenSSH reaches, without rclone")
    func hosts() throws {
        let sftp = try FakeSftp(home)
        try FileManager.default.createDirectory(atPath: home.path("remote"), withIntermediateDirectories: true)
        func on(_ line: String) -> TestHome.Outcome { run(line, environment: sftp.environment) }
        let key = String(decoding: try home.folder.read("work/key"), as: UTF8.self)
        let recipient = String(try #require(key.firstMatch(of: /age1\w+/)).0)
        #expect(on("copy a.kcb --to sftp:nas:x/y").text == "copied  sftp:nas:x/y/a.kcb\n")
        #expect(try home.folder.read("work/remote/x/y/a.kcb") == home.folder.read("work/a.kcb"))
        for line in [
            "copy a.kcb --to sftp:nas:x/y", "list sftp:nas:x/y", "inspect sftp:nas:x/y -i key",
            "verify sftp:nas:x/y -i key", "diff sftp:nas:x/y/a.kcb a.kcb -i key",
            "restore sftp:nas:x/y -i key --dry-run",
            "export --archive sftp:nas:x/y/a.kcb -i key --to csv --plaintext -o out.csv",
            "create -r \(recipient) --to sftp:nas:z", "doctor sftp:nas:z",
            "schedule add x -r \(recipient) --to b --copy-to sftp:nas:j", "run x", "status",
        ] {
            let outcome = on(line)
            #expect(outcome.status == .ok, "\(line): \(outcome.messages)")
        }
        let files = try home.folder.list().filter { $0.hasPrefix("work/remote/") && !$0.hasSuffix("/a.kcb") }
        #expect(files.count { $0.contains(/(z|j)\/login-.*\.kcb$/) } == 2, "\(files)")
        #expect(!files.contains { $0.contains("part") || $0.contains("canary") })
        for (line, status) in [
            ("list sftp:nas:none", .notFound), ("inspect sftp:nas:x/none.kcb", .notFound), ("list sftp:far:x", .io),
            ("copy a.kcb --to sftp:nas:a*b", .usage), ("fleet status sftp:nas:x", .notFound),
        ] as [(String, KCTerminal.ExitStatus)] {
            let outcome = on(line)
            #expect(outcome.status == status, "\(line): \(outcome.messages)")
        }
        let none = run("list sftp:nas:x", environment: ["PATH": "/none"])
        #expect(none.status == .notFound && none.messages.contains("sftp of OpenSSH is not installed"))
    }

    @Test("Archives are copied back, never over a file, and a catalogue that was lost is rebuilt from them")
    func back() throws {
        #expect(run("copy backups --to nas:x").status == .ok)
        let names = try home.folder.list().filter { $0.hasPrefix("work/backups/") && $0.hasSuffix(".kcb") }.sorted()
        let first = try home.folder.read(names[0])
        for path in try [home.path("backups")]
            + home.folder.list().filter({ !$0.hasPrefix("work/") && $0.contains("/backups/") })
            .map({ home.folder.path($0) })
        { try FileManager.default.removeItem(atPath: path) }
        #expect(run("list backups").status == .notFound)
        let copied = run("copy nas:x --to backups")
        #expect(copied.status == .ok && copied.text.split(separator: "\n").count { $0.hasPrefix("copied  ") } == 2)
        #expect(try home.folder.read(names[0]) == first)
        #expect(run("copy nas:x --to backups").text.split(separator: "\n").allSatisfy { $0.hasPrefix("there already") })
        let rebuilt = run("list backups --rebuild -v")
        #expect(rebuilt.status == .ok && rebuilt.messages.contains("2 backups entered"), "\(rebuilt.messages)")
        #expect(run("verify backups").status == .ok)
        // A copy that is damaged gets no name, and the other one is copied.
        let name = String(names[0].dropFirst("work/backups/".count))
        try home.write("remote/x/\(name)", first.dropLast() + [first[first.count - 1] ^ 1])
        let damaged = run("copy nas:x --to c")
        #expect(damaged.status == .damaged, "\(damaged.messages)")
        #expect(
            try home.folder.list().filter { $0.hasPrefix("work/c/") } == [
                "work/c/" + names[1].dropFirst("work/backups/".count)
            ])
        #expect(run("copy nas:x/\(name) --to backups").status == .exists)
        #expect(try home.folder.read(names[0]) == first)
        for line in ["copy nas:x a.kcb --to c", "copy nas:x --to nas:y", "copy nas:x --to c --metadata-readable"] {
            #expect(run(line).status == .usage, "\(line)")
        }
    }

    @Test("Against a folder here, what is missing is named, and only what no hash proves is fetched")
    func against() throws {
        #expect(run("copy backups --to nas:x").status == .ok)
        func fetched(_ line: String, _ status: KCTerminal.ExitStatus) throws -> Int {
            let before = try rclone.calls().count { $0 == "cat" }
            let outcome = run(line)
            #expect(outcome.status == status, "\(line): \(outcome.messages)")
            return try rclone.calls().count { $0 == "cat" } - before
        }
        // The same folder; 'bucket' lists hashes, 'nas' none.
        #expect(try fetched("verify bucket:x --against backups", .ok) == 0)
        #expect(try fetched("verify bucket:x --against backups -i key", .ok) == 0)
        #expect(try fetched("verify nas:x --against backups", .ok) == 2)
        #expect(try fetched("verify bucket:x --against backups --sample 1%", .ok) == 2, "the newest, and one other")
        let names = try home.folder.list().filter { $0.hasPrefix("work/remote/x/") }.sorted()
        let first = String(names[0].dropFirst(5))
        let bytes = try home.folder.read("work/" + first)
        // A hash that does not fit proves nothing: what is there is read.
        try home.write(first, bytes.dropLast() + [bytes[bytes.count - 1] ^ 1])
        #expect(try fetched("verify bucket:x --against backups", .damaged) == 1)
        try home.write(first, home.folder.read("work/a.kcb"))
        #expect(try fetched("verify bucket:x --against backups", .damaged) == 1)
        try FileManager.default.removeItem(atPath: home.path(first))
        #expect(try fetched("verify bucket:x --against backups", .notFound) == 0)
        // An archive that is gone here and there is not forgotten, and a copy is not blamed for damage here.
        let here = "backups/" + String(try #require(first.split(separator: "/").last))
        let original = try home.folder.read("work/" + here)
        try FileManager.default.removeItem(atPath: home.path(here))
        #expect(try fetched("verify bucket:x --against backups", .notFound) == 0)
        try home.write(here, Array(original.prefix(3_000)), mode: 0o600)
        try home.write(first, bytes)
        let blamed = run("verify nas:x --against backups")
        #expect(
            blamed.status == .damaged && blamed.messages.contains("'\(here)', with which its copy is compared: "),
            "\(blamed.messages)")
        try home.write(here, original, mode: 0o600)
        try FileManager.default.removeItem(atPath: home.path(first))
        let missing = run("verify nas:x --against backups --sample 1%")
        #expect(missing.status == .notFound && missing.messages.contains(first.split(separator: "/").last ?? "-"))
        try home.write("remote/x/other.kcb", home.folder.read("work/a.kcb"))
        #expect(try fetched("verify bucket:x --against backups", .notFound) == 1, "what is only there is read")
        for (line, status) in [
            ("verify a.kcb --against backups", .usage), ("verify nas:x nas:y --against backups", .usage),
            ("verify nas:x --against none", .notFound), ("verify nas:none --against backups", .notFound),
        ] as [(String, KCTerminal.ExitStatus)] { #expect(run(line).status == status, "\(line)") }
    }

    @Test("A name that leads out of the folder is not written")
    func foreignNames() throws {
        try FileManager.default.moveItem(atPath: home.path("bin/rclone"), toPath: home.path("bin/other"))
        try home.write(
            "bin/rclone",
            """
            #!/bin/sh
            case $1 in
            lsf) printf '3,../evil.kcb\\n';;
            *) exec "\(home.path("bin/other"))" "$@";;
            esac

            """, mode: 0o700)
        #expect(run("copy nas:x --to c").status == .usage)
        #expect(try !home.folder.list().contains { $0.hasSuffix("evil.kcb") })
    }

    @Test("A sample of a folder is its newest archive and some of the others")
    func samples() throws {
        #expect(run("copy backups --to nas:x").status == .ok)
        let sorted = try home.folder.list().filter { $0.hasPrefix("work/remote/x/") }.sorted()
        #expect(sorted.count == 2)
        try home.write(String(try #require(sorted.last).dropFirst("work/".count)), "damaged")
        for _ in 0..<5 { #expect(run("verify nas:x --sample 0.1%").status == .damaged, "the newest is always read") }
        #expect(run("verify nas:x/\(sorted[0].split(separator: "/").last ?? "") --sample 5%").status == .usage)
        for share in ["0%", "101%", "5", "x%", "-1%"] {
            let refused = run("verify nas:x --sample=\(share)")
            #expect(refused.status == .usage && refused.messages.contains("up to 100%"), "\(share)")
        }
    }

    @Test("A link is not followed: the copy has the name that was given, or there is none")
    func links() throws {
        try FileManager.default.createSymbolicLink(atPath: home.path("b.kcb"), withDestinationPath: "a.kcb")
        #expect(run("copy b.kcb --to nas:x").status != .ok)
        #expect(try !home.folder.list().contains { $0.hasPrefix("work/remote") })
    }

    @Test("A configuration that is only linked to is used")
    func linkedConfiguration() throws {
        try home.write("dotfiles/rclone.conf", "[nas]\ntype = webdav\n")
        try FileManager.default.createSymbolicLink(
            atPath: home.path("r.conf"), withDestinationPath: "dotfiles/rclone.conf")
        let environment = rclone.environment.merging(["RCLONE_CONFIG": home.path("r.conf")]) { $1 }
        #expect(run("copy a.kcb --to nas:x", environment: environment).status == .ok)
    }

    @Test("Passwords of remotes that others can read are not used")
    func sharedConfiguration() throws {
        try home.write("rclone.conf", "[nas]\ntype = webdav\n", mode: 0o644)
        let environment = rclone.environment.merging(["RCLONE_CONFIG": home.path("rclone.conf")]) { $1 }
        let outcome = run("copy a.kcb --to nas:x", environment: environment)
        #expect(outcome.status == .refused && outcome.messages.contains("chmod 600"))
    }

    @Test("The configuration that rclone finds in one of its places is the one that is checked, and that a job names")
    func foundConfiguration() throws {
        let environment = rclone.environment.merging(["XDG_CONFIG_HOME": home.path("cfg")]) { $1 }
        let add = "schedule add x --unencrypted --metadata-readable --to b --copy-to nas:x"
        #expect(run(add, environment: environment).status == .ok)
        func named() -> Substring? {
            let line = run("schedule show x --crontab", environment: environment).text
            return line.firstMatch(of: /RCLONE_CONFIG=(\S+)/)?.1
        }
        #expect(named() == "\(home.path("cfg"))/rclone/rclone.conf")
        // Each comes before the ones that were made earlier.
        for name in ["home/.rclone.conf", "home/.config/rclone/rclone.conf", "work/cfg/rclone/rclone.conf"] {
            try home.write("../\(name)", "[nas]\ntype = webdav\n", mode: 0o644)
            let refused = run("copy a.kcb --to nas:x", environment: environment)
            #expect(
                refused.status == .refused && refused.messages.contains("/\(name)' can be used"), "\(refused.messages)")
            #expect(named() == Substring(home.folder.path(name)))
            try home.write("../\(name)", "[nas]\ntype = webdav\n")
            #expect(run("copy a.kcb --to nas:x", environment: environment).status == .ok)
        }
    }

    @Test("rclone reads the configuration that was checked")
    func checkedConfiguration() throws {
        try home.write("../home/.rclone.conf", "[nas]\ntype = webdav\n")
        try FileManager.default.moveItem(atPath: home.path("bin/rclone"), toPath: home.path("bin/real"))
        let script = "#!/bin/sh\n[ -f \"$RCLONE_CONFIG\" ] || exit 1\nexec \(home.path("bin/real")) \"$@\"\n"
        try home.write("bin/rclone", script, mode: 0o700)
        let outcome = run("copy a.kcb --to nas:x")
        #expect(outcome.status == .ok, "\(outcome.messages)")
    }
}
