import ArgumentParser
import Foundation
import KCByteStreams
import KCKernelKeyring
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Command lines in the documents", .waitsForPrograms)
struct ManualTests {
    @Test(
        "Every command line in a code block of the README and the pages for users parses",
        arguments: [
            ("README.md", ["create", "inspect", "item", "keychain", "restore", "verify"]),
            ("docs/moving.md", ["create", "device", "restore"]),
            (
                "docs/unattended.md", ["create", "doctor", "keygen", "prune", "run", "schedule", "status"]
            ),
            ("docs/home.md", ["create", "inspect", "item", "restore", "undo", "schedule"]),
            ("docs/keys.md", ["create", "keychain", "keygen", "verify"]), ("docs/scripts.md", ["exec"]),
            ("docs/protect.md", ["protect", "unprotect"]),
            ("docs/secret-service.md", ["create", "diff", "import", "inspect", "item", "restore", "undo"]),
        ])
    func commandLinesParse(name: String, expected: [String]) throws {
        var tried: Set<String> = []
        for words in try commandLines(of: name) {
            #expect(throws: Never.self, "\(words)") { _ = try CommandLineTool.parseAsRoot(words) }
            tried.insert(words[0])
        }
        #expect(tried.isSuperset(of: expected))
    }

    @Test(
        "No two command lines of a page make the same file or job, as the second would fail",
        arguments: [
            "README.md", "docs/home.md", "docs/keys.md", "docs/moving.md", "docs/protect.md", "docs/secret-service.md",
            "docs/unattended.md",
        ])
    func filesAreNew(page: String) throws {
        var made: Set<String> = []
        for words in try commandLines(of: page) where !["restore", "inspect", "verify", "diff"].contains(words[0]) {
            let outputs = zip(words, words.dropFirst()).filter { $0.0 == "-o" && $0.1 != "-" }.map(\.1)
            let named = words[0] == "create" ? words.filter { $0.hasSuffix(".kcb") } : []
            let jobs = words.starts(with: ["schedule", "add"]) ? ["job " + words[2]] : []
            for name in Set(outputs + named + jobs) { #expect(made.insert(name).inserted, "\(name): \(words)") }
        }
    }

    /// The words after `kcbackup` of each command line in a code block.
    private func commandLines(of page: String) throws -> [[String]] {
        var lines: [[String]] = []
        for block in try Project.text(page).components(separatedBy: "\n```").enumerated() where block.offset % 2 == 1 {
            for line in block.element.replacing("\\\n", with: " ").components(separatedBy: "\n") {
                // The line itself, or what a line of cron or systemd runs; a command substitution is one word.
                guard let match = line.firstMatch(of: /^(?:.*\/)?(kcbackup [a-z].*)$/) else { continue }
                let command = String(match.1).replacing(/\$+\([^)]*\)/, with: "DATE").replacing(/\ +#.*|'$/, with: "")
                lines.append(Array(Story.words(command.components(separatedBy: " | ")[0]).dropFirst()))
            }
        }
        return lines
    }

    @Test("The README lists every exit code with its name")
    func exitCodes() throws {
        let section = try #require(
            Project.text("README.md").components(separatedBy: "\n## Exit codes\n").dropFirst().first)
        let table = section.components(separatedBy: "\n## ")[0]
        var listed: [Int32: String] = [:]
        for row in table.matches(of: /(?m)^\| ([0-9, ]+) \| ([a-z-]+) \|/) {
            for number in row.1.matches(of: /\d+/) { listed[try #require(Int32(number.0))] = String(row.2) }
        }
        #expect(listed == Dictionary(uniqueKeysWithValues: ExitStatus.allCases.map { ($0.code, $0.name) }))
    }

    // MARK: - docs/json.md

    @Test("Every verb prints the members that docs/json.md lists, and every listed member is printed by some verb")
    func membersAreAsListed() throws {
        let manual = try JSONManual(Project.text("docs/json.md"))
        let home = try JSONHome()
        let rclone = try FakeRclone(home.home)
        var seen = JSONManual.Seen()
        for step in try home.steps() {
            home.home.retention.fail("*", step.isRefused ? .refused(1) : nil)
            if let damaged = step.damaged {
                let name = "home/.local/share/kcbackup/keychains/\(damaged).keychain"
                try home.home.folder.write(name, Array("damaged".utf8), mode: 0o600)
            }
            if let damaged = step.damagedJob {
                try home.home.folder.write(
                    "home/.local/share/kcbackup/jobs/\(damaged).job", Array("x".utf8), mode: 0o600)
            }
            if let gone = step.gone {
                let folder = home.home.path(gone)
                let names = try Path.names(in: folder).sorted()
                for name in names.dropFirst(step.keepsOldest ? 1 : 0) { try Path.remove("\(folder)/\(name)") }
            }
            let outcome = home.home.run(
                home.words(of: step) + ["--json"],
                environment: step.lacksRclone ? ["PATH": "/none"] : rclone.environment)
            #expect(outcome.status.code == step.status, "\(step.line): \(outcome.messages)")
            #expect(outcome.output.filter { $0 == UInt8(ascii: "\n") }.count == 1, "\(step.line)")
            let object = try JSONSerialization.jsonObject(with: Data(outcome.output)) as? [String: Any]
            let members = try #require(object, "\(step.line)")
            let listed = step.row == "error" ? ["error"] : manual.commands[step.row]
            #expect(Set(members.keys) == listed, "\(step.line)")
            seen.commands.insert(step.row)
            for fault in manual.faults(in: members, &seen) { Issue.record("\(step.line): \(fault)") }
        }
        #expect(seen.commands == Set(manual.commands.keys).union(["error"]))
        for (part, members) in manual.parts {
            #expect(seen.members[part] == Set(members.map(\.name)), "\(part)")
        }
        // The output of a command that 'exec' runs is that command's own.
        let verbs = Set(verbPaths().map { $0.joined(separator: " ") }).subtracting(["exec"])
        #expect(verbs.isSubset(of: manual.commands.keys), "\(verbs.subtracting(manual.commands.keys))")
    }
}
