import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Secrets stay secret")
struct CanaryTests {
    private static let passcode = "canary-passcode-8f1b"
    private static let passphrase = "canary-passphrase-22c7"
    private static let content = "canary-content-90ad"
    private static let canaries = [passcode, passphrase, content]

    @Test("No verb, successful or not, prints a secret that it was given, and no file contains one in the clear")
    func secretsAreNotTold() throws {
        let home = try TestHome()
        let typed = ScriptedTerminal(
            answers: [Self.passcode, Self.passcode], showsOutput: true, showsMessages: true)
        #expect(home.run(["keychain", "create"], terminal: typed).status == .ok)
        var told = typed.asked.joined()
        let sources = [
            "--passcode", "cmd:echo canary-passcode-$N", "--passphrase", "cmd:echo canary-passphrase-$P",
        ]
        let environment = ["N": "8f1b", "P": "22c7", "C": "90ad"]
        func run(_ line: String, _ more: [String] = []) -> TestHome.Outcome {
            let outcome = home.run(line.split(separator: " ").map(String.init) + more, environment: environment)
            told += outcome.text + outcome.messages
            return outcome
        }
        let passcode = Array(sources[..<2])
        let content = ["--secret", "cmd:echo canary-content-$C"]
        #expect(run("item add --service a -v", passcode + content).status == .ok)
        #expect(run("item add --service a", passcode + content).status == .exists)
        #expect(run("item add --service b --accessible aku -v --json", passcode + content).status == .ok)
        #expect(run("item update --service a --set icmt=x -v --json", passcode + content).status == .ok)
        #expect(run("item find --service a -v").status == .ok)
        #expect(run("item list -v --json").status == .ok)
        #expect(run("keychain info -v").status == .ok)
        #expect(run("create a.kcb -v --json", sources).status == .ok)
        #expect(run("create here.kcb --unencrypted -v").status == .ok)
        #expect(run("inspect a.kcb -v --json", Array(sources[2...])).status == .ok)
        #expect(run("verify a.kcb -v --json", Array(sources[2...])).status == .ok)
        #expect(run("restore a.kcb -v --json --keychain other", sources).status == .ok)
        #expect(run("restore a.kcb", ["--passphrase", "cmd:echo canary-passcode-$N"] + passcode).status == .wrongKey)
        #expect(
            run("item find --service a --reveal", ["--passcode", "cmd:echo canary-content-$C"]).status == .wrongKey)
        // A secret typed instead of its source.
        for option in ["--passcode", "--passphrase"] {
            #expect(run("restore a.kcb", [option, Self.passcode]).status == .usage)
            #expect(run("restore a.kcb", ["\(option)=\(Self.passcode)", "--json"]).status == .usage)
        }
        #expect(run("item add --service c --secret", [Self.content] + passcode).status == .usage)
        for canary in Self.canaries { #expect(!told.contains(canary), "\(canary)") }

        for name in try home.folder.list() {
            guard let bytes = try? home.folder.read(name) else { continue }
            for canary in Self.canaries {
                #expect(Data(bytes).range(of: Data(canary.utf8)) == nil, "\(name) holds \(canary)")
            }
        }
        // The one exception, which shows that the search would find a secret.
        #expect(run("item find --service a --reveal", passcode).text == Self.content)
    }
}
