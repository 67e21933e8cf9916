import ArgumentParser
import Foundation
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("The manual pages", .waitsForPrograms)
struct ManualPageTests {
    private static let common: Set = [
        "--json", "-q", "--quiet", "-v", "--verbose", "--version", "-h", "--help", "--help-hidden",
    ]
    /// The options that `Ar condition` replaces in a synopsis.
    private static let conditions = Set(
        [
            .class, .service, .server, .account, .label, .group, .access, .accessible, .attribute, .uuid,
            .synchronizable,
        ].map { (name: OptionName) in name.spelling })

    /// The options of a verb, from its help, without those that all verbs have.
    private static func options(of verb: String) throws -> Set<String> {
        Set(try HelpTests.groups(of: verb).flatMap(\.options)).subtracting(common)
    }

    /// The page of a verb.
    private static func page(of verb: String) throws -> ManualPage {
        try ManualPage("kcbackup-\(verb.split(separator: " ")[0]).1")
    }

    @Test("The synopsis of each verb has all of its options and no others", arguments: HelpTests.verbs)
    func synopsis(verb: String) throws {
        var given: Set<String> = []
        var isOfVerb = false
        var isThere = false
        for line in try Self.page(of: verb).lines(of: "SYNOPSIS") {
            if line.hasPrefix(".Nm ") {
                isOfVerb = line == ".Nm kcbackup \(verb)"
                isThere = isThere || isOfVerb
            }
            guard isOfVerb else { continue }
            given.formUnion(ManualPage.flags(in: line))
            if line.contains("Ar condition ...") { given.formUnion(Self.conditions) }
        }
        #expect(isThere)
        #expect(given == (try Self.options(of: verb)))
    }

    @Test("Each page explains all options of its verbs, and names no others")
    func options() throws {
        for (_, verbs) in Dictionary(grouping: HelpTests.verbs, by: { $0.split(separator: " ")[0] }) {
            let page = try Self.page(of: verbs[0])
            let known = try verbs.reduce(into: Set<String>()) { $0.formUnion(try Self.options(of: $1)) }
            let explained = page.lines(of: "OPTIONS").filter { $0.hasPrefix(".It ") }.flatMap(ManualPage.flags)
            #expect(Set(explained) == known, "\(page.file)")
            #expect(explained.count == known.count, "\(page.file) explains an option twice")
            let named = page.text.components(separatedBy: "\n").flatMap(ManualPage.flags)
            #expect(Set(named).subtracting(known.union(Self.common)) == [], "\(page.file)")
        }
        let main = try ManualPage("kcbackup.1")
        let explained = main.lines(of: "OPTIONS").filter { $0.hasPrefix(".It ") }.flatMap(ManualPage.flags)
        #expect(Set(explained) == Self.common)
        let known = Set(OptionName.allCases.map(\.spelling)).union(Self.common)
        #expect(Set(main.text.components(separatedBy: "\n").flatMap(ManualPage.flags)).subtracting(known) == [])
    }

    @Test("Each page explains options under the titles of help")
    func titles() throws {
        for (_, verbs) in Dictionary(grouping: HelpTests.verbs, by: { $0.split(separator: " ")[0] }) {
            let page = try Self.page(of: verbs[0])
            var explained: [HelpTests.Group] = []
            for line in page.lines(of: "OPTIONS") {
                if line.hasPrefix(".Ss ") {
                    explained.append(HelpTests.Group(title: line.dropFirst(4).uppercased(), options: []))
                } else if line.hasPrefix(".It "), !ManualPage.flags(in: line).isEmpty {
                    try #require(!explained.isEmpty, "\(page.file): \(line)")
                    explained[explained.count - 1].options += ManualPage.flags(in: line)
                }
            }
            let expected = try Self.groups(of: verbs)
            #expect(explained.map(\.title) == expected.map(\.title), "\(page.file)")
            for (group, wanted) in zip(explained, expected) {
                #expect(Set(group.options) == Set(wanted.options), "\(page.file): \(group.title)")
            }
        }
    }

