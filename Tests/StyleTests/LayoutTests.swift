import Foundation
import KCTestSupport
import Testing

@Suite("Project rules for the package")
struct LayoutTests {
    @Test(
        "In Package.swift, exactly one target depends on each C library",
        arguments: SourceRule.owners.keys.filter { $0 != "ArgumentParser" })
    func cLibrariesHaveOneUser(library: String) {
        let users = Manifest.current.dependencies.filter { $0.value.contains(library) }.map(\.key)
        #expect(users == [SourceRule.owners[library]])
    }

    @Test("Each target imports every dependency that Package.swift lists for it")
    func dependenciesAreUsed() {
        for (target, listed) in Manifest.current.dependencies {
            let folder = Repository.sources.filter { $0.target == target }
            #expect(Manifest.unused(listed, in: folder) == [], "\(target)")
        }
        for (target, listed) in Manifest.current.testDependencies {
            let folder = Repository.tests.filter { $0.path.hasPrefix("Tests/\(target)/") }
            #expect(!folder.isEmpty, "\(target)")
            #expect(Manifest.unused(listed, in: folder) == [], "\(target)")
        }
    }

    @Test("A dependency that is not imported is found")
    func unusedDependenciesAreFound() {
        let file = SourceFile(path: "Sources/A/B/C.swift", text: "internal import X\nimport struct ArgumentParser.A")
        #expect(Manifest.unused(["X", "Y", "argumentParser"], in: [file]) == ["Y"])
        let manifest = Manifest(#"library("A", in: "F", ["B"]), tests("A", ["C", "D"], exclude: ["E"]), tests("G")"#)
        #expect(manifest.dependencies == ["A": ["B"]])
        #expect(manifest.testDependencies == ["ATests": ["C", "D"], "GTests": []])
    }

    @Test("Package.swift declares every source folder, and each target depends only on earlier ones")
    func targetsReadFromTheBottomUp() {
        let order = Manifest.current.order
        #expect(order.sorted() == Repository.targets.filter { SourceRule.owners[$0] == nil })
        for (place, target) in order.enumerated() {
            let later = Manifest.current.dependencies[target]?.intersection(order[place...])
            #expect(later == [], "\(target)")
        }
    }

    @Test("No other package has a target of the same name: each has a prefix, save what other programs import or run")
    func targetNamesAreUnique() {
        let known: Set = [
            "KeychainSecurity", "Security", "LocalAuthentication", "SAMKeychain", "SSKeychain", "kcbackup",
        ]
        for target in Repository.targets where !known.contains(target) {
            let prefix = SourceRule.owners[target] == nil ? "KC" : "CKC"
            #expect(target.hasPrefix(prefix), "\(target)")
        }
    }

    @Test("Each test folder mirrors a source folder, and each target has tests")
    func testsMirrorSources() {
        let others = [
            "KCArchiveForgery", "KCFuzzingTests", "CKCTestSupport", "KCTestSupport",
            "KCTestSupportTests", "StyleTests", "FaultTests", "KCConcurrentProgram", "KCHostileReader",
            "KCSandboxProgram", "KCSealingProgram", "KCTerminalProgram", "KCTrustProgram",
            "SecondReader", "SeededDefects", "KCTaskSupport",
        ]
        let subjects = Repository.names(in: "Tests").filter { !others.contains($0) }
        let targets = Repository.targets.filter { SourceRule.owners[$0] == nil }
        #expect(subjects == targets.map { $0 + "Tests" }.sorted())
    }

    @Test("The program tells every type of events of the tasks")
    func eventsAreTold() {
        func names(_ pattern: Regex<(Substring, Substring)>) -> [String] {
            Repository.sources.flatMap { file in file.text.matches(of: pattern).map { String($0.1) } }.sorted()
        }
        let events = names(/(?:enum|struct) (\w+): TaskEvent/)
        #expect(!events.isEmpty)
        #expect(events == names(/extension (\w+): ToldEvent/))
    }

    @Test("Every file that a document links to exists", arguments: documents)
    func linksLeadSomewhere(path: String) throws {
        let document = try #require(Repository.others.first { $0.path == path })
        #expect(deadLinks(in: document) == [])
    }

    @Test("The list of tests that CI runs as root has every file with such tests, and each test in it exists")
    func rootTests() throws {
        let lines = try Project.text(".ci/root-tests").split(separator: "\n").filter { !$0.hasPrefix("#") }
        let listed = lines.map { $0.split(separator: " ")[0].split { "./".contains($0) }.map(String.init) }
        func declares(_ file: SourceFile, _ words: [String]) -> Bool {
            file.path.hasPrefix("Tests/\(words[0])/") && file.text.contains("struct \(words[1]) {")
                && (words.count < 3 || file.text.contains("func \(words[2])("))
        }
        for words in listed {
            #expect(Repository.tests.contains { declares($0, words) }, "\(words)")
        }
        let condition =
            /if:[^"]*(geteuid\(\) == 0|MountNamespace\.isAvailable|\.isPrivileged|isRoot)|FileMark\.[a-z]/
        for file in Repository.tests where file.text.contains(condition) && !file.path.contains("/StyleTests/") {
            #expect(listed.contains { declares(file, $0) }, "\(file.path)")
        }
    }

    @Test("A link to a missing file is found")
    func deadLinksAreFound() {
        let text = "[a](Package.swift) [b](https://example.com/x) [c](#part) [d](missing.md#part) ![e](docs/none.png)"
        #expect(deadLinks(in: SourceFile(path: "README.md", text: text)) == ["missing.md", "docs/none.png"])
        #expect(deadLinks(in: SourceFile(path: "docs/a/b.md", text: "[f](../../LICENSE) [g](LICENSE)")) == ["LICENSE"])
    }

    /// All Markdown documents.
    static let documents = Repository.others.map(\.path).filter { $0.hasSuffix(".md") }

    /// The relative links in a document whose targets are not in the repository.
    private func deadLinks(in document: SourceFile) -> [String] {
        let folder = (document.path as NSString).deletingLastPathComponent
        let bytes = document.whole.bytes
        return document.whole.places(of: "](").map { place in
            String(decoding: bytes[(place + 2)...].prefix { !")# \n".utf8.contains($0) }, as: UTF8.self)
        }
        .filter { !$0.isEmpty && !$0.contains(":") && !Repository.exists(folder.isEmpty ? $0 : "\(folder)/\($0)") }
    }
}
