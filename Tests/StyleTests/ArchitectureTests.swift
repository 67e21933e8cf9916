import Testing

@Suite("docs/architecture.md")
struct ArchitectureTests {
    private let page: String

    init() throws {
        page = try #require(Repository.others.first { $0.path == "docs/architecture.md" }).text
    }

    @Test("The table of floors and targets matches the package")
    func table() {
        // Another test compares the folders with Package.swift.
        let floors = Dictionary(
            uniqueKeysWithValues: Repository.names(in: "Sources").flatMap { floor in
                Repository.names(in: "Sources/\(floor)").map { ($0, floor) }
            })
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
