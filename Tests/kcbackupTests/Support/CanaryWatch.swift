import Foundation
import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

/// A home whose secrets are canaries, in which the real program is watched from outside (`Canaries/watch.py`).
struct CanaryWatch {
    /// An event that the watcher saw.
    struct Event: Decodable, Sendable {
        enum Kind: String, Decodable, Sendable { case start, stop, exit, end }

        let event: Kind
        /// The command line; of the program itself without its name.
        let words: [String]
        /// The places of canaries.
        let found: [String]
        let status: Int32?
        let core: Bool?
    }

    /// The output of a run, and what the watcher saw of it.
    struct Outcome {
        let told: [UInt8]
        let events: [Event]
        let text: String

        func all(_ kind: Event.Kind) -> [Event] { events.filter { $0.event == kind } }
    }

    /// False where programs that hide their memory cannot be traced.
    static let isPossible: Bool = {
        do {
            _ = try Strace.visibility
            return ExternalProgram.locate("python3") != nil
        } catch {
            return false
        }
    }()

    static let scripts = Project.path("Tests/kcbackupTests/Canaries")
    private static let items = 200

    let home: TestHome
    private let folder: TemporaryFolder
    private let program: String
    private let search: String

    /// Makes a keychain with 200 canaries, an identity file `key.txt` and its recipient, `$KEY`.
    ///
    /// - Parameter inMemory: false to keep it where it cannot be swapped out.
    init(inMemory: Bool = true) throws {
        home = try TestHome(inMemory: inMemory)
        folder = try TemporaryFolder(inMemory: true)
        program = try ProcessInfo.processInfo.environment["KCBACKUP"] ?? ExternalProgram.built("kcbackup")
        search = try FakeRclone(home).environment["PATH"] ?? ""
        try Self.writeInputs(to: home.workingFolder)
        let made = try shell(
            """
            set -e
            $KCBACKUP keychain create --no-passcode -q
            $KCBACKUP keygen -o key.txt -q
            $KCBACKUP import canaries.jsonl -q
            """)
        try #require(made.status == 0, "\(made.text)\(made.errorText)")
        try folder.write("canaries", Array(Canary.list.utf8))
        try folder.write("canaries and keys", Array(Canary.list.utf8) + keys())
    }

    /// The device key and the identity, as text and as bytes; not their beginning, since the C library overwrites the
    /// first bytes of what is freed.
    private func keys() throws -> [UInt8] {
        let files = [
            ("home/.local/share/kcbackup/device.key", "KCBACKUP-DEVICE-KEY-"), ("work/key.txt", "AGE-SECRET-KEY-"),
        ]
        var list = ""
        for (name, prefix) in files {
            let lines = String(decoding: try home.folder.read(name), as: UTF8.self).split(separator: "\n")
            let text = Array(try #require(lines.first { $0.hasPrefix(prefix) }).utf8)
            var key: [UInt8] = []
            try #require(Bech32.decode(text.span, prefix: prefix, uppercase: true, into: &key))
            list += Canary.hexadecimal(text.suffix(32)) + "\n" + Canary.hexadecimal(key.suffix(16)) + "\n"
        }
        return Array(list.utf8)
    }

    /// Writes files with canaries, which `import` and options read.
    static func writeInputs(to folder: String) throws {
        let written = try ExternalProgram.run(
            "python3", ["-B", scripts + "/inputs.py", folder, Canary.stem, String(items)])
        try #require(written.status == 0, "\(written.errorText)")
    }

    /// Runs commands of bash, in which `kc` is the program.
    ///
    /// - Parameters:
    ///   - every: the number of system calls between two stops of the program; nil for none. Without stops, keys are looked
    ///     for as well.
    ///   - signal: sent to the program at the first stop at which a canary is in its memory.
    ///   - pagesOut: true to write the memory of the program to swap space at each stop, which takes root.
    func callAsFunction(
        _ script: String, every: Int? = nil, signal: Int32? = nil, pagesOut: Bool = false
    ) throws -> Outcome {
        var options: [String] = []
        if let every { options += ["--every", String(every)] }
        if let signal { options += ["--signal", String(signal)] }
        if pagesOut { options.append("--page-out") }
        let report = folder.path("report")
        let words =
            options + [
                folder.path(every == nil ? "canaries and keys" : "canaries"), program, report, "bash", "-c",
                Self.functions + script,
            ]
        let visibility = try Strace.visibility.map { [$0] } ?? []
        let outcome = try shell(
            #"exec "$@""#, ["watch", "env"] + visibility + ["python3", "-B", Self.scripts + "/watch.py"] + words)
        let events = try folder.read("report").split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(Event.self, from: Data($0))
        }
        return Outcome(
            told: outcome.output + outcome.errorOutput, events: events, text: outcome.text + outcome.errorText)
    }

    private static let functions = #"""
        kc() { "$KCBACKUP" "$@" </dev/null; }
        KEY=$(grep -os 'age1[0-9a-z]*' key.txt) || true

        """#

    private func shell(_ script: String, _ words: [String] = []) throws -> ExternalProgram.Outcome {
        try ExternalProgram.run(
            "bash", ["-c", script] + words,
            // Released programs bind every call before they run; what binds later leaves registers on the stack.
            environment: [
                "HOME": home.home, "PATH": search + ":/usr/sbin:/sbin", "TMPDIR": home.path("bin"), "KCBACKUP": program,
                "LD_BIND_NOW": "1", "SWIFT_BACKTRACE": "enable=yes", "TZ": "UTC", "LC_ALL": "C.UTF-8",
            ],
            in: home.workingFolder)
    }
}
