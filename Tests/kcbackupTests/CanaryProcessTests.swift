import Foundation
import KCTerminal
import KCTestSupport
import Testing

/// Runs the real program among canaries, and looks for them where only another program can: in the arguments, the
/// environment and the name of every program that is started, in memory, and in what a crash leaves.
///
/// `make test` tries a few verbs, and `CANARIES=all` all of them.
@Suite(
    "No process lets a secret out", .waitsForPrograms,
    .enabled(if: CanaryWatch.isPossible, "programs that hide their memory cannot be traced here"))
struct CanaryProcessTests {
    private static let isWhole = Environment.has("CANARIES", "all")

    /// Lines of a session that `make test` tries as well.
    private static let sample = [
        "kc import export.1pux", "kc create -r $KEY a.kcb", "kc verify a.kcb -i key.txt",
        "kc item find --service c7 --reveal", "kc item add --service z --secret 'cmd:cat new'",
        "kc exec --with SECRET=c7 -- true", "kc keychain create coded --passcode file:old",
        "! kc keychain unlock coded --passcode file:new",
    ]

    /// A session with every way in and out, after the lines of the sample.
    private static let rest = [
        "kc import logins.csv", "kc import bitwarden.json", "kc import keepass.xml", "kc import secrets.yaml",
        "! kc import broken.yaml", "kc import kwallet.xml", "kc import plain.keyring", "kc import git-credentials",
        "kc create --passphrase file:old p.kcb", "kc create --unencrypted u.kcb",
        "kc inspect a.kcb -i key.txt -v", "kc verify p.kcb --passphrase file:old",
        "! kc verify p.kcb --passphrase file:new", "kc diff u.kcb", "kc item list -v",
        "kc item update --service z --secret file:old", "kc item delete --service c9 --yes", "kc undo --yes",
        "kc keychain create other --no-passcode", "kc restore a.kcb -i key.txt --keychain other",
        "kc restore p.kcb --passphrase file:old --replace --yes",
        "kc rekey a.kcb -i key.txt --new-passphrase file:new", "kc export --to csv --plaintext -o out.csv",
        "kc export --to kdbx --password file:new -o out.kdbx",
        "kc export --to bitwarden --password file:new -o out.bitwarden", "kc export --to cxf --plaintext -o out.cxf",
        "kc export --to kubernetes-yaml --plaintext -o out.yaml", "kc import out.kdbx --password file:new --into other",
        "kc import out.bitwarden --password file:new --into other", "kc import out.cxf --into other",
        "kc import out.yaml --into other", "kc keychain set-passcode --new-passcode file:new",
        "kc item find --service c7 --reveal --passcode 'cmd:cat new'",
        "kc keychain set-passcode --passcode file:new --new-passcode file:old",
        "kc keychain escrow enable login -o escrow --passcode file:old", "kc create --escrow escrow -r $KEY e.kcb",
        "kc copy p.kcb --to nas:backups", "kc device export -o device.age --passphrase file:old",
        "kc recovery make -o kit.txt", "kc protect old --class none", "kc unprotect old.age",
    ]

    private static let session = sample + (isWhole ? rest : [])

    @Test("Started programs have no secret in arguments and environment, and the program has none in memory at its end")
    func session() throws {
        let watch = try CanaryWatch()
        let outcome = try judged("a session") {
            try watch(Self.session.map { $0 + " >>told || echo \"failed: $?\"\n" }.joined())
        }
        #expect(!outcome.text.contains("failed: "), "\(outcome.text)")
        #expect(!Canary.isIn(outcome.told))
        // A command gets what it was given, in its environment and nowhere else.
        #expect(outcome.all(.start).count { $0.words == ["true"] && $0.found == ["environment"] } == 1)
        // `exec` becomes its command.
        #expect(outcome.all(.exit).count == Self.session.count - 1)
    }

    @Test(
        "No verb that is tried with canaries leaves one in a process", .enabled(if: isWhole, "CANARIES=all tries them"),
        arguments: LostOutputTests.cases + CanaryVerbTests.reading)
    func verb(tried: LostOutputTests.Case) throws {
        let watch = try CanaryWatch()
        let lines = (["item add --service a --generate"] + tried.before + [tried.line]).map { line in
            let kit = #""$(kc recovery list | grep -o '[0-9a-f]\{4\}-[0-9a-f]\{4\}')""#
            let device = #""$(kc device show | grep -o 'KC-[A-Z2-7-]*' | head -1)""#
            return "kc \(line.replacing("KIT", with: kit).replacing("DEVICE", with: device))\n"
        }
        // Some verbs need devices that this machine may not have; they end early.
        let outcome = try judged("the lines of every verb") { try watch(lines.joined()) }
        #expect(outcome.all(.end).allSatisfy { ($0.status ?? -1) >= 0 }, "\(outcome.text)")
    }

