import Foundation
import KCKeychainModel
import KCSecurityStatus
import KCTestSupport
import Testing

@testable import KeychainSecurity

@Suite("docs/security-module.md")
struct DocumentTests {
    private let page: String

    init() throws {
        page = try Project.text("docs/security-module.md")
    }

    /// The cells of the table rows in a section.
    private func rows(of heading: String) throws -> [[String]] {
        let start = try #require(page.range(of: "\n## \(heading)\n"))
        let section = page[start.upperBound...]
        let text = section.range(of: "\n## ").map { section[..<$0.lowerBound] } ?? section
        return text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test("The table of attributes matches the keychain's")
    func attributes() throws {
        var named: Set<AttributeCode> = []
        for row in try rows(of: "Attributes").dropFirst() {
            let code = try #require(AttributeCode(code: row[0].trimmingCharacters(in: ["`"])), "\(row[0])")
            named.insert(code)
            for (itemClass, cell) in zip(ItemClass.allCases, row.dropFirst(3)) {
                let expected =
                    itemClass.uniqueKey.contains(code) ? "key" : code.belongs(to: itemClass) ? "yes" : ""
                #expect(cell == expected, "\(code) of \(itemClass)")
            }
        }
        let withoutConstant: Set<AttributeCode> = [
            .prot, .asen, .edat, .modi, .next, .priv, .sdat, .snrc, .vyrc, .pcsi, .pcsk, .pcss, .sysb, .clip,
        ]
        #expect(named.union(withoutConstant) == Set(AttributeCode.allCases))
        #expect(named.isDisjoint(with: withoutConstant))
    }

    @Test("Every test named in the table of Apple's acceptance cases exists")
    func acceptanceCases() throws {
        let folder = Project.folder.appending(path: "Tests")
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        var functions: [String: String] = [:]
        for file in files where file.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            // Several targets may have a suite of the same name.
            for suite in text.matches(of: /(?:struct|class) (\w+Tests)\b/) {
                functions[String(suite.output.1), default: ""] += text
            }
        }
        let cases = try rows(of: "Apple's acceptance cases").dropFirst()
        #expect(cases.count > 60)
        for row in cases {
            for name in row[2].matches(of: /`(\w+Tests)(?:\/(\w+))?`/) {
                let text = try #require(functions[String(name.output.1)], "\(name.output.0)")
                guard let function = name.output.2 else { continue }
                #expect(text.contains("func \(function)("), "\(name.output.0)")
            }
        }
    }

    @Test("The statuses on the page have the correct codes")
    func statuses() throws {
        for row in try rows(of: "Statuses").dropFirst() {
            let name = row[0].trimmingCharacters(in: ["`"])
            let number = try #require(Int32(row[1].replacing("−", with: "-")))
            #expect(SecurityStatus(code: number)?.name == name)
        }
    }
}
