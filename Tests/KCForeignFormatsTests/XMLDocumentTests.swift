import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("XML documents")
struct XMLDocumentTests {
    private func texts(_ xml: String) throws(XMLFailure) -> [String] {
        let document = try XMLDocument(Array(xml.utf8).span)
        var texts: [String] = []
        for element in document.elements { texts.append("\(element.name)=\(document.string(of: element))") }
        return texts
    }

    @Test("A document is the same in whatever pieces it is read", arguments: [1, 2, 3, 50])
    func pieces(size: Int) throws {
        let xml = Array("<a x='1'><b>one &amp; <![CDATA[<two>]]></b><b x='1'/><c y='é'>\u{1f511}</c></a>".utf8)
        let reader = try XMLReader()
        for start in stride(from: 0, to: xml.count, by: size) {
            try reader.read(Array(xml[start..<min(start + size, xml.count)]).span)
        }
        let pieces = try XMLDocument(reader)
        let whole = try XMLDocument(xml.span)
        #expect(pieces.elements.map(\.name) == whole.elements.map(\.name))
        #expect(pieces.elements.map(\.attributes) == whole.elements.map(\.attributes))
        let texts = [pieces, whole].map { document in document.elements.map { document.string(of: $0) } }
        #expect(texts[0] == texts[1])
        #expect(texts[0] == ["", "one & <two>", "", "\u{1f511}"])
    }

    @Test("Elements have their unescaped text and their children in order")
    func reads() throws {
        let document = try XMLDocument(
            Array("<a x='1'> <b>one &amp; <![CDATA[<two>]]></b><c/><b>&#xe9;</b></a>".utf8).span)
        let root = document.root
        var texts: [String] = []
        for child in document.children("b", of: root) { texts.append(document.string(of: child)) }
        #expect(root.attributes == ["x": "1"])
        #expect(texts == ["one & <two>", "é"])
        let nothing = document.child("c", of: root).map { document.string(of: $0) }
        let mixed = document.string(of: root)
        #expect(nothing == "")
        #expect(mixed == "")
        let missing = document.child("d", of: root)
        #expect(missing == nil)
    }

    @Test(
        "A document type declaration is always refused, because entities would be lost silently",
        arguments: [
            "<!DOCTYPE a><a/>", "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>",
            "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
            "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY x '&y;&y;'><!ENTITY y 'lol'>]><a>&x;</a>",
        ])
    func documentType(xml: String) {
        #expect(throws: XMLFailure.documentType) { try texts(xml) }
    }

    @Test(
        "Malformed XML is refused",
        arguments: ["", " ", "<a>", "<a></b>", "<a/><b/>", "<a>&unknown;</a>", "<a>\u{1}</a>", "<a x=1/>", "a"])
    func malformed(xml: String) {
        #expect(throws: XMLFailure.malformed(line: 1)) { try texts(xml) }
    }

    @Test("Bytes that are not UTF-8 are refused")
    func encoding() {
        #expect(throws: XMLFailure.self) { _ = try XMLDocument(Array("<a>".utf8 + [0xff] + "</a>".utf8).span) }
        #expect(throws: Never.self) { try texts("<?xml version='1.0' encoding='utf-8'?><a>é</a>") }
    }

    @Test("Nesting up to the depth limit is accepted, and deeper nesting and oversized tags are refused")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        #expect(try texts(nested(XMLDocument.depthLimit)).count == XMLDocument.depthLimit)
        #expect(throws: XMLFailure.limit("depth of elements", allowed: XMLDocument.depthLimit)) {
            try texts(nested(XMLDocument.depthLimit + 1))
        }
        #expect(throws: XMLFailure.limit("bytes of a tag", allowed: XMLDocument.tagLimit)) {
            try texts("<a x='\(String(repeating: "y", count: XMLDocument.tagLimit))'/>")
        }
    }

    @Test("A document truncated at any byte is refused, and no flipped bit causes a crash")
    func damage() {
        let bytes = Array("<a x='1'><b>one &amp; two</b><c/>\n</a>".utf8)
        for count in 0..<bytes.count {
            #expect(throws: XMLFailure.self) { _ = try XMLDocument(Array(bytes[..<count]).span) }
        }
        for index in bytes.indices {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[index] ^= 1 << bit
                do { _ = try XMLDocument(flipped.span) } catch {}
            }
        }
    }
}