    /// Runs commands, and checks what the watcher saw of programs that were started, and of memory when they ended.
    private func judged(_ what: String, _ run: () throws -> CanaryWatch.Outcome) throws -> CanaryWatch.Outcome {
        let starts = ProofCount("programs started by \(what): arguments, environment and name")
        let exits = ProofCount("programs at the end of \(what): memory")
        let outcome = try run()
        for start in outcome.all(.start) {
            let isGiven = start.words == ["true"] && start.found == ["environment"]
            #expect(start.found.isEmpty || isGiven, "\(start.words): \(start.found)")
            starts.add(start.found.isEmpty || isGiven ? 0 : 1)
        }
        try starts.record()
        for exit in outcome.all(.exit) {
            #expect(exit.found.isEmpty, "\(exit.words): \(exit.found)")
            exits.add(exit.found.count)
        }
        try exits.record()
        return outcome
    }

    @Test(
        "A secret in use is in memory that is locked and not dumped, save the working memory of libraries",
        .enabled(if: locksMemory, "RLIMIT_MEMLOCK is too small"))
    func lockedMemory() throws {
        let stops = ProofCount(
            "stops in a session: memory with a secret is locked, or a library's (docs/threat-model.md)")
        let watch = try CanaryWatch()
        let lines = Self.isWhole ? Self.session : ["kc item add --service z --secret file:new"]
        let outcome = try watch(lines.map { $0 + " >>told\n" }.joined(), every: Self.isWhole ? 20 : 40)
        var locked = 0
        for stop in outcome.all(.stop) {
            locked += stop.found.contains("locked") ? 1 : 0
            let ofLibraries = stop.found.count { $0 == "[heap]" }
            let isTooMuch = ofLibraries > 4 && !Self.inReaders.contains { stop.words.starts(with: $0) }
            let outside = stop.found.filter { $0 != "locked" && ($0 != "[heap]" || isTooMuch) }
            #expect(outside.isEmpty, "\(stop.words): \(outside)")
            stops.add(outside.count)
        }
        try stops.record()
        // Which shows that the search finds what is there.
        #expect(locked > 0)
    }

    private static let locksMemory: Bool = {
        var limit = rlimit()
        return unsafe getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0
            && limit.rlim_cur >= 4 << 20
    }()

    /// Where a library that allocates memory itself reads secrets.
    ///
    /// Elsewhere, OpenSSL has what it hashes and derives keys from, in few places.
    private static let inReaders = [
        ["import", "export.1pux"], ["import", "keepass.xml"], ["import", "kwallet.xml"], ["import", "secrets.yaml"],
        ["import", "out.yaml"], ["import", "broken.yaml"],
    ]

    @Test(
        "A crash writes no core, and prints no secret", .enabled(if: writesCores, "the system writes no core here"),
        arguments: [SIGABRT, SIGSEGV])
    func crash(signal: Int32) throws {
        let watch = try CanaryWatch()
        let lines = Self.isWhole ? Self.session : ["kc item add --service z --secret file:new"]
        let crashes = ProofCount("verbs killed by signal \(signal) with a secret in memory: core and messages")
        var killed = 0
        for line in lines where !line.contains(" exec ") {
            let outcome = try watch(Self.withCores + line + " >told\n", every: Self.isWhole ? 10 : 20, signal: signal)
            // Undisturbed, so that the next line finds what it expects.
            if Self.isWhole { _ = try watch(line + " >told || true\n") }
            guard outcome.all(.end).contains(where: { $0.status == -signal }) else { continue }
            killed += 1
            let hasCore =
                try outcome.all(.end).contains { $0.core == true }
                || watch.home.folder.list().contains { $0.hasPrefix("work/core") }
            #expect(!hasCore && !Canary.isIn(outcome.told), "\(line): \(outcome.text)")
            crashes.add(hasCore || Canary.isIn(outcome.told) ? 1 : 0)
        }
        #expect(killed > 0)
        try crashes.record()
    }

    private static let withCores = "ulimit -S -c \"$(ulimit -H -c)\"\n"

    /// True if a crash of a program that does not prevent it leaves a core.
    private static let writesCores: Bool = {
        do {
            let crash = withCores + #"sh -c 'kill -ABRT $$'; true"#
            let crashed = try ExternalProgram.run("bash", ["-c", crash], in: TemporaryFolder.untilExit().path)
            return crashed.errorText.contains("(core dumped)")
        } catch {
            return false
        }
    }()
}
