import KCByteStreams
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Dry runs of restore and undo end as the runs do where something may not be done", .waitsForPrograms)
struct ForetoldFailureTests {
    private let home: TestHome
    private var data: String { home.home + "/.local/share/kcbackup" }

    init() throws {
        home = try TestHome()
        for command in [
            "keychain create --no-passcode", "item add --service one --no-secret", "create --unencrypted a.kcb",
            "item delete --service one", "undo", "undo",
        ] { #expect(home.run(command).status == .ok, "\(command)") }
    }

    /// Runs a command dry, then really, both of which must fail.
    private func expectForetold(_ command: String) {
        let (plan, outcome) = (home.run(command + " --dry-run"), home.run(command))
        #expect(outcome.status != .ok, "\(command): \(outcome.messages)")
        #expect(plan.status == outcome.status, "\(command): \(plan.messages)")
        #expect(plan.messages == outcome.messages, "\(command)")
    }

    @Test("A keychain that cannot be written")
    func keychain() throws {
        try FileMark.immutable.on(data + "/keychains/login.keychain") {
            expectForetold("undo")
            expectForetold("restore a.kcb")
        }
        #expect(home.run("undo --dry-run").status == .ok)
        #expect(home.run("restore a.kcb --dry-run").status == .ok)
    }

    @Test("A folder of states that cannot be written, unless no state is wanted")
    func statesOfKeychain() throws {
        try home.write("b.csv", "name,url,username,password\nb,https://b.example/,ada,tulip\n")
        let folder = try #require(Path.names(in: data + "/undo").first)
        try FileMark.immutable.on(data + "/undo/" + folder) {
            expectForetold("undo")
            expectForetold("restore a.kcb")
            #expect(home.run("restore a.kcb --dry-run --no-undo").status == .ok)
            let (plan, outcome) = (home.run("import b.csv --dry-run"), home.run("import b.csv"))
            #expect(plan.status == outcome.status && plan.status != .ok, "\(plan.messages)\(outcome.messages)")
        }
        // Without its lock file, the folder cannot be locked either.
        try Path.remove(data + "/undo/\(folder)/.lock")
        try FileMark.immutable.on(data + "/undo/" + folder) { expectForetold("undo --no-undo") }
    }

    @Test("A question before local items are removed, which nobody can be asked")
    func removal() throws {
        #expect(home.run("item add --service two --no-secret").status == .ok)
        let restore = "restore a.kcb --replace"
        let question =
            "Replace the 1 local item of keychain 'login' with the 1 of the archive, and remove 1 that is not in it?"
        let (plan, outcome) = (home.run(restore + " --dry-run"), home.run(restore))
        #expect(plan.status == .refused && outcome.status == .refused, "\(plan.messages)\(outcome.messages)")
        #expect(plan.messages.hasPrefix("kcbackup: error: there is no terminal to ask on: " + question))
        #expect(outcome.messages.hasSuffix(plan.messages), "\(outcome.messages)")
        #expect(plan.text.contains("would be removed, and not in the archive: generic password 'two'"), "\(plan.text)")
        let json = home.run(restore + " --dry-run --json")
        #expect(json.status == .refused && json.text.hasPrefix(#"{"archive":"#), "\(json.text)")
        #expect(json.text.split(separator: "\n").count == 1, "\(json.text)")
        #expect(json.messages.hasSuffix(plan.messages), "\(json.messages)")

        #expect(home.run(restore + " --dry-run --yes").status == .ok)
        let terminal = ScriptedTerminal(answers: [], showsMessages: true)
        let told = home.run(["restore", "a.kcb", "--replace", "--dry-run"], terminal: terminal)
        #expect(told.status == .ok && terminal.asked.isEmpty)
        #expect(told.messages.contains("without '--yes', you will be asked: " + question), "\(told.messages)")
    }

    @Test("A folder in which no keychain can be made")
    func newKeychain() throws {
        try FileMark.immutable.on(data + "/keychains") {
            let command = "restore a.kcb --keychain new"
            let (plan, outcome) = (home.run(command + " --dry-run"), home.run(command))
            #expect(plan.status == outcome.status && plan.status != .ok, "\(plan.messages)\(outcome.messages)")
        }
    }

    @Test("A folder of the states of a home that cannot be written")
    func statesOfHome() throws {
        try home.write("../home/.netrc", "archived")
        #expect(home.run("create --keychain home: --unencrypted h.kcb").status == .ok)
        try home.write("../home/.netrc", "own")
        let restore = "restore h.kcb --on-conflict overwrite"
        #expect(home.run(restore).status == .ok)
        try FileMark.immutable.on(data + "/undo/home-files") {
            expectForetold("undo --keychain home:")
            #expect(home.run("undo --keychain home: --no-undo --dry-run").status == .ok)
            try home.write("../home/.netrc", "own")
            expectForetold(restore)
        }
    }
}
