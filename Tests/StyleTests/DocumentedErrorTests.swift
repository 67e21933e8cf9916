import Foundation
import Testing

/// The lists of errors in documentation comments, compared with what the compiler knows.
@Suite("`- Throws:` lists")
struct DocumentedErrorTests {
    /// A list, joined into one line, and the declaration that it is about.
    struct List: Sendable {
        let place: String
        let text: String
        let declaration: String
    }

    /// The cases and constants of each type and of those inside it, by the last part of the type's name.
    static let errors = members(in: Repository.sources)

    /// The lists in a file.
    static func lists(in file: SourceFile) -> [List] {
        let places = file.whole.places(of: "/// - Throws: ")
        let starts = places.isEmpty ? [] : file.whole.lineStarts
        return places.map { place in
            let start = SearchedText.line(of: place, starts)
            func line(_ index: Int) -> String {
                (file.whole.line(index, starts) ?? "").trimmingCharacters(in: .whitespaces)
            }
            var next = start + 1
            var text = [String(line(start).dropFirst(14))]
            while line(next).hasPrefix("///   ") {
                text.append(String(line(next).dropFirst(6)))
                next += 1
            }
            while line(next).hasPrefix("///") { next += 1 }
            let declaration = (next..<next + 8).map(line).joined(separator: " ")
            return List(
                place: "\(file.path):\(start + 1)", text: text.joined(separator: " "),
                declaration: String(declaration.prefix { $0 != "{" }))
        }
    }

    private static func members(in files: [SourceFile]) -> [String: Set<String>] {
        let header = /^ *(?:[a-z]+ |@safe )*(?:enum|struct|class|extension) ([\w.]+)/
        let member = /^ *(?:package |public )?(?:indirect )?(?:case|static let|static var|static func) ([a-z].*)/
        let words = /(?:^|, )(\w+)(?=[,(:= ]|$)/
        var found: [String: Set<String>] = [:]
        for file in files {
            let code = file.code
            let starts = code.lineStarts
            // Regular expressions are slow, and few lines need them.
            let marks = ["enum ", "struct ", "class ", "extension ", "case ", "static "].flatMap { code.places(of: $0) }
            let candidates = Set(marks.map { SearchedText.line(of: $0, starts) })
            var open: [(indent: Int, name: String)] = []
            for (index, start) in starts.enumerated() {
                guard let first = code.bytes[start...].firstIndex(where: { $0 != 0x20 }), code.bytes[first] != 0x0a
                else { continue }
                let indent = first - start
                while let last = open.last, indent <= last.indent { open.removeLast() }
                guard candidates.contains(index), let line = code.line(index, starts) else { continue }
                if let match = line.firstMatch(of: header) {
                    let name = String(match.1.split(separator: ".").last ?? match.1)
                    open.append((indent, name))
                    found[name, default: []].formUnion([])
                } else if let match = line.firstMatch(of: member) {
                    let names = match.1.matches(of: words).map { String($0.1) }
                    for type in open { found[type.name, default: []].formUnion(names) }
                }
            }
        }
        return found
    }

    // Made once, since that takes longer than their use.
    nonisolated(unsafe) private static let error =
        /`((?!NS)[A-Z]\w*(?:Failure|Error|Problem|Refusal))(?:\.(\w+))?`(?: \(([^)]*)\))?/
    nonisolated(unsafe) private static let separator = /[,;] (?:or |and )?/
    nonisolated(unsafe) private static let quotedName = /^`(\w+)`/
    nonisolated(unsafe) private static let namesOnly =
        /(?:`[A-Z][\w.]*`(?: \(`\w+`(?:, `\w+`)*\))?|`\w+`)(?:(?:,| and) `[\w.]+`)*\.?/
    nonisolated(unsafe) private static let thrownType = /throws\((\w+)\)(?: ->[^{]*)? *$/

    /// The statements of a list that are wrong, or that only repeat its declaration.
    static func faults(of list: List) -> [String] {
        var faults: [String] = []
        var namesError = false
        for match in list.text.matches(of: unsafe error) {
            let type = String(match.1)
            namesError = true
            guard let members = errors[type] else {
                faults.append("\(list.place): there is no \(type)")
                continue
            }
            // In parentheses, a name that is not at the start of a part explains the case that is.
            let inside = String(match.3 ?? "").split(separator: unsafe separator)
                .prefix { !$0.contains("also") }.compactMap { $0.firstMatch(of: unsafe quotedName)?.1 }
            for member in [match.2].compactMap(\.self) + inside where !members.contains(String(member)) {
                // A status of Security belongs to no type.
                if !member.hasPrefix("errSec") { faults.append("\(list.place): \(type) has no \(member)") }
            }
        }
        // Not the error of a closure among the parameters.
        if let thrown = list.declaration.firstMatch(of: unsafe thrownType), namesError,
            !list.text.contains("`\(thrown.1)"), !list.text.contains("as `"), !list.text.contains("errors of")
        {
            faults.append("\(list.place): the declaration throws \(thrown.1)")
        }
        // A declaration does not say which status of Security it throws.
        if list.declaration.contains(unsafe thrownType), list.text.wholeMatch(of: unsafe namesOnly) != nil,
            !list.text.contains("errSec")
        {
            faults.append("\(list.place): the declaration says that already, and no condition is added")
        }
        return faults
    }

    @Test("They name errors and cases that exist and the error that is thrown, and do not only repeat the declaration")
    func sources() {
        let lists = Repository.sources.flatMap(Self.lists)
        #expect(lists.count > 300)
        #expect(lists.flatMap(Self.faults) == [])
    }

    @Test(
        "A wrong list is found",
        arguments: [
            ("`CryptographyFailure` (`library`, `odd`) if lost.", "func a() throws(CryptographyFailure)"),
            ("`CryptographyFailure.odd` if lost.", "func a() throws(CryptographyFailure)"),
            ("`OddFailure`.", "func a() throws"),
            ("`FileFailure` if there is none.", "func a() throws(CryptographyFailure)"),
            ("`FileFailure` (`busy`, `system`).", "func a() throws(FileFailure)"),
            ("`FileFailure.busy`.", "func a() throws(FileFailure) -> Int"),
        ])
    func planted(text: String, declaration: String) {
        #expect(Self.faults(of: List(place: "A.swift:1", text: text, declaration: declaration)).count == 1)
    }
}
