import Foundation
import KCTestSupport
import Testing

@testable import KCSecurityCommand

@Suite("Secrets of the security command stay secret")
struct SecurityCanaryTests {
    private static let password = "canary-keychain-8f1b"
    private static let content = "canary-content-90ad"

    @Test("No command, successful or not, prints a password that it was given, and no file contains one in the clear")
    func secretsAreNotTold() throws {
        // The kernel keeps no keys, so that every command has to ask.
        let home = try TestHome(retention: MemoryRetention.refusing())
        var told = ""
        func run(_ line: String, _ more: [String] = [], typed: [String]? = nil) -> Int32 {
            let words = line.split(separator: " ").map(String.init) + more
            let isTyped = typed != nil
            let terminal = ScriptedTerminal(answers: typed, showsOutput: isTyped, showsMessages: isTyped)
            let outcome = home.run(words, terminal: terminal)
            told += outcome.text + outcome.messages + outcome.terminal.asked.joined()
            return outcome.status
        }
        let (password, content) = (Self.password, Self.content)
        let hexadecimal = content.utf8.map { String($0, radix: 16) }.joined()
        #expect(run("create-keychain -p", [password, "login"]) == 0)
        #expect(run("create-keychain -p", [password, "login"]) == 48)
        #expect(run("create-keychain typed", typed: [password, password]) == 0)
        #expect(run("add-generic-password -a a -s s -w", [content]) == 36)
        #expect(run("add-generic-password -a a -s s -w", [content], typed: [password]) == 0)
        #expect(run("add-generic-password -a a -s s -w", [content], typed: [content]) == 51)
        #expect(run("add-generic-password -a a -s s -w", [content], typed: [password]) == 45)
        #expect(run("add-generic-password -a b -s s -X", [hexadecimal], typed: [password]) == 0)
        #expect(run("add-generic-password -a b -s s -X", [hexadecimal + "0"]) == 2)
        #expect(run("add-generic-password -a c -s s -w", typed: [password, content, content]) == 0)
        #expect(run("add-generic-password -a c -w", [content]) == 2)
        #expect(run("add-generic-password -a c -s s -c toolong -w", [content]) == 2)
        #expect(run("add-generic-password -a c -s s -z -w", [content]) == 2)
        #expect(run("add-internet-password -a c -s s -P x -w", [content]) == 2)
        #expect(run("find-generic-password -a a") == 0)
        #expect(run("find-generic-password -a a -g") == 36)
        #expect(run("find-generic-password -a a -w", typed: [content]) == 51)
        #expect(run("dump-keychain -r") == 0)
        #expect(run("unlock-keychain -p", [password]) == 0)
        #expect(run("unlock-keychain -p", [content]) == 51)
        #expect(run("unlock-keychain", typed: [content]) == 51)
        #expect(run("set-keychain-password", typed: [password, content, password]) == 128)
        #expect(run("set-keychain-password -p", [content]) == 36)
        #expect(run("set-keychain-password typed -o", [password, "-p", content]) == 2)
        #expect(run("set-keychain-password -o", [password, "-p", content, "typed"]) == 0)
        #expect(run("delete-generic-password -a b") == 0)
        for canary in [password, content, hexadecimal] { #expect(!told.contains(canary), "\(canary)") }

        for name in try home.folder.list() {
            guard let bytes = try? home.folder.read(name) else { continue }
            for canary in [password, content] {
                #expect(Data(bytes).range(of: Data(canary.utf8)) == nil, "\(name) holds \(canary)")
            }
        }
        // These print the password on request, which shows that the search would find it.
        for (flag, isMessage) in [("-w", false), ("-g", true)] {
            let outcome = home.run(
                ["find-generic-password", "-a", "a", flag], terminal: ScriptedTerminal(answers: [password]))
            #expect((isMessage ? outcome.messages : outcome.text).contains(content))
        }
    }

    @Test("Only a password on the command line causes a warning, and only one")
    func warnings() throws {
        let home = try TestHome()
        let warning = "other users can see a password on the command line"
        func count(_ words: [String], typed: [String]? = nil, input: String = "") -> Int {
            let outcome = home.run(words, terminal: ScriptedTerminal(answers: typed), input: input)
            #expect(outcome.status == 0, "\(words): \(outcome.messages)")
            return outcome.messages.components(separatedBy: warning).count - 1
        }
        #expect(count(["create-keychain", "-p", "", "login", "other"]) == 1)
        #expect(count(["add-generic-password", "-a", "a", "-s", "s", "-w", "x"]) == 1)
        #expect(count(["add-generic-password", "-a", "b", "-s", "s", "-X", "00"]) == 1)
        #expect(count(["add-generic-password", "-a", "c", "-s", "s", "-w"], typed: ["x", "x"]) == 0)
        #expect(count(["-i"], input: "add-generic-password -a d -s s -w x\n") == 0)
        #expect(count(["find-generic-password", "-a", "d", "-w"]) == 0)
    }
}
