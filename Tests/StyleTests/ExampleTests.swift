import Foundation
import KCTestSupport
import Testing

/// The examples in the documentation of the libraries: in comments and on the landing pages.
@Suite("Examples in the documentation", .waitsForPrograms)
struct ExampleTests {
    /// Lines of Swift and their location.
    private struct Example {
        let path: String
        let line: Int
        let lines: [String]
    }

    private static let compiler = ExternalProgram.locate("swiftc")

    /// The Swift code blocks in a text whose lines begin with `mark`.
    private func examples(in text: String, at path: String, after mark: String) -> [Example] {
        var examples: [Example] = []
        var open: (line: Int, lines: [String])?
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            let trimmed = line.trimmingCharacters(in: .whitespaces)
            let body = mark.isEmpty ? line : trimmed.hasPrefix(mark) ? String(trimmed.dropFirst(mark.count + 1)) : ""
            if body == "```swift" {
                open = (index + 2, [])
            } else if let found = open, body == "```" {
                examples.append(Example(path: path, line: found.line, lines: found.lines))
                open = nil
            } else {
                open?.lines.append(body)
            }
        }
        return examples
    }

    @Test(
        "Every example of a library compiles in a program that imports it",
        .enabled(if: compiler != nil, "the Swift compiler is needed"),
        arguments: [
            ("KeychainSecurity", 36, ["security-module", "porting-a-wrapper"]), ("SAMKeychain", 10, ["samkeychain"]),
            ("SSKeychain", 2, []), ("LocalAuthentication", 2, []),
        ])
    func examplesCompile(library: String, least: Int, guides: [String]) throws {
        let files = Repository.sources.filter { $0.path.hasPrefix("Sources/Apple/\(library)/") }
        let pages = ["libraries/\(library).docc/\(library)"] + guides
        let examples =
            try files.flatMap { self.examples(in: $0.text, at: $0.path, after: "///") }
            + pages.map { "docs/\($0).md" }.flatMap { page in
                // Without parts of a manifest.
                self.examples(in: try Project.text(page), at: page, after: "")
                    .filter { $0.lines.first?.hasPrefix(".") == false }
            }
        #expect(examples.count >= least)

        var program = "import Foundation\nimport \(library)\n"
        for (number, example) in examples.enumerated() {
            program += "func example\(number)() async throws {\n"
            program += "#sourceLocation(file: \"\(example.path)\", line: \(example.line))\n"
            program += example.lines
                .filter { !$0.trimmingCharacters(in: .whitespaces).hasPrefix("import ") }.joined(separator: "\n")
            program += "\n#sourceLocation()\n}\n"
        }
        let folder = try TemporaryFolder()
        try folder.write("main.swift", Array(program.utf8))
        let built = URL(filePath: try ExternalProgram.built("kcbackup")).deletingLastPathComponent().path
        let fences = Repository.names(in: "Sources/Fences").flatMap { ["-I", Project.path("Sources/Fences/\($0)")] }
        let outcome = try ExternalProgram.run(
            try #require(Self.compiler),
            ["-typecheck", "-swift-version", "6", "-I", built + "/Modules"] + fences + [folder.path("main.swift")])
        // An example may leave a result unused.
        let faults = outcome.errorText.split(separator: "\n").filter {
            $0.contains("error:") || $0.contains("warning:") && !$0.contains("was never used")
        }
        #expect(faults == [], "\(outcome.errorText)")
        #expect(outcome.status == 0, "\(outcome.errorText)")
    }
}
