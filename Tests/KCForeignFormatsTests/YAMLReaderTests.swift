import KCByteStreams
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Reading YAML event by event")
struct YAMLReaderTests {
    private func events(_ bytes: some Sequence<UInt8>) throws(YAMLFailure) -> [String] {
        let reader = try YAMLReader(SecretBytes(copying: bytes))
        var events: [String] = []
        while let event = try reader.next() {
            switch event {
            case .scalar(let node, let isPlain):
                let text = String(decoding: reader.text.bytesForTest(), as: UTF8.self)
                events.append(
                    "\(reader.line) \(isPlain ? "plain" : "quoted") \(node.tag ?? "-") \(node.anchor ?? "-") \(text)")
            default: events.append("\(reader.line) \(event)")
            }
        }
        return events
    }

    @Test("Scalars come with their text, their line, their tag and whether they stand without quotation marks")
    func scalars() throws {
        let text = "a: yes\n'b': &x \"c\\u00e9\"\nd: !!str |\n  e\n  f\n"
        let scalars = try events(text.utf8).filter { $0.contains("plain") || $0.contains("quoted") }
        #expect(
            scalars == [
                "1 plain - - a", "1 plain - - yes", "2 quoted - - b", "2 quoted - x cé", "3 plain - - d",
                "3 quoted tag:yaml.org,2002:str - e\nf\n",
            ])
    }

    @Test("A stream has as many documents as it says, and none if it is empty")
    func documents() throws {
        #expect(try events("".utf8) == [])
        #expect(try events("a\n---\nb\n...\n".utf8).filter { $0.contains("documentStart") }.count == 2)
    }

    @Test(
        "What is not YAML in UTF-8 is refused with its line",
        arguments: ["a: b: c\n", "a\n\tb: [\n", "x: \"\\ud800\"\n", "a: *\n", "%YAML 9.9\n---\na\n", "a: \u{1}\n"])
    func malformed(text: String) {
        let failure = #expect(throws: YAMLFailure.self) { try events(text.utf8) }
        guard case .malformed(_, let line) = failure else {
            return #expect(Bool(false), "\(String(describing: failure))")
        }
        #expect(line >= 1)
    }

    @Test("Bytes that are not UTF-8 are refused, and so is UTF-16")
    func encoding() {
        #expect(throws: YAMLFailure.self) { try events([0x61, 0xff, 0x62]) }
        #expect(throws: YAMLFailure.self) { try events([0xff, 0xfe, 0x61, 0x00]) }
    }
}
