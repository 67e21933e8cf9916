import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("What an import says of a file")
struct ImportTextTests {
    @Test("Of many kinds that are left out, the first ones are named, and all with -v")
    func manyKinds() throws {
        let home = try TestHome()
        let others = (0..<3_000).map { #"{"apiVersion":"v1","kind":"Kind\#($0)"}"# }
        let secret = #"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"data":{"k":"dg=="}}"#
        let items = ([secret] + others).joined(separator: ",")
        try home.write("kinds.json", #"{"apiVersion":"v1","kind":"List","items":[\#(items)]}"#)
        #expect(home.run("keychain create --no-passcode").status == .ok)
        let few = home.run("import kinds.json -n")
        #expect(few.status == .ok)
        #expect(few.text.contains("Kind0 object") && few.text.contains("… and 2980 more (-v shows all)"))
        #expect(few.text.split(separator: "\n").count < 30)
        let all = home.run("import kinds.json -n -v")
        #expect(all.text.contains("Kind2999 object"))
    }

    @Test("An item of a keyring is named by its label, and one with the same label by its service too")
    func keyringLabels() throws {
        let home = try TestHome()
        func item(_ number: Int, label: String, _ attributes: [(String, String)]) -> String {
            let lines = attributes.enumerated().map { index, pair in
                "[\(number):attribute\(index)]\nname=\(pair.0)\ntype=string\nvalue=\(pair.1)\n\n"
            }
            let head = "[\(number)]\nitem-type=0\ndisplay-name=\(label)\nsecret=radio\n"
            return head + "mtime=1700000000\nctime=1700000000\n\n" + lines.joined()
        }
        try home.write(
            "login.keyring",
            "[keyring]\ndisplay-name=Login\nctime=0\nmtime=0\nlock-on-idle=false\nlock-after=false\n\n"
                + item(1, label: "My bank", [("service", "org.example.Bank"), ("username", "ada")])
                + item(2, label: "Mail", [("service", "smtp"), ("username", "ada")])
                + item(3, label: "Mail", [("service", "imap"), ("username", "ada")])
                + item(4, label: "", [("service", "chat"), ("username", "ada")]))
        #expect(home.run("keychain create --no-passcode").status == .ok)
        let outcome = home.run("import login.keyring -v")
        #expect(outcome.status == .ok, "\(outcome.messages)")
        for words in [
            "'My bank', account 'ada'", "'chat', account 'ada'", "'Mail', account 'ada', service 'smtp'",
            "'Mail', account 'ada', service 'imap'",
        ] {
            #expect(outcome.messages.contains("create: generic password \(words)"), "\(outcome.messages)")
        }
    }

    @Test("Where the default is the desktop keyring, it says that the items go to a keychain, unless one is named")
    func defaultIsElsewhere() throws {
        let home = try TestHome(inMemory: true)
        try home.write("items.jsonl", #"{"class":"genp","attributes":{"svce":"mine"},"secret":"tulip"}"# + "\n")
        for command in ["keychain create --no-passcode", "keychain default secret-service:"] {
            #expect(home.run(command).status == .ok)
        }
        let warning = "kcbackup: warning: the items go to keychain 'login', since an import goes into a keychain"
        let dryRun = home.run("import items.jsonl -n")
        #expect(dryRun.status == .ok && dryRun.messages.contains("the items would go to keychain 'login'"))
        let outcome = home.run("import items.jsonl -v")
        #expect(outcome.status == .ok)
        #expect(outcome.messages.contains(warning), "\(outcome.messages)")
        #expect(outcome.messages.contains("hint: '--into secret-service:' takes them there"))
        #expect(outcome.messages.contains("'kcbackup undo --keychain login' takes that back"), "\(outcome.messages)")
        #expect(!home.run("import items.jsonl --into login").messages.contains("the desktop keyring"))
        #expect(home.run("keychain default login").status == .ok)
        #expect(!home.run("import items.jsonl").messages.contains("the desktop keyring"))
    }
}
