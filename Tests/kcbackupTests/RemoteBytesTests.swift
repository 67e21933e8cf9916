import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Bytes on a remote", .waitsForPrograms)
struct RemoteBytesTests {
    private let home: TestHome
    private let rclone: FakeRclone
    private let recipient: String

    init() throws {
        home = try TestHome()
        rclone = try FakeRclone(home)
        for line in ["keychain create --no-passcode", "keygen -o key"] { #expect(home.run(line).status == .ok) }
        let key = String(decoding: try home.folder.read("work/key"), as: UTF8.self)
        recipient = String(try #require(key.firstMatch(of: /age1\w+/)).0)
        for _ in 0..<2 { #expect(run("create -r \(recipient) --to backups").status == .ok) }
        #expect(run("schedule add x -r \(recipient) --to backups --copy-to nas:x").status == .ok)
        try watch()
    }

    private func run(_ line: String) -> TestHome.Outcome {
        home.run(line.split(separator: " ").map(String.init), environment: rclone.environment)
    }

    /// Has every call of rclone note which archives on the remote it changed or removed, and fail if it should.
    private func watch() throws {
        try FileManager.default.moveItem(atPath: home.path("bin/rclone"), toPath: home.path("bin/real"))
        try home.write(
            "bin/rclone",
            """
            #!/bin/sh
            sums() { find "\(home.path("remote"))" -name '*.kcb' -exec sha256sum {} + 2>/dev/null | sort; }
            cd "\(home.path("bin"))" || exit
            sums >before
            ./real "$@"
            status=$?
            sums >after
            comm -23 before after | sed "s/^/$1 /" >>violations
            [ "$(wc -l <real.calls)" != "$(cat failing)" ] || status=1
            exit $status

            """, mode: 0o700)
        try fail(at: 0)
    }

    /// Has a call do its work and fail, as if its answer was lost; the count of calls begins again.
    private func fail(at number: Int) throws {
        try home.write("bin/failing", "\(number)")
        try home.write("bin/real.calls", "")
    }

    private var violations: String {
        get throws { String(decoding: try home.folder.read("work/bin/violations"), as: UTF8.self) }
    }

    private func calls() throws -> Int {
        String(decoding: try home.folder.read("work/bin/real.calls"), as: UTF8.self).split(separator: "\n").count
    }

    // `make proof` has each call fail, `make test` one of each verb.
    private static let isWhole = ProcessInfo.processInfo.environment["CALLS"] == "all"
    private let seed = Int.random(in: 0..<1_000)

    /// The call that fails, the same one each time that it is asked for.
    private func sample(of count: Int) -> Int { 1 + seed % count }

    @Test("No verb changes or removes a copy that is complete, whichever of its calls fails")
    func kept() throws {
        // Other archives under the names that are copied to.
        try home.write("remote/taken/a.kcb", "mine")
        try home.write("a.kcb", home.folder.read(#require(home.folder.list().first { $0.hasSuffix(".kcb") })))
        #expect(run("copy backups --to nas:x").status == .ok)
        let proof = ProofCount("calls of rclone that fail", seed: Self.isWhole ? nil : UInt64(seed))
        let lines = [
            "copy backups --to nas:x", "copy a.kcb --to nas:taken", "copy backups --to nas:new",
            "create -r \(recipient) --to nas:x", "run x", "doctor nas:x", "list nas:x", "verify nas:x",
            "verify nas:x --against backups", "restore nas:taken --dry-run", "copy nas:x --to back",
            "prune nas:x --keep-last 1", "fleet status nas:x",
        ]
        for (index, line) in lines.enumerated() where Self.isWhole || index % 2 == seed % 2 {
            try fail(at: 0)
            _ = run(line)
            let count = try calls()
            for number in 1..<(count + 1) where Self.isWhole || number == sample(of: count) {
                try fail(at: number)
                _ = run(line)
                let violations = try violations
                #expect(violations == "", "\(line), call \(number)")
                proof.add(violations.isEmpty ? 0 : 1)
            }
        }
        try proof.record()
        try fail(at: 0)
        for line in ["copy backups --to nas:x", "copy backups --to nas:new", "run x"] {
            #expect(run(line).status == .ok, "\(line)")
        }
        let left = try home.folder.list().filter { $0.hasPrefix("work/remote/") && $0.contains(".part") }
        #expect(left.isEmpty, "\(left)")
        #expect(try home.folder.read("work/remote/taken/a.kcb") == Array("mine".utf8))
        // A call that would change a complete copy is seen.
        _ = try ExternalProgram.run(home.path("bin/rclone"), ["copyto", home.path("key"), "nas:taken/a.kcb"])
        #expect(try violations.hasPrefix("copyto "))
    }
}