    /// The groups of a page: those of its verb, or by subject if it has several, which differ in their main options.
    private static func groups(of verbs: [String]) throws -> [HelpTests.Group] {
        let groups = try verbs.flatMap { try HelpTests.groups(of: $0) }.map { group in
            HelpTests.Group(title: group.title, options: group.options.filter { !common.contains($0) })
        }
        if verbs.count == 1 { return groups.filter { !$0.options.isEmpty } }
        let given = Set(groups.flatMap(\.options))
        let known = try Dictionary(uniqueKeysWithValues: verbs.map { ($0, Set(try options(of: $0))) })
        // Where all verbs that have an option agree, they may mean something of their own by it.
        func title(of option: OptionName) -> OptionTitle {
            let owners = verbs.filter { known[$0]?.contains(option.spelling) == true }
            let titles = owners.map { owner in
                let verb =
                    CommandPath(of: CommandLineTool.self, owner.split(separator: " ").map(String.init)).command
                    as? any Verb.Type
                return verb?.title(of: option) ?? option.title
            }
            return Set(titles).count == 1 ? titles[0] : option.title
        }
        return OptionTitle.allCases.compactMap { wanted in
            let options = OptionName.allCases.filter { given.contains($0.spelling) && title(of: $0) == wanted }
            let spellings = options.flatMap { option in
                (option.letter.map { ["-\($0)"] } ?? []) + [option.spelling]
            }
            return options.isEmpty ? nil : HelpTests.Group(title: wanted.rawValue, options: spellings)
        }
    }

    @Test("Every command line of the pages parses")
    func examples() throws {
        for page in try ManualPage.all() {
            for command in page.commands where command.hasPrefix("kcbackup ") {
                let words = Story.words(command.components(separatedBy: " | ")[0])
                #expect(throws: Never.self, "\(page.file): \(command)") {
                    _ = try CommandLineTool.parseAsRoot(Array(words.dropFirst()))
                }
            }
            #expect(!page.commands.isEmpty, "\(page.file)")
        }
    }

    @Test("One page lists every option that names the source of a secret, and no others")
    func sources() throws {
        let found = HelpTests.texts.values.flatMap { text in
            text.matches(of: /\n  (--[a-z-]+) <source>/).map { String($0.1) }
        }
        let listed = try Project.text("docs/keys.md").matches(of: /\n\| `(--[a-z-]+)` \|/).map { String($0.1) }
        #expect(Set(listed) == Set(found) && listed.count == Set(listed).count)
    }

    @Test("kcbackup(1) lists every exit code with its name")
    func exitCodes() throws {
        let text = try ManualPage("kcbackup.1").lines(of: "EXIT STATUS").joined(separator: "\n")
        let rows = text.matches(of: /\.It (\d+)\n\.Em ([a-z-]+) :/).map { "\($0.1) \($0.2)" }
        #expect(rows == ExitStatus.allCases.map { "\($0.code) \($0.name)" })
    }

    @Test("Each page has the usual sections, and refers only to pages that exist")
    func sections() throws {
        let pages = try ManualPage.all()
        let names = Set(pages.map { $0.file.replacing(".", with: " ") })
        let needed = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
        for page in pages {
            let wanted = page.file.hasSuffix(".5") ? needed.filter { $0 != "SYNOPSIS" && $0 != "OPTIONS" } : needed
            #expect(page.titles.filter(wanted.contains) == wanted, "\(page.file)")
            #expect(page.lines(of: "NAME").contains(".Nm \(page.file.dropLast(2))"))
            for link in page.text.matches(of: /(?m)^\.Xr ((?:kcbackup|security)\S*) (\d)/) {
                #expect(names.contains("\(link.1) \(link.2)"), "\(page.file)")
            }
        }
        let listed = try ManualPage("kcbackup.1").lines(of: "SEE ALSO")
        for name in names where name != "kcbackup 1" {
            #expect(listed.contains { $0.hasPrefix(".Xr \(name)") }, "\(name)")
        }
    }

    private static let tools = ["groff", "mandoc"].allSatisfy { ExternalProgram.locate($0) != nil }

    @Test(
        "Mandoc and groff find no faults in the pages",
        .enabled(if: tools, "groff and mandoc are needed: .ci/install-packages test"))
    func lint() throws {
        for page in try ManualPage.all() {
            let path = Project.path("docs/man/\(page.file)")
            // Whether the pages are installed here does not matter.
            let lint = try ExternalProgram.run("mandoc", ["-T", "lint", path]).text
                .split(separator: "\n").filter { !$0.contains("referenced manual not found") }
            #expect(lint == [])
            let groff = try ExternalProgram.run("groff", ["-mandoc", "-T", "utf8", "-ww", "-z", path])
            #expect(groff.text + groff.errorText == "")
            let width = try ExternalProgram.run("mandoc", ["-T", "ascii", "-O", "width=80", path]).text
                .replacing(/.\u{8}/, with: "").split(separator: "\n").map(String.init).filter { $0.count > 80 }
            #expect(width == [], "\(page.file)")
        }
    }
}
