import Foundation
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCReportPages

@Suite("HTML")
struct HTMLTests {
    /// Resolves character references as a browser does.
    private static func unescaped(_ text: String) -> String {
        text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    }

    @Test("No name becomes markup, and a browser shows the same text as a terminal", arguments: HostileNames.inMarkup)
    func namesAreEscaped(name: String) {
        let html: HTML = "\(name, limit: 200)"
        #expect(!html.text.contains { "<>\"'".contains($0) })
        #expect(Self.unescaped(html.text) == displayed(name, limit: 200))
        // No ampersands but those of the character references.
        #expect(html.text.replacing(/&(lt|gt|quot|amp|#39);/, with: "").utf8.contains(UInt8(ascii: "&")) == false)
    }

    @Test("A link contains one condition, and its value decodes unchanged", arguments: HostileNames.inMarkup)
    func fragmentsComeBack(name: String) throws {
        let link = fragment("group", name)
        #expect(link.utf8.allSatisfy { $0 < 0x80 } && link.wholeMatch(of: /#group=[A-Za-z0-9._%-]*/) != nil)
        #expect(link.dropFirst(7).removingPercentEncoding == name)
    }

    @Test("Numbers have thousands separators, and a bar for few items is visible")
    func numbers() {
        let expected = [
            0: "0", 999: "999", 1_000: "1,000", 15_000: "15,000", 123_456: "123,456", 1_234_567: "1,234,567",
        ]
        for (number, text) in expected { #expect(grouped(number) == text) }
        #expect(percent(1, of: 15_000) == "0.5%")
        #expect(percent(0, of: 3) == "0.0%" && percent(3, of: 3) == "100.0%" && percent(0, of: 0) == "0%")
    }
}
