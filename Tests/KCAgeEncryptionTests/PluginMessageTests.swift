import KCByteStreams
import KCTestSupport
import Testing

@testable import KCAgeEncryption

@Suite("Messages to and from plugins")
struct PluginMessageTests {
    /// A message that can be compared.
    struct Received: Equatable {
        var command: String
        var arguments: [String] = []
        var body: [UInt8] = []
    }

    static func messages(_ text: some Sequence<UInt8>, limit: Int = 1 << 20) throws -> [Received] {
        var reader = PluginMessageReader(ChoppySource(Array(text)), limitInBytes: limit)
        var all: [Received] = []
        while let message = try reader.next() {
            all.append(
                Received(
                    command: message.command, arguments: message.arguments, body: message.body.bytesForTest()))
        }
        return all
    }

    private func text(_ message: borrowing PluginMessage, secret: String = "") -> String {
        var text = SecretBytes(capacity: 64)
        message.encode(secret: Array(secret.utf8).span, into: &text)
        return String(decoding: text.bytesForTest(), as: UTF8.self)
    }

    @Test("A message is written as a stanza, whose last line is shorter than the others")
    func written() {
        #expect(text(PluginMessage("done")) == "-> done\n\n")
        #expect(text(PluginMessage("add-identity"), secret: "AGE-PLUGIN-X-1") == "-> add-identity AGE-PLUGIN-X-1\n\n")
        #expect(text(PluginMessage("ok", ["yes"], body: secretText("123456"))) == "-> ok yes\nMTIzNDU2\n")
        let stanza = Stanza(type: "yubikey", arguments: ["BjH7FA", "RO"], body: [UInt8](repeating: 0, count: 48))
        #expect(
            text(PluginMessage("recipient-stanza", of: 1, stanza))
                == "-> recipient-stanza 1 yubikey BjH7FA RO\n\(String(repeating: "A", count: 64))\n\n")
    }

    @Test("What is written is read again, in pieces of any size", arguments: [0, 1, 47, 48, 49, 95, 96, 97, 5_000])
    func roundTrip(size: Int) throws {
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let one = text(PluginMessage("msg", ["a", "~!"], body: SecretBytes(copying: body)))
        let expected = Received(command: "msg", arguments: ["a", "~!"], body: body)
        #expect(try Self.messages((one + one).utf8) == [expected, expected])
        #expect(try Self.messages([]) == [])
    }

    @Test("A stanza that is conveyed is the one that was sent")
    func conveyed() {
        let stanza = Stanza(type: "t", arguments: ["x", "y"], body: [1, 2, 3])
        let found = PluginMessage("recipient-stanza", of: 12, stanza).stanza()
        #expect(found?.file == 12 && found?.stanza == stanza)
        for words in [[], ["0"], ["x", "t"], ["-1", "t"], ["+1", "t"], ["01", "t"], ["99999999999999999999", "t"]] {
            let isStanza = PluginMessage("recipient-stanza", words).stanza() != nil
            #expect(!isStanza, "\(words)")
        }
    }

    @Test(
        "What breaks a rule of the protocol is refused",
        arguments: [
            "x\n\n", "->done\n\n", "-> \n\n", "->  done\n\n", "-> a  b\n\n", "-> a \n\n", "-> a\u{e9}\n\n",
            "-> a\tb\n\n", "-> a\n=\n", "-> a\nAA==\n", "-> a\nAB\n", "-> a\nA\n", "-> a\r\n\r\n", "-> a\n", "-> a",
            "-> a\n-> b\n\n", "-> a\n" + String(repeating: "A", count: 65) + "\n",
            "-> a\n" + String(repeating: "A", count: 64) + "\n", "-> done\n\nx",
        ])
    func malformed(_ text: String) {
        do {
            _ = try Self.messages(text.utf8)
            Issue.record("it was read")
        } catch {
            guard case .malformed = error as? PluginMessageFailure else {
                Issue.record("it ended with \(error)")
                return
            }
        }
    }

    @Test("Messages end at the limit, also within a line")
    func limit() {
        let one = "-> msg\nAAAA\n"
        #expect(throws: Never.self) { try Self.messages((one + one).utf8, limit: 24) }
        for flood in [
            one + one + one, String(repeating: "-", count: 100), "-> a\n" + String(repeating: "A", count: 64),
        ] {
            #expect(throws: PluginMessageFailure.tooLong(limitInBytes: 24)) {
                try Self.messages(flood.utf8, limit: 24)
            }
        }
    }
}
