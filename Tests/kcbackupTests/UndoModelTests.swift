import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// Runs random commands, and takes each back.
@Suite("Undo means the last change")
struct UndoModelTests {
    private let home: TestHome
    private static let names = ["ash", "birch", "cedar", "elm", "fir"]

    init() throws {
        home = try TestHome(inMemory: true)
        try home.write("new", "orbit\n")
        #expect(home.run("keychain create --no-passcode").status == .ok)
        for (file, names) in [("a", Self.names.prefix(3)), ("b", Self.names.suffix(3))] {
            let lines = names.map { #"{"class":"genp","attributes":{"svce":"\#($0)"},"secret":"\#(file)"}"# }
            try home.write("\(file).jsonl", lines.joined(separator: "\n") + "\n")
            #expect(home.run("import \(file).jsonl").status == .ok)
            #expect(home.run("create --unencrypted \(file).kcb").status == .ok)
            #expect(home.run("item delete --class genp --yes").status == .ok)
            try home.write(
                "\(file).csv", "name,url,username,password\n\(file),https://\(file).example/,ada,\(file)\n")
        }
    }

    /// Every item with its attributes and its secret.
    private func contents() -> String {
        let outcomes = ["genp", "inet"].map { home.run("item find --class \($0) --reveal --json") }
        return outcomes.map { $0.status == .notFound ? "none" : $0.text }.joined()
    }

    private static func command(_ random: inout SeededRandom) -> String {
        let name = names.randomElement(using: &random) ?? ""
        let file = Bool.random(using: &random) ? "a" : "b"
        return [
            "restore \(file).kcb", "restore \(file).kcb --on-conflict overwrite", "restore \(file).kcb --replace --yes",
            "restore \(file).kcb --service \(name)", "import \(file).csv", "import \(file).csv --on-conflict overwrite",
            "import \(file).jsonl", "item add --service \(name) --no-secret",
            "item update --service \(name) --secret file:new", "item update --class genp --set icmt=\(name) --yes",
            "item delete --service \(name)", "item delete --class genp --yes", "undo --yes",
        ].randomElement(using: &random) ?? ""
    }

    @Test(
        "Undo after any command gives the state before it, and undo again the state after it",
        .proofRow("commands, and the undo of each and of the undo", trials: 12),
        arguments: 1...(ModelRun.isWhole ? 100 : 3))
    func anyCommand(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var history: [String] = []
        for _ in 0..<12 {
            let command = Self.command(&random)
            history.append(command)
            let before = contents()
            let known = home.run("undo --list --json").text
            let outcome = home.run(command + " -v")
            let after = contents()
            if after == before {
                // Nothing was changed, so there is nothing of it to take back, and no success of an undo.
                #expect(!command.contains("undo") || outcome.status == .notFound, "\(history)")
                #expect(home.run("undo --list --json").text == known, "\(history)")
                #expect(!outcome.messages.contains("takes that back"), "\(history): \(outcome.messages)")
                continue
            }
            #expect(outcome.status == .ok, "\(history): \(outcome.messages)")
            let states = home.run("undo --list --json").text
            let name = ["delete", "update", "add"].first { command.hasPrefix("item \($0)") }
            let verb = name.map { "item \($0)" } ?? command.prefix { $0 != " " }.description
            let expected = command.contains("undo") ? "undo" : verb
            // The newest state is that before this command.
            #expect(
                states.firstRange(of: "\"command\":\"\(expected)\"")?.lowerBound
                    == states.firstRange(of: "\"command\":")?.lowerBound, "\(history): \(states)")
            let undone = home.run("undo --yes -v")
            #expect(undone.status == .ok && contents() == before, "\(history): \(undone.messages)")
            #expect(undone.messages.contains("took back '\(expected)' of 2026-"), "\(history): \(undone.messages)")
            #expect(home.run("undo --yes").status == .ok && contents() == after, "\(history)")
        }
    }

    @Test("A restore that only added is taken back by itself, not together with an older deletion")
    func addingOnly() {
        #expect(home.run("restore a.kcb").status == .ok)
        #expect(home.run("item delete --class genp --yes").status == .ok)
        let before = contents()
        #expect(home.run("restore b.kcb").status == .ok)
        let outcome = home.run("undo --dry-run")
        #expect(outcome.text.contains("\nwould take back 'restore' of 2026-"), "\(outcome.text)")
        #expect(outcome.text.hasSuffix(" in keychain 'login': 3 removed\n"), "\(outcome.text)")
        #expect(home.run("undo").status == .ok)
        #expect(contents() == before)
    }

