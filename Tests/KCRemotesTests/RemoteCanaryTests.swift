import KCByteStreams
import KCTestSupport
import Testing

@testable import KCRemotes

@Suite("What somebody with the credentials of this machine can do")
struct RemoteCanaryTests {
    /// A bucket, as rclone shows it.
    private final class Bucket {
        var file: Int?
        /// The sizes of the versions that were kept.
        var versions: [Int?] = []
        var (keepsVersions, allowsReplacing, allowsDeleting) = (false, true, true)
        var (allowsVersionDeleting, allowsSwitching) = (true, true)
        var kind = "s3"
        /// False if it does not say which versions there are.
        var tellsVersions = true

        private static let refused = ProgramEnding(status: 1, messages: "AccessDenied: 403")
        private static let fine = ProgramEnding(status: 0, messages: "")

        func answer(
            _ arguments: [String], _ receive: (borrowing Span<UInt8>) throws -> Void
        ) throws -> ProgramEnding {
            func say(_ text: String) throws { try receive(Array(text.utf8).span) }
            switch arguments[0] {
            case "config": try say("[nas]\ntype = \(kind)\n")
            case "lsf":
                if arguments.contains("--s3-versions"), !tellsVersions { return Self.refused }
                if let file { try say("\(file),canary-1.txt\n") }
                if arguments.contains("--s3-versions") {
                    for case (let number, let size?) in versions.enumerated() {
                        try say("\(size),canary-1-v2026-00\(number).txt\n")
                    }
                    try say("3,canary-2-v2026-000.txt\n3,other.kcb\n")
                }
            case "copyto":
                let size = arguments[arguments.count - 2].hasSuffix("first") ? 5 : 6
                if file != nil, !allowsReplacing { return Self.refused }
                if keepsVersions { versions.append(size) }
                file = size
            case "deletefile":
                if !allowsDeleting { return Self.refused }
                file = nil
            case "delete":
                #expect(arguments.contains("--s3-versions"))
                if !allowsVersionDeleting { return Self.refused }
                let name = arguments[try #require(arguments.firstIndex(of: "--include")) + 1]
                let number = try #require(name.firstMatch(of: /00(\d)\.txt$/)).1
                versions[Int(number) ?? 0] = nil
            case "backend":
                #expect(arguments.contains("nas:bucket"), "\(arguments)")
                if arguments.last == "Enabled", !allowsSwitching { return Self.refused }
                try say(keepsVersions ? "Enabled\n" : "Unversioned\n")
            default: return ProgramEnding(status: 1, messages: "unknown command")
            }
            return Self.fine
        }

        func findings() throws -> RemoteCanary.Findings {
            let folder = try TemporaryFolder()
            let rclone = Rclone(environment: [:]) { try self.answer($0, $1) }
            let remote = try RemoteFolder(#require(RemoteLocation("nas:bucket/laptop")), rclone)
            return try RemoteCanary(name: "canary-1.txt", in: remote).run(
                OpenFile.reading(folder.write("first", Array("first".utf8))),
                OpenFile.reading(folder.write("second", Array("second".utf8))))
        }
    }

    @Test("Where nothing is kept, whoever can replace or delete a file can destroy it")
    func plain() throws {
        let bucket = Bucket()
        #expect(
            try bucket.findings()
                == .init(
                    canReplace: true, canDelete: true,
                    versions: .init(areKept: false, canDelete: false, canSwitchOff: false), left: []))
        #expect(try bucket.findings().canDestroy && bucket.file == nil)
        bucket.allowsReplacing = false
        #expect(try bucket.findings().canDestroy)
        bucket.kind = "webdav"
        #expect(try bucket.findings().versions == nil)
    }

    @Test("Versions protect a copy unless they can be deleted, or switched off")
    func versions() throws {
        for allowsDeleting in [true, false] {
            for allowsSwitching in [true, false] {
                let bucket = Bucket()
                bucket.keepsVersions = true
                (bucket.allowsVersionDeleting, bucket.allowsSwitching) = (allowsDeleting, allowsSwitching)
                let found = try bucket.findings()
                #expect(
                    found.versions == .init(areKept: true, canDelete: allowsDeleting, canSwitchOff: allowsSwitching))
                #expect(found.canDestroy == (allowsDeleting || allowsSwitching))
            }
        }
    }

    @Test("A folder to which files can only be added protects them, and the canary that stays is named")
    func addOnly() throws {
        let bucket = Bucket()
        (bucket.kind, bucket.allowsReplacing, bucket.allowsDeleting) = ("sftp\nknown_hosts_file = x", false, false)
        let found = try bucket.findings()
        #expect(!found.canReplace && !found.canDelete && !found.canDestroy && found.left == ["canary-1.txt"])
    }

    @Test("A bucket that does not say whether it keeps versions is asked everything else, and the canary is gone")
    func unanswered() throws {
        let bucket = Bucket()
        bucket.tellsVersions = false
        #expect(
            try bucket.findings() == .init(canReplace: true, canDelete: true, versions: nil, left: [])
                && bucket.file == nil)
    }

    @Test("A canary that could not be deleted is used again")
    func again() throws {
        let bucket = Bucket()
        bucket.allowsDeleting = false
        for _ in 0..<2 {
            let found = try bucket.findings()
            #expect(found.canReplace && !found.canDelete && found.left == ["canary-1.txt"])
        }
    }
}
