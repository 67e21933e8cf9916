import KCByteStreams
import KCItemSources
import KCTestSupport
import Testing

@Suite("JSON of other programs")
struct ForeignJSONTests {
    private func read(_ text: String) throws(ForeignFailure) -> ForeignJSON {
        try ForeignJSON(SecretBytes(copying: text.utf8))
    }

    private func text(_ secret: consuming SecretBytes?) -> String? {
        guard let secret else { return nil }
        return secret.withBytes { span in String(validating: span.indices.map { span[$0] }, as: UTF8.self) }
    }

    @Test("Values are read exactly, and text is unescaped")
    func values() throws {
        let json = try read(
            "\u{feff} {\"a\": [1, -2, 1.5, 12345678901234567890], \"b\":{\"c\":\"\\ud83d\\ude00\\n\\u0000é\"},\"d\":null,\"e\":true} "
        )
        #expect(json.root["a"]?.values.map { json.integer($0) } == [1, -2, nil, nil])
        #expect(json.text(json.root["b"]?["c"]) == "😀\n\0é")
        #expect(text(json.secret(json.root["b"]?["c"])) == "😀\n\0é")
        #expect(json.root["d"]?.isNull == true)
        #expect(json.flag(json.root["e"]) == true)
        #expect(json.flag(json.root["a"]) == nil)
        #expect(json.root["f"] == nil)
        #expect(text(json.source(try #require(json.root["b"]))) == #"{"c":"\ud83d\ude00\n\u0000é"}"#)
        #expect(json.text(json.root["d"]) == nil)
    }

    @Test("A document knows which values were neither read nor skipped; those without content do not count")
    func unread() throws {
        let source =
            #"{"a":"x","b":{"c":1,"d":[true,"y"],"e":{"f":"z"}},"g":null,"h":"","i":[],"j":false,"k":{},"l":0}"#
        #expect(try read(source).unread == ["a", "c", "d", "d", "f", "l"])
        let json = try read(source)
        let b = json.root["b"]
        #expect(json.text(json.root["a"]) == "x")
        #expect(json.integer(b?["c"]) == 1)
        // A value of another kind is not read.
        #expect(json.text(json.root["l"]) == nil)
        #expect(text(json.secret(b?["d"]?.values.last)) == "y")
        #expect(json.unread == ["d", "f", "l"])
        _ = json.source(try #require(b?["e"]))
        json.skip("d", "nothing", of: b)
        json.skip(json.root["l"])
        #expect(json.unread == [])
    }

    @Test(
        "Invalid JSON is refused",
        arguments: [
            "", "{", "[1,]", "{\"a\":1,}", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "[01]", "[+1]", "[1.]",
            "[.5]",
            "[1e]", "nul", "{\"\\ud800\":1}", "[\"\\ud80\"]", "[\"\\x\"]", "[\"\u{1}\"]", "[\"a]", "{} {}",
            "{a:1}",
            "['a']", "[1 2]", "[NaN]", "[\"\\u12\"]", "\u{feff}\u{feff}{}", "\0",
        ])
    func refused(text: String) {
        #expect(throws: ForeignFailure.self) { try read(text) }
    }

    @Test("A string with half a character has no text, and others are read", arguments: ["\\ud800", "\\udc00\\ud800x"])
    func halves(text: String) throws {
        let json = try read("[\"a\",\"\(text)\",\"\\ud83d\\ude00\"]")
        #expect(json.root.values.map { json.text($0) } == ["a", nil, "😀"])
        let half = json.root.values[1]
        let failure = #expect(throws: ForeignFailure.self) { try json.optionalText(half) }
        #expect(failure == .damaged("a text has half a character in it, as '\\ud800' alone is"))
        #expect(json.unread.count == 1)
    }

    @Test("Text that is not UTF-8 is refused")
    func notUTF8() {
        for bytes: [UInt8] in [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82]] {
            let quoted = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
            #expect(throws: ForeignFailure.self) { try ForeignJSON(SecretBytes(copying: quoted)) }
        }
    }

    @Test("32 levels of nesting are read, and more are refused")
    func depth() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        _ = try read(nested(32))
        #expect(throws: ForeignFailure.limit("levels", found: 33, allowed: 32)) { try read(nested(33)) }
        #expect(throws: ForeignFailure.self) { try read(nested(100_000)) }
    }

    @Test("A randomly altered document is read or refused, and never crashes the program")
    func fuzzed() {
        var random = SeededRandom(seed: 7)
        let document = Array(#"{"items":[{"id":"a\u00e9","n":-1.5e3,"x":[true,false,null,{"y":"z"}]}],"é":"\\"}"#.utf8)
        for _ in 0..<5_000 {
            var bytes = document
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(document.randomElement(using: &random) ?? 0, at: index)
                }
                if bytes.isEmpty { bytes = document }
            }
            do {
                let json = try ForeignJSON(SecretBytes(copying: bytes))
                for member in json.root.members { _ = json.secret(member.value) }
            } catch {
                // Refused.
            }
        }
    }
}
