import KCByteStreams
import KCTestSupport
import Testing

@testable import KCAgeEncryption

@Suite struct HeaderTests {
    private func read(_ text: String) throws(AgeFailure) -> AgeHeader {
        try AgeHeader.read(from: MemorySource(copying: Array(text.utf8)))
    }

    static let code = String(repeating: "A", count: 43)

    private func failure(_ text: String) -> AgeFailure? {
        ageFailure { _ = try read(text) }
    }

    @Test("The stanzas and the length of a header can be read without a key")
    func inspect() throws {
        let body = String(repeating: "A", count: 64) + "\nAAAA\n"
        let text = "age-encryption.org/v1\n-> X25519 abc\nAA\n-> x y z\n\n-> long\n\(body)--- \(Self.code)\n"
        let header = try read(text + "payload")
        #expect(header.stanzas.map(\.type) == ["X25519", "x", "long"])
        #expect(header.stanzas.map(\.arguments) == [["abc"], ["y", "z"], []])
        #expect(header.stanzas.map(\.body.count) == [1, 0, 51])
        #expect(header.length == text.utf8.count)
        #expect(header.text == text)
    }

    @Test(
        "Stanza bodies of lengths around a line break survive a round trip", arguments: [0, 1, 47, 48, 49, 95, 96, 97])
    func bodies(_ count: Int) throws {
        struct Fixed: Recipient {
            let count: Int
            func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
                WrappedFileKey([Stanza(type: "t", arguments: [], body: [UInt8](repeating: 0xa5, count: count))])
            }
        }
        let file = try encrypt([], to: [Fixed(count: count)])
        let header = try AgeHeader.read(from: MemorySource(copying: file))
        #expect(header.stanzas == [Stanza(type: "t", arguments: [], body: [UInt8](repeating: 0xa5, count: count))])
        #expect(Array(header.text.utf8) == Array(file.prefix(header.length)))
    }

    @Test("Files that are not age files are distinguished from damaged ones")
    func kinds() {
        for text in ["", "x", "age", "age-encryption.org", "PK\u{3}\u{4}", "\n", "Age-encryption.org/v1\n"] {
            #expect(failure(text) == .notAnAgeFile, "\(text)")
        }
        #expect(failure("-----BEGIN AGE ENCRYPTED FILE-----\n") == .armored)
        #expect(failure("age-encryption.org/v2\n") == .unsupportedVersion)
        #expect(failure("age-encryption.org/v1.1\nanything") == .unsupportedVersion)
        for text in [
            "age-encryption.org/v1\n", "age-encryption.org/v1\r\n", "age-encryption.org/\n", "age-encryption.org/v1",
        ] {
            guard case .malformedHeader = failure(text) else {
                Issue.record("\(text)")
                continue
            }
        }
    }

    @Test(
        "Every violation of the header grammar is refused",
        arguments: [
            "--- \(code)\n", "-> \nAA\n--- \(code)\n", "-> a  b\nAA\n--- \(code)\n", "->a\nAA\n--- \(code)\n",
            "-> a \nAA\n--- \(code)\n", " -> a\nAA\n--- \(code)\n", "-> ä\nAA\n--- \(code)\n",
            "-> a\nAB\n--- \(code)\n",
            "-> a\nAA==\n--- \(code)\n", "-> a\nAA\n---\(code)\n", "-> a\nAA\n--- \(code)=\n", "-> a\nAA\n--- \(code)",
            "-> a\nAA\n--- \(code) \n", "-> a\nAA\n---  \(code)\n", "-> a\nAA\n--- AAAA\n", "-> a\nAA\r\n--- \(code)\n",
            "-> a\n\(String(repeating: "A", count: 65))\n--- \(code)\n", "-> a\nA A\n--- \(code)\n",
            "-> a\nAA\n\n--- \(code)\n",
            "-> a\n\(String(repeating: "A", count: 64))\n--- \(code)\n", "-> a\n--- \(code)\n",
            "-> a\nAAAAA\n--- \(code)\n",
        ])
    func grammar(_ rest: String) {
        guard case .malformedHeader = failure("age-encryption.org/v1\n" + rest) else {
            Issue.record("accepted or refused for another reason")
            return
        }
    }

    @Test("Reading an endless header stops at the size limits")
    func limits() {
        let stanza = "-> a\nAA\n"
        let many = "age-encryption.org/v1\n" + String(repeating: stanza, count: 1_001)
        #expect(failure(many + "--- \(Self.code)\n") == .headerTooLarge("recipients", allowed: 1_000))
        let allowed = "age-encryption.org/v1\n" + String(repeating: stanza, count: 1_000)
        #expect(failure(allowed + "--- \(Self.code)\n") == nil)
        let long = "age-encryption.org/v1\n-> " + String(repeating: "a", count: 3 << 20)
        #expect(failure(long) == .headerTooLarge("header bytes", allowed: 2 << 20))
    }

    @Test("A header of exactly the maximum size is accepted, and one byte more is refused")
    func exactSize() {
        let version = "age-encryption.org/v1\n-> "
        let rest = "\n\n--- \(Self.code)\n"
        let room = (2 << 20) - version.utf8.count - rest.utf8.count
        for (excess, expected) in [(0, nil), (1, AgeFailure.headerTooLarge("header bytes", allowed: 2 << 20))] {
            let text = version + String(repeating: "a", count: room + excess) + rest + "payload"
            let result = ageFailure { _ = try AgeHeader.read(from: RoundPieces(Array(text.utf8))) }
            #expect(result == expected)
        }
    }

    /// Delivers at most a thousand bytes per call, so that no piece ends exactly at a limit.
    private struct RoundPieces: ByteSource, ~Copyable {
        private let bytes: [UInt8]
        private var offset = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
            let end = min(offset + min(1_000, output.freeCapacity), bytes.count)
            for index in offset..<end { output.append(bytes[index]) }
            offset = end
        }
    }

    @Test("An argument that would corrupt the header is a programming error", arguments: ["", "a b", "a\n", "\u{7f}"])
    func unprintableArgument(_ argument: String) async {
        await #expect(processExitsWith: .failure) { [argument] in
            _ = Stanza(type: "a", arguments: [argument], body: [])
        }
    }

    @Test("A large file of another kind is reported as not an age file, even if its first line is long")
    func largeForeignFiles() {
        #expect(failure(String(repeating: "a", count: 2 << 20)) == .notAnAgeFile)
    }
}
