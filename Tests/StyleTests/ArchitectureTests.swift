import Foundation
import KCTestSupport
import Testing

@Suite("docs/architecture.md")
struct ArchitectureTests {
    private let page: String

    init() throws {
        page = try #require(Repository.others.first { $0.path == "docs/architecture.md" }).text
    }

    /// The part of the output of `swift package describe` that is used here.
    private struct Description: Decodable {
        struct Target: Decodable {
            let name: String
            let path: String
        }
        let targets: [Target]
    }

    @Test("The table of floors and targets matches the package")
    func table() throws {
        let outcome = try ExternalProgram.run(
            "swift", ["package", "--ignore-lock", "describe", "--type", "json"], in: Repository.root.path)
        try #require(outcome.status == 0, "\(outcome.errorText)")
        let description = try JSONDecoder().decode(Description.self, from: Data(outcome.output))
        var floors: [String: String] = [:]
        for target in description.targets where target.path.hasPrefix("Sources/") {
            floors[target.name] = target.path.split(separator: "/").dropFirst().first.map { String($0) }
        }
        #expect(floors.count > 20)

        var drawn: [String: String] = [:]
        var floor = ""
        for row in page.matches(of: /(?m)^\| (?:`(\w+)`)? ?\| ((?:`\w+`(?:, )?)+) \|/) {
            if let name = row.1 { floor = String(name) }
            for name in row.2.matches(of: /\w+/) { drawn[String(name.0)] = floor }
        }
        #expect(drawn == floors)
    }

    @Test("Every source file that the page names exists")
    func files() {
        let sources = (Repository.sources + Repository.tests).map(\.path)
        let named = page.matches(of: /`([\w\/]+\.swift)`/).map { String($0.1) }
        #expect(named.count > 20)
        for name in named where name != "Package.swift" {
            #expect(sources.contains { "/\($0)".hasSuffix("/\(name)") }, "\(name)")
        }
    }
}
