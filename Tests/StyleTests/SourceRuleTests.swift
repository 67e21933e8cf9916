import Testing

@Suite("Project rules for source files")
struct SourceRuleTests {
    /// Files that break one rule each.
    static let planted: [(SourceRule, SourceFile)] = [
        (
            .tasksHaveNoWords,
            SourceFile(path: "Sources/Tasks/KCBackupTasks/A.swift", text: "let option: OptionName\n")
        ),
        (
            .proseIsNotRead,
            SourceFile(
                path: "Sources/Programs/kcbackup/A.swift", text: "if failure.explanation.message == other { }\n")
        ),
        (
            .libraryHasOneImporter,
            SourceFile(path: "Sources/Formats/KCAgeEncryption/A.swift", text: "internal import CKCLibCrypto\n")
        ),
        (
            .libraryHasOneImporter,
            SourceFile(path: "Sources/Backup/KCBackupEngine/A.swift", text: "public import struct ArgumentParser.Flag")
        ),
        (
            .importsAreDeclared,
            SourceFile(path: "Sources/Base/KCByteStreams/A.swift", text: "@testable import KCCryptography\n")
        ),
        (
            .importsAreSorted,
            SourceFile(path: "Sources/Programs/kcbackup/A.swift", text: "internal import KCB\npackage import KCA\n")
        ),
        (.noFoundationInPrograms, SourceFile(path: "Sources/Programs/kcbackup/A.swift", text: "import Foundation\n")),
        (
            .noFoundationInPrograms,
            SourceFile(path: "Sources/Base/KCCryptography/A.swift", text: "import FoundationEssentials")
        ),
        (.unsafeStaysInFences, SourceFile(path: "Sources/Programs/kcbackup/A.swift", text: "let a = unsafe b()\n")),
        (
            .unsafeStaysInFences,
            SourceFile(path: "Sources/Backup/KCBackupEngine/A.swift", text: "nonisolated(unsafe) var a = 1")
        ),
        (
            .unsafeStaysInFences,
            SourceFile(path: "Sources/Backup/KCBackupEngine/A.swift", text: #"let a = "\(unsafe b(")"))""#)
        ),
        (.onlyProgramPrints, SourceFile(path: "Sources/Backup/KCBackupEngine/A.swift", text: "    print(item)\n")),
        (.inputNeverTraps, SourceFile(path: "Sources/Programs/kcbackup/A.swift", text: "default: fatalError()\n")),
        (
            .fileHoldsOneIdea,
            SourceFile(path: "Sources/Programs/kcbackup/A.swift", text: .init(repeating: "\n", count: 351))
        ),
        (.textIsBytes, SourceFile(path: "Sources/Programs/kcbackup/A.swift", text: "if path.hasPrefix(\"/\") {}")),
        (.textIsBytes, SourceFile(path: "Sources/Programs/kcbackup/A.swift", text: "a.exact.b(c).hasSuffix(\"/\")")),
        (.textIsBytes, SourceFile(path: "Sources/Programs/kcbackup/A.swift", text: "let a = String(name.dropLast(b))")),
        (
            .textIsBytes,
            SourceFile(path: "Sources/Programs/kcbackup/A.swift", text: "let a = b.split(separator: \"/\")")
        ),
        (.textIsBytes, SourceFile(path: "Sources/Base/KCByteStreams/A.swift", text: "a.replacing(\"'\", with: b)")),
        (.textIsBytes, SourceFile(path: "Sources/Base/KCByteStreams/A.swift", text: "if name.contains(\"/\") {}")),
        (.textIsBytes, SourceFile(path: "Sources/Formats/KCTarArchive/A.swift", text: "a.trimmingCharacters(in: b)")),
        (
            .textIsBytes,
            SourceFile(path: "Sources/Device/KCDeviceIdentity/A.swift", text: "a.components(separatedBy: b)")
        ),
        (.textIsBytes, SourceFile(path: "Sources/Keychain/KCKeychainModel/A.swift", text: "var a: Set<String> = []")),
        (.textIsBytes, SourceFile(path: "Sources/Backup/KCBackupEngine/A.swift", text: "var a: [String: Int] = [:]")),
        (.textIsBytes, SourceFile(path: "Sources/Backup/KCBackupEngine/A.swift", text: "a.filter { $0.name == name }")),
        (.textIsBytes, SourceFile(path: "Sources/Importers/KCItemSources/A.swift", text: "a.contains(\"x\")")),
        (
            .textIsBytes,
            SourceFile(path: "Sources/Backup/KCBackupEngine/A.swift", text: "a.drop { \".-\".contains($0) }")
        ),
        (
            .textIsBytes,
            SourceFile(path: "Sources/Apple/KeychainSecurity/A.swift", text: "var a: [String: AnyHash] = [:]")
        ),
        (
            .scriptsAreConstant,
            SourceFile(path: "Sources/Programs/kcbackup/A.swift", text: "ShellScript(ofUser: \"gpg '\\(path)'\")")
        ),
        (.scriptsAreConstant, SourceFile(path: "Sources/Programs/kcbackup/A.swift", text: "popen(command, mode)")),
        (
            .pastedWordsAreQuoted,
            SourceFile(
                path: "Sources/Programs/kcbackup/A.swift",
                text: #"hint: "run 'chmod go-w \(displayed(path, limit: 9))'""#)
        ),
        (
            .commandsAreQuoted,
            SourceFile(path: "Sources/Programs/kcbackup/A.swift", text: #"note("try it: kcbackup run \(job) -v")"#)
        ),
        (
            .commandsAreOfPrograms,
            SourceFile(path: "Sources/Backup/KCBackupEngine/A.swift", text: #""set one: 'kcbackup keychain set'""#)
        ),
        (.functionFitsScreen, SourceFile(path: "Sources/Programs/kcbackup/A.swift", text: function("a()\n", 60))),
        (
            .functionFitsScreen,
            SourceFile(
                path: "Sources/Programs/kcbackup/A.swift",
                text: function("switch a {\n" + cases(60) + "    default: b()\n    }\n", 1))
        ),
        (.archivesAreNamed, SourceFile(path: "Sources/Programs/kcbackup/A.swift", text: "try ArchiveFile(path: a)")),
        (.nothingLeftOver, SourceFile(path: "Sources/Programs/kcbackup/A.swift", text: "// TO" + "DO: check\n")),
        (
            .commentsNameTheirSubject,
            SourceFile(path: "Sources/Tasks/KCAsking/A.swift", text: "/// Opens a file. It\n/// may be locked.\n")
        ),
        (
            .commentsNameTheirSubject,
            SourceFile(path: "Sources/Tasks/KCAsking/B.swift", text: "/// - Returns: What it has.\n")
        ),
    ]

    /// Files that seem to break a rule but do not.
    static let innocent: [SourceFile] = [
        SourceFile(
            path: "Sources/Base/KCCryptography/A.swift", text: "internal import CKCLibCrypto\nlet a = unsafe b()\n"),
        SourceFile(path: "Sources/Apple/KeychainSecurity/A.swift", text: "import Foundation\nimport KCKeychainStore\n"),
        SourceFile(
            path: "Sources/Keychain/KCKeychainModel/A.swift",
            text: "// unsafe, /* print( */\nlet a = \"unsafe print(\"\n"
        ),
        SourceFile(
            path: "Sources/Keychain/KCKeychainModel/B.swift", text: "/* fatalError /* nested */ unsafe */ let b = 1\n"),
        SourceFile(
            path: "Sources/Keychain/KCKeychainModel/C.swift",
            text: "let c = #\"a\"unsafe\"#, d = \"\"\"\n a\"unsafe \n\"\"\"\n"),
        SourceFile(
            path: "Sources/Keychain/KCKeychainModel/D.swift", text: "terminal.print(a); footprint(b); unsafely(c)\n"),
        SourceFile(
            path: "Sources/Keychain/KCKeychainModel/F.swift",
            text: "a.exact.hasPrefix(b); a.utf8.contains(0); a.name.exact == b.exact; a.name == nil; [ExactText: Int]"),
        SourceFile(
            path: "Sources/Importers/KCItemSources/A.swift",
            text: "a.contains(\"x\".exact); cell.contains(\"x\", in: bytes); var b: [String: Any]"),
        SourceFile(path: "Sources/Keychain/KCKeychainModel/E.swift", text: .init(repeating: "\n", count: 350)),
        SourceFile(path: "Sources/Keychain/KCKeychainModel/G.swift", text: function("a()\n", 58)),
        SourceFile(
            path: "Sources/Keychain/KCKeychainModel/H.swift",
            text: function("switch a {\n" + cases(90) + "    }\n", 1)),
        SourceFile(
            path: "Sources/Keychain/KCKeychainModel/J.swift",
            text: "/// A file that\n/// One may open, which is what It means. Its name\nlet a = \"b. It is\"\n"),
        SourceFile(
            path: "Sources/Keychain/KCKeychainModel/I.swift",
            text: "    func a() -> Int { 1 }\n    func b()\n" + function("a()\n", 58)),
    ]

    /// A function with a body that is repeated.
    private static func function(_ body: String, _ count: Int) -> String {
        "package func a(\n    _ b: Int\n) {\n"
            + String(repeating: "    " + body, count: count - 2 + (count == 1 ? 2 : 0)) + "}\n"
    }

    private static func cases(_ count: Int) -> String { String(repeating: "    case .a: b()\n", count: count) }

    @Test("The sources follow every rule", arguments: SourceRule.allCases)
    func sourcesKeep(rule: SourceRule) {
        #expect(Repository.sources.count > 20, "the sources were not found")
        #expect(Repository.sources.flatMap { rule.violations(in: $0) } == [], "\(rule.rawValue)")
    }

    @Test("Comments of the tests name their subjects, too")
    func commentsOfTests() { #expect(Repository.tests.flatMap(CommentSubjects.violations) == []) }

    @Test("Every rule finds its violations", arguments: planted.indices)
    func rulesFindViolations(index: Int) {
        let (rule, file) = Self.planted[index]
        #expect(rule.violations(in: file).count == 1, "\(rule.rawValue)")
    }

    @Test("Every rule has a planted violation")
    func everyRuleIsTried() {
        #expect(Set(Self.planted.map(\.0)) == Set(SourceRule.allCases))
    }

    @Test("No rule objects to comments, strings or similar names", arguments: innocent.indices)
    func rulesSpareTheInnocent(index: Int) {
        #expect(SourceRule.allCases.flatMap { $0.violations(in: Self.innocent[index]) } == [])
    }

    @Test("Every file that is listed as a fence uses unsafe code")
    func listedFencesAreFences() {
        let users = Repository.sources.filter { !$0.code.places(ofWord: "unsafe").isEmpty }.map(\.path)
        #expect(SourceRule.fenceFiles.subtracting(users) == [])
    }

    @Test("Every file that may handle text as characters does")
    func exemptFilesNeedIt() {
        let users = Repository.sources.filter { !TextRule.places(in: $0).isEmpty }.map(\.path)
        #expect(Set(TextRule.exempt.keys).subtracting(users) == [])
        let runners = Repository.sources.filter { $0.code.contains("ofUser:") }.map(\.path)
        #expect(TextRule.userCommands.subtracting(runners) == [])
    }

    @Test("Tests start strace by `Strace`, which has the right to see what a program of an ordinary user does")
    func straceIsStartedInOneWay() {
        let exempt = ["Tests/KCTestSupport/Strace.swift", "Tests/StyleTests/SourceRuleTests.swift"]
        let others = Repository.tests.filter { !exempt.contains($0.path) }
        #expect(others.filter { $0.text.contains(/"strace"|[^`\w]strace -/) }.map(\.path) == [])
    }

    @Test("Nothing in tests, scripts or documents is marked as unfinished")
    func nothingIsLeftOverElsewhere() {
        #expect((Repository.tests + Repository.others).flatMap(leftovers) == [])
    }
}