    @Test("A state that equals the present one is neither the newest choice nor a success if it is named")
    func equalState() throws {
        #expect(home.run("restore a.kcb").status == .ok)
        let full = contents()
        #expect(home.run("item delete --service elm").status == .notFound)
        #expect(home.run("item delete --class genp --yes").status == .ok)
        // A named state does not become the present one twice.
        let name = try #require(
            home.run("undo --list --json").text.firstMatch(of: /"name":"([0-9TZ.]+)"/)?.output.1.description)
        #expect(home.run("undo \(name)").status == .ok)
        #expect(contents() == full)
        #expect(home.run("undo \(name)").status == .notFound)
        #expect(contents() == full)
    }

    @Test("An older state is asked about with what followed, and a dry run marks what was added since")
    func olderState() throws {
        for name in ["one", "two"] { #expect(home.run("item add --service \(name) --no-secret").status == .ok) }
        #expect(home.run("item add --service three --no-secret --no-undo").status == .ok)
        let names = home.run("undo --list --json").text.matches(
            of: /"name":"([0-9TZ.]+)","path":"[^"]+","made":"[^"]+","command":"item add"/)
        let oldest = try #require(names.last).output.1
        let outcome = home.run("undo \(oldest)")
        #expect(outcome.status.code == 4)
        #expect(
            outcome.messages.contains(" UTC and what followed, and also remove 2 items that were added since?"),
            "\(outcome.messages)")
        let plan = home.run("undo --dry-run").text
        #expect(plan.contains("\n  generic password 'three' (added here since)\n"), "\(plan)")
        #expect(plan.contains("\n  generic password 'two'\n"), "\(plan)")
    }

    @Test("A dry run ends as the run does where that asks, and tells the question where it can be answered")
    func foretoldQuestion() {
        for words in ["one", "two --no-undo"] {
            #expect(home.run("item add --no-secret --service \(words)").status == .ok)
        }
        let (plan, outcome) = (home.run("undo --dry-run"), home.run("undo"))
        #expect(plan.status == .refused && plan.text.contains("\nwould take back 'item add' of "), "\(plan.text)")
        #expect(outcome.status == .refused && outcome.messages.hasSuffix(plan.messages), "\(plan.messages)")
        #expect(plan.messages.contains("and also remove 1 item that was added since?"), "\(plan.messages)")
        let asked = home.run(["undo", "--dry-run", "-v"], terminal: ScriptedTerminal(answers: []))
        #expect(asked.status == .ok, "\(asked.messages)")
        #expect(asked.messages.contains("without '--yes', you will be asked: Take back 'item add' of "))
        #expect(home.run("undo --dry-run --yes").status == .ok)
    }

    @Test("The question of a replacing restore counts what it removes and the archive does not have")
    func replacingQuestion() {
        for command in [
            "restore a.kcb", "item update --service ash --set icmt=x", "item add --service oak --no-secret",
        ] {
            #expect(home.run(command).status == .ok)
        }
        let outcome = home.run("restore a.kcb --replace --replace-unarchived")
        #expect(outcome.status == .refused)
        #expect(
            outcome.messages.contains(
                "Replace the 2 local items of keychain 'login' with the 1 of the archive, and remove 1 that is not in it?"
            ), "\(outcome.messages)")
    }

    @Test("Every command that changes items ends with a line that names the undo")
    func lastLine() {
        for command in [
            "restore a.kcb", "import a.csv", "item add --service one --no-secret",
            "item update --service one --set icmt=x",
            "item delete --service one", "undo",
        ] {
            let outcome = home.run((command + " -v").split(separator: " ").map(String.init))
            #expect(outcome.status == .ok)
            let last = outcome.messages.split(separator: "\n").last { !$0.contains("still holds") }
            #expect(last == "'kcbackup undo' takes that back", "\(command): \(outcome.messages)")
        }
        let new = home.run("restore a.kcb --keychain fresh -v")
        #expect(new.messages.hasSuffix("'kcbackup keychain delete fresh' takes that back\n"), "\(new.messages)")
    }
}
