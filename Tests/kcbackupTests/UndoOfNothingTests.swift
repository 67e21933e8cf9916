import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// Runs commands that leave everything as it is.
@Suite("What changes nothing keeps no state")
struct UndoOfNothingTests {
    private static let archives = ["sealed.kcb", "open.kcb -i key.txt"]
    private static let policies = [
        "", " --on-conflict keep", " --on-conflict overwrite", " --on-conflict fail", " --replace --yes",
        " --replace --replace-unarchived --yes", " --service oak", " --dry-run",
    ]
    /// Commands after which the items are those of before, with their secrets and dates.
    static let commands =
        archives.flatMap { archive in policies.map { "restore \(archive)\($0)" } } + [
            "import a.csv", "import a.csv --on-conflict keep", "import a.csv --on-conflict overwrite",
            "import a.csv --on-conflict fail", "import a.jsonl",
            "item add --service oak --no-secret", "item update --service none --set icmt=x",
            "item delete --service none", "undo", "undo --dry-run", "keychain lock", "keychain info",
        ]

    private let home: TestHome

    /// - Parameter passcode: the option that opens the keychain.
    private func prepare(_ passcode: String) throws {
        try home.write("pw", "orbit\n")
        let items = [("oak", "ak"), ("yew", "aku"), ("fir", "dk"), ("ash", "cku")].map { name, accessibility in
            #"{"class":"genp","attributes":{"svce":"\#(name)","pdmn":"\#(accessibility)"},"secret":"of \#(name)"}"#
        }
        try home.write("a.jsonl", items.joined(separator: "\n") + "\n")
        try home.write("a.csv", "name,url,username,password\na,https://a.example/,ada,tulip\n")
        for command in [
            "keychain create" + (passcode.isEmpty ? " --no-passcode" : passcode), "keygen -o key.txt",
            "import a.jsonl --no-undo" + passcode, "import a.csv --no-undo" + passcode,
            "create --unencrypted sealed.kcb",
        ] { #expect(home.run(command).status == .ok, "\(command)") }
        let recipient = try #require(
            String(decoding: home.folder.read("work/key.txt"), as: UTF8.self).firstMatch(of: /age1[0-9a-z]+/))
        #expect(home.run("create open.kcb -r \(recipient.output)" + passcode).status == .ok)
        // The rows of the keychain are then sealed anew, and their contents are those of both archives.
        #expect(home.run("item delete --class genp --yes --no-undo").status == .ok)
        #expect(home.run("item delete --class inet --yes --no-undo").status == .ok)
        #expect(home.run("restore open.kcb -i key.txt --no-undo" + passcode).status == .ok)
    }

    init() throws { home = try TestHome(inMemory: true) }

    private func contents(_ passcode: String) -> String {
        ["genp", "inet"].map { home.run("item find --class \($0) --reveal --json" + passcode).text }.joined()
    }

    private func states() -> String { home.run("undo --list --json").text }

    @Test(
        "A command that leaves all items as they are keeps no state, names no undo, and gives undo nothing to do",
        arguments: ["", " --passcode file:pw"])
    func nothing(passcode: String) throws {
        try prepare(passcode)
        let (before, known) = (contents(passcode), states())
        #expect(before.contains("of oak") && before.contains("tulip"))
        for command in Self.commands {
            let opens = ["restore", "import", "item add", "item update"].contains {
                command.hasPrefix($0)
            }
            let outcome = home.run(command + (opens ? passcode : "") + " -v")
            #expect(contents(passcode) == before, "\(command)")
            #expect(states() == known, "\(command)")
            #expect(!outcome.messages.contains("takes that back"), "\(command): \(outcome.messages)")
            #expect(home.run("undo --yes").status == .notFound, "\(command)")
        }
    }

    @Test("A restore that replaces leaves equal items alone, and undo takes back only the others")
    func replacing() throws {
        try prepare("")
        #expect(home.run("item update --service oak --set icmt=mine --no-undo").status == .ok)
        #expect(home.run("item add --service elm --no-secret --no-undo").status == .ok)
        let before = contents("")
        let outcome = home.run("restore sealed.kcb --replace --yes -v")
        #expect(outcome.messages.contains("2 removed, 1 created, 4 the same"), "\(outcome.messages)")
        #expect(contents("") != before)
        let undone = home.run("undo --yes -v")
        #expect(undone.messages.contains("1 set back, 1 brought back"), "\(undone.messages)")
        #expect(contents("") == before)
    }

    @Test("A replacing restore removes rows that are no items, and undo brings them back")
    func damagedRow() throws {
        try prepare("")
        let file = SQLiteFile(home.home + "/.local/share/kcbackup/keychains/login.keychain")
        try file.run("UPDATE genp SET cdat = NULL WHERE svce = CAST('oak' AS BLOB)")
        let outcome = home.run("restore sealed.kcb --replace --yes -v")
        #expect(outcome.status == .ok && outcome.messages.contains("1 removed, 1 created, 4 the same"))
        #expect(home.run("item list").status == .ok)
        #expect(home.run("undo --yes").status == .ok)
        #expect(home.run("item list").status == .incomplete)
    }

    @Test("The warning before a new passcode counts all states that it removes")
    func countedStates() throws {
        try prepare("")
        #expect(home.run("item update --service oak --set icmt=mine").status == .ok)
        #expect(home.run("item add --service elm --secret file:pw").status == .ok)
        let messages = home.run("keychain set-passcode --new-passcode file:pw -v").messages
        let warned = try #require(messages.firstMatch(of: /warning: (\d+) earlier states, the newest/))
        let removed = try #require(messages.firstMatch(of: /(\d+) earlier states removed/))
        #expect(warned.1 == removed.1, "\(messages)")
    }

    @Test("A new passcode seals all items anew: undo goes to no state from before, and to those from after")
    func newPasscode() throws {
        try prepare("")
        #expect(home.run("item update --service oak --set icmt=mine").status == .ok)
        #expect(home.run("keychain set-passcode --new-passcode file:pw").status == .ok)
        #expect(home.run("undo --yes").status == .notFound)
        let passcode = " --passcode file:pw"
        let before = contents(passcode)
        #expect(home.run("restore sealed.kcb --on-conflict keep" + passcode).status == .ok)
        #expect(home.run("undo --yes").status == .notFound)
        #expect(home.run("restore sealed.kcb --replace --yes" + passcode).status == .ok)
        #expect(contents(passcode) != before)
        #expect(home.run("undo --yes").status == .ok)
        #expect(contents(passcode) == before)
    }
}
