import Foundation
import KCTestSupport
import Testing

/// Checks from outside for calls that protect secrets and make files durable, whose absence no result would show.
@Suite(
    "System calls that protect secrets and make files durable", .waitsForPrograms,
    .traced)
struct SystemCallTests {
    private let folder: TemporaryFolder
    private let environment: [String: String]

    init() throws {
        folder = try TemporaryFolder()
        environment = ["HOME": folder.path, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        try run(["keychain", "create", "--no-passcode", "-q"])
        try run(["keygen", "-o", "key.txt", "-q"])
    }

    private func run(_ arguments: [String]) throws {
        let outcome = try ExternalProgram.run(
            ExternalProgram.built("kcbackup"), arguments, environment: environment, in: folder.path)
        try #require(outcome.status == 0, "\(outcome.errorText)")
    }

    private func strace(_ options: [String], _ program: String, _ arguments: [String]) throws -> (
        status: Int32, trace: [String]
    ) {
        let outcome = try Strace.run(
            ["-f", "-qq", "-y", "-o", "trace"] + options + ["--", ExternalProgram.built(program)] + arguments,
            environment: environment, in: folder.path)
        let trace = String(decoding: try folder.read("trace"), as: UTF8.self)
        return (outcome.status, trace.split(separator: "\n").map(String.init))
    }

    private func recipient() throws -> String {
        let text = String(decoding: try folder.read("key.txt"), as: UTF8.self)
        return String(try #require(text.firstMatch(of: /# public key: (age1\w+)/)).1)
    }

    @Test("An archive is synced before it gets its name, and its folder is synced afterwards")
    func archiveIsDurable() throws {
        let calls = ["-e", "trace=fsync,linkat,link,rename,renameat,renameat2"]
        let traced = try strace(calls, "kcbackup", ["create", "x.kcb", "-r", recipient()])
        #expect(traced.status == 0)
        let naming = try #require(traced.trace.firstIndex { $0.contains("\"x.kcb\"") }, "\(traced.trace)")
        let isDone = { (line: String) in line.contains("fsync(") && line.hasSuffix("= 0") }
        #expect(traced.trace[..<naming].contains(where: isDone), "\(traced.trace)")
        let behind = traced.trace[(naming + 1)...].first { isDone($0) && $0.contains("<\(folder.path)>") }
        #expect(behind != nil, "\(traced.trace)")
    }

    @Test("An archive whose folder cannot be synced is not reported as created")
    func folderThatIsNotDurable() throws {
        let arguments = try ["create", "x.kcb", "-r", recipient()]
        let traced = try strace(["-e", "trace=fsync"], "kcbackup", arguments)
        let syncs = traced.trace.filter { $0.contains("fsync(") }
        let number = try #require(syncs.firstIndex { $0.contains("<\(folder.path)>") }, "\(syncs)") + 1
        try FileManager.default.removeItem(atPath: folder.path("x.kcb"))
        let failed = try strace(
            ["-e", "trace=fsync", "-e", "inject=fsync:error=EIO:when=\(number)"], "kcbackup", arguments)
        #expect(failed.trace.contains { $0.contains("INJECTED") })
        #expect(failed.status == 74)
    }

    @Test(
        "Both programs disable core dumps and debuggers before they read a data file",
        arguments: ["kcbackup", "security"])
    func memoryIsHidden(program: String) throws {
        let arguments = program == "security" ? ["dump-keychain"] : ["item", "list"]
        let traced = try strace(["-e", "trace=prctl,openat,open,setrlimit,prlimit64"], program, arguments)
        let hidden = try #require(
            traced.trace.firstIndex { $0.contains("prctl(PR_SET_DUMPABLE, SUID_DUMP_DISABLE) = 0") }, "\(traced.trace)")
        let ours = try #require(traced.trace.firstIndex { $0.contains(folder.path + "/.local") }, "\(traced.trace)")
        #expect(hidden < ours)
        #expect(traced.trace.count { $0.contains("SUID_DUMP_DISABLE") } == 1)
        #expect(traced.trace.contains { $0.contains("RLIMIT_CORE, {rlim_cur=0, rlim_max=0}") })
    }
}
