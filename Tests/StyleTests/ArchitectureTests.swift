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

    @Test("The table of programs counts the targets of each floor that a program uses")
    func programs() throws {
        let header = try #require(page.firstMatch(of: /(?m)^\| program \| (.*) \|$/)).1
        let floors = header.matches(of: /\w+/).map { String($0.0) }
        let package = try #require(Repository.others.first { $0.path == "Package.swift" }).text
        let products = package.matches(of: /\.(?:executable|library)\(name: "([\w-]+)", targets: \["(\w+)"/)
        let targets = Dictionary(uniqueKeysWithValues: products.map { (String($0.1), String($0.2)) })
        let rows = page.matches(of: /(?m)^\| (?:a program with )?`([\w-]+)` \|((?: \d* ?\|){11})$/)
        #expect(rows.count == 6 && floors.count == 11)
        for row in rows {
            let used = Manifest.current.closure(of: try #require(targets[String(row.1)]))
            let counts = floors.map { floor in
                let count = Repository.names(in: "Sources/\(floor)").count { used.contains($0) }
                return count == 0 ? "" : String(count)
            }
            let drawn = row.2.split(separator: "|", omittingEmptySubsequences: false).dropLast()
            #expect(drawn.map { $0.filter { $0 != " " } } == counts, "\(row.1)")
        }
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
