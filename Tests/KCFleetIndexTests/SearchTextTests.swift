import KCFleet
import Testing

@testable import KCFleetIndex

@Suite("The text of a search")
struct SearchTextTests {
    @Test("Each word is a phrase, in which quotation marks are doubled")
    func phrases() {
        #expect(
            SearchText("mail.example.org  a\"b")?.expression
                == "{service server account label} : (\"mail.example.org\" AND \"a\"\"b\")")
        #expect(SearchText("x - y")?.expression == "{service server account label} : (\"x\" AND \"y\")")
    }

    @Test("A text without letters and digits, or with too many words, is none")
    func none() {
        for text in ["", " ", "-", "\" * ^", "…"] { #expect(SearchText(text) == nil, "\(text)") }
        let many = (1...33).map { "w\($0)" }.joined(separator: " ")
        #expect(SearchText(many) == nil && SearchText(String(many.dropLast(4))) != nil)
        for text in ["é", "日本", "٣", "1"] { #expect(SearchText(text) != nil, "\(text)") }
    }

    @Test("The order of keys makes no difference, and each key does")
    func keys() {
        #expect(IndexKeys(recipients: ["a", "b"]) == IndexKeys(recipients: ["b", "a"]))
        #expect(IndexKeys(recipients: ["a"]) != IndexKeys(recipients: ["a", "b"]))
        #expect(IndexKeys(recipients: ["ab"]) != IndexKeys(recipients: ["a", "b"]))
    }
}
