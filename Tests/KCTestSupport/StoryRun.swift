import Foundation
package import Testing

/// The stories of one program: the text files of a folder.
package struct StoryFolder: Sendable {
    private let program: String
    private let folder: URL
    /// The file names, sorted; empty if the folder cannot be read, which the tests for complete coverage by stories
    /// detect.
    package let names: [String]

    /// Finds the stories of `program` in the folder at `path`, which is relative to the folder of Package.swift.
    package init(of program: String, in path: String) {
        self.program = program
        folder = Project.folder.appending(path: path)
        names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
            .filter { $0.hasSuffix(".txt") }.sorted()
    }

    /// Reads the story with this name.
    package func story(_ name: String) throws -> Story {
        try Story(String(contentsOf: folder.appending(path: name), encoding: .utf8), of: program)
    }

    /// The runs of all stories.
    package func steps() throws -> [Story.Step] { try names.flatMap { try story($0).steps } }
}

extension Story {
    /// Writes the files of the story and performs its runs, each of which must match the story.
    ///
    /// - Parameters:
    ///   - name: the story's name, for reports about runs that do not match.
    ///   - code: the exit status as the system sees it.
    ///   - run: performs one run with the given terminal.
    package func run<Status>(
        as name: String, in home: TestHome, code: (Status) -> Int32,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ run: (Step, ScriptedTerminal) throws -> ProgramOutcome<Status>
    ) throws {
        for file in files { try home.write(file.name, file.text, mode: file.mode) }
        for step in steps {
            let outcome = try run(step, step.terminal())
            for fault in step.faults(of: outcome, code: code(outcome.status)) {
                let command = ([step.program] + step.words).joined(separator: " ")
                Issue.record("\(name):\(step.line): \(command)\n\(fault)", sourceLocation: sourceLocation)
            }
        }
    }
}

extension Story.Step {
    /// A terminal at which the step's lines are typed; unattended if the step has no lines and no terminal.
    func terminal() -> ScriptedTerminal {
        ScriptedTerminal(
            answers: typed.isEmpty && !hasTerminal ? nil : typed, showsOutput: hasTerminal, showsMessages: hasTerminal)
    }

    /// The ways in which a run differs from the step.
    func faults(of outcome: ProgramOutcome<some Any>, code: Int32) -> [String] {
        let terminal = outcome.terminal
        let asked = terminal.asked.joined(separator: "\n") + "\n"
        var faults: [String] = []
        if code != status { faults.append("it ended with \(code) instead of \(status)\n\(outcome.messages)") }
        if !LinePatterns(output).match(outcome.text) { faults.append("standard output was\n\(outcome.text)") }
        if !LinePatterns(messages).match(outcome.messages) {
            faults.append("standard error was\n\(outcome.messages)")
        }
        if !prompts.isEmpty, !LinePatterns(prompts).match(asked) { faults.append("asked: \(terminal.asked)") }
        if terminal.unasked > 0 { faults.append("it did not ask for the last answers") }
        return faults
    }
}
