import KCKeychainModel
import KCTestSupport
import Testing

@Suite("Attribute names")
struct AttributeWordsTests {
    @Test("Codes, words and Apple's names find the same attribute in any case")
    func names() {
        for attribute in AttributeCode.allCases {
            for text in [attribute.code, attribute.word, attribute.name, attribute.word.uppercased()] {
                #expect(AttributeCode(named: text) == attribute, "\(text)")
            }
        }
        #expect(AttributeCode(named: "group") == .agrp)
        #expect(AttributeCode(named: "AccessGroup") == .agrp)
        #expect(AttributeCode(named: "") == nil)
        #expect(AttributeCode(named: "labels") == nil)
    }

    @Test("No code, word or name belongs to two attributes")
    func unambiguous() {
        var owners: [String: AttributeCode] = [:]
        for attribute in AttributeCode.allCases {
            for text in [attribute.code, attribute.word, attribute.name.lowercased()] {
                #expect(owners[text] == nil || owners[text] == attribute, "\(text)")
                owners[text] = attribute
            }
        }
    }

    @Test(
        "A misspelled word finds the intended attribute, and an unrelated one finds nothing",
        arguments: [
            ("acount", AttributeCode.acct), ("serivce", .svce), ("lable", .labl), ("accnt", .acct), ("Servr", .srvr),
            ("nope", nil), ("", nil), ("password", nil), (String(repeating: "x", count: 1_000_000), nil),
        ])
    func nearest(text: String, meant: AttributeCode?) {
        #expect(AttributeCode.nearest(to: text) == meant)
    }

    @Test("Four ASCII characters are converted to a number, and anything else is refused")
    func fourCharacters() {
        #expect(AttributeCode.number(ofFourCharacters: "htps") == 0x6874_7073)
        #expect(AttributeCode.number(ofFourCharacters: "smb ") == 0x736d_6220)
        for text in ["", "ftp", "https", "hé.", "a\nbc", "😀"] {
            #expect(AttributeCode.number(ofFourCharacters: text) == nil, "\(text)")
        }
    }

    @Test("docs/attributes.md lists each attribute with its word, value and classes")
    func manual() throws {
        let rows = try Project.text("docs/attributes.md").split(separator: "\n").map(String.init)
            .filter { $0.hasPrefix("| `") }
        #expect(rows == AttributeCode.allCases.map(Self.row))
    }

    private static func row(_ attribute: AttributeCode) -> String {
        let value =
            switch attribute.kind {
            case .string: "text"
            case .textOrData, .dataOrText: "text, or bytes"
            case .data: "bytes"
            case .number: attribute.isFourCharacters ? "number, or four characters" : "number"
            case .date: "date"
            }
        let classes = ItemClass.allCases.filter(attribute.belongs).map { "`\($0.rawValue)`" }
        let all = classes.count == ItemClass.allCases.count ? "all" : classes.joined(separator: " ")
        return "| `\(attribute.code)` | `\(attribute.word)` | `kSecAttr\(attribute.name)` | \(value) | \(all) |"
    }
}
