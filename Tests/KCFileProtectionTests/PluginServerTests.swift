import KCAgeEncryption
import KCByteStreams
import KCKeychainKeys
import KCTestSupport
import Testing

@testable import KCFileProtection

@Suite("The plugin's side of the protocol") struct PluginServerTests {
    private let device: X25519Identity
    private let other: X25519Identity
    private let here: ProtectionIdentity
    private let complete: ProtectionIdentity
    private static let store = [UInt8](repeating: 4, count: 16)
    private static let fileKey = Array("sixteen bytes. .".utf8)

    init() throws {
        device = try X25519Identity.generate()
        other = try X25519Identity.generate()
        here = ProtectionIdentity(device: device.recipient.publicKey)
        complete = ProtectionIdentity(keychain: Self.store, .complete, publicKey: other.recipient.publicKey)
    }

    /// Has the device's key, and that of a keychain, for which it asks for a passcode.
    private struct Keyring: FileKeyring {
        let device: X25519Identity
        let keychain: X25519Identity

        func isOpen(_ identity: ProtectionIdentity) -> Bool { identity.holder.protection == .none }

        func keys(
            of identity: ProtectionIdentity, asking secret: (String) throws -> SecretBytes?
        ) throws -> [any Identity] {
            if isOpen(identity) { return [device] }
            guard let passcode = try secret("Enter it:") else { throw PluginRefusal("it is locked") }
            guard passcode.bytesForTest() == Array("open".utf8) else { throw PluginRefusal("it is wrong") }
            return [keychain]
        }
    }

    private typealias Said = (words: [String], body: [UInt8])

    private func message(_ words: String..., body: [UInt8] = []) -> [UInt8] {
        var text = SecretBytes(capacity: 64)
        PluginMessage(words[0], Array(words.dropFirst()), body: SecretBytes(copying: body)).encode(into: &text)
        return text.bytesForTest()
    }

    private func message(_ index: Int, _ stanza: Stanza) -> [UInt8] {
        var text = SecretBytes(capacity: 64)
        PluginMessage("recipient-stanza", of: index, stanza).encode(into: &text)
        return text.bytesForTest()
    }

    private func stanzas(for recipients: any Recipient...) throws -> [Stanza] {
        try recipients.flatMap { try $0.wrap(fileKey: SecretBytes(copying: Self.fileKey)).stanzas }
    }

    /// Runs a state machine on what a client sends, and returns what the plugin says, without the last `done`.
    private func talk(_ sent: [[UInt8]], wrapping: Bool = false) throws -> [Said] {
        let output = CollectedOutput()
        let server = PluginServer(PluginConnection(ChoppySource(sent.flatMap { $0 }), output))
        try wrapping ? server.wrap() : server.unwrap(with: Keyring(device: device, keychain: other))
        var said: [Said] = []
        var messages = PluginMessageReader(MemorySource(copying: output.bytes), limitInBytes: 1 << 20)
        while let message = try messages.next() {
            said.append(([message.command] + message.arguments, message.body.bytesForTest()))
        }
        #expect(said.last?.words == ["done"])
        return said.dropLast()
    }

    private var done: [UInt8] { message("done") }
    private var ok: [UInt8] { message("ok") }

    @Test("It sends the key of each file that it opens, and passes over other stanzas, files and commands")
    func unwraps() throws {
        let foreign = Stanza(type: "odd", arguments: ["a"], body: [])
        let said = try talk([
            message("grease-x", "y", body: [1, 2, 3]), message("add-identity", here.description),
            message(0, foreign), message(0, try stanzas(for: device.recipient)[0]),
            message(3, try stanzas(for: X25519Identity.generate().recipient)[0]),
            message(7, try stanzas(for: other.recipient)[0]), message(7, try stanzas(for: device.recipient)[0]), done,
            ok, ok,
        ])
        #expect(said.map(\.words) == [["file-key", "0"], ["file-key", "7"]])
        #expect(said.allSatisfy { $0.body == Self.fileKey })
    }

    @Test("It asks for a passcode only for a file that nothing opens without one, and once for all files")
    func asks() throws {
        let start = [message("add-identity", complete.description), message("add-identity", here.description)]
        let mine = try stanzas(for: device.recipient)[0]
        #expect(try talk(start + [message(0, mine), done, ok]).map(\.words) == [["file-key", "0"]])
        let closed = try stanzas(for: MarkedRecipient(complete))
        let asked = try talk(
            start + closed.map { message(0, $0) } + closed.map { message(1, $0) }
                + [done, message("ok", body: Array("open".utf8)), ok, ok])
        #expect(asked.map(\.words) == [["request-secret"], ["file-key", "0"], ["file-key", "1"]])
        // Marked for somebody else.
        let elsewhere = ProtectionIdentity(
            keychain: [UInt8](repeating: 9, count: 16), .complete, publicKey: here.recipient.publicKey)
        let marked = try stanzas(for: MarkedRecipient(elsewhere)).map { message(0, $0) }
        #expect(try talk([start[0]] + marked + [done]).isEmpty)
        // The mark of one recipient does not hide a file from another.
        #expect(try talk([start[1]] + marked + [done, ok]).map(\.words) == [["file-key", "0"]])
    }

    @Test(
        "A client that cannot ask, and a wrong answer, are an error of the identity, unless another one opens the file",
        arguments: ["fail", "unsupported", "ok"])
    func refused(answer: String) throws {
        let answer = message(answer, body: Array("wrong".utf8))
        let file = try stanzas(for: other.recipient)[0]
        let said = try talk([message("add-identity", complete.description), message(0, file), done, answer, ok])
        #expect(said.map(\.words) == [["request-secret"], ["error", "identity", "0"]])
    }

    @Test("An unknown identity is an error, and then nothing is opened")
    func unknownIdentity() throws {
        let file = try stanzas(for: device.recipient)[0]
        let said = try talk([
            message("add-identity", here.description), message("add-identity", "AGE-PLUGIN-KCBACKUP-1QQQQQQ"),
            message(0, file), done, ok,
        ])
        #expect(said.map(\.words) == [["error", "identity", "1"]])
    }

    @Test("A malformed X25519 stanza is an error of its file alone")
    func malformedStanza() throws {
        let good = try stanzas(for: device.recipient)[0]
        let bad = [
            Stanza(type: "X25519", arguments: [], body: good.body),
            Stanza(type: "X25519", arguments: ["AAAA"], body: good.body),
            Stanza(type: "X25519", arguments: good.arguments, body: Array(good.body.dropLast())),
        ]
        for stanza in bad {
            let said = try talk([
                message("add-identity", here.description), message(0, good), message(0, stanza), message(1, good), done,
                ok, ok,
            ])
            #expect(said.map(\.words) == [["error", "stanza", "0", "1"], ["file-key", "1"]])
        }
    }

    @Test(
        "A client that breaks the protocol, or ends, ends the plugin",
        arguments: [
            "", "-> done", "-> add-identity x\n", "done\n\n", "-> recipient-stanza x y\n\n-> done\n\n",
            "-> recipient-stanza 1 a\n\n-> recipient-stanza 0 a\n\n-> done\n\n", "-> recipient-stanza 0\n\n-> done\n\n",
            "-> add-identity x\nnot base64\n", "->  done\n\n", "-> d\u{e9}\n\n",
        ])
    func broken(text: String) {
        #expect(throws: AgeFailure.self) { try talk([Array(text.utf8)]) }
    }

    @Test("A flood is refused")
    func flood() {
        let identities = message("add-identity", here.description)
        #expect(throws: AgeFailure.self) {
            try talk(Array(repeating: identities, count: PluginServer<ChoppySource>.limit + 1) + [done])
        }
    }

    @Test("It wraps for identities, with a stanza that every age opens and a mark")
    func wraps() throws {
        let said = try talk(
            [
                message("add-identity", here.description), message("extension-labels"), message("odd"),
                message("wrap-file-key", body: Self.fileKey), message("wrap-file-key", body: Self.fileKey),
                message("add-identity", complete.description), done,
            ] + Array(repeating: ok, count: 8), wrapping: true)
        let sent = said.filter { $0.words.prefix(2) == ["recipient-stanza", "1"] }
            .map { Stanza(type: $0.words[2], arguments: Array($0.words[3...]), body: $0.body) }
        #expect(said.count == 8 && sent.map(\.type) == ["X25519", "kcbackup", "X25519", "kcbackup"])
        #expect(try device.unwrap(sent)?.bytesForTest() == Self.fileKey)
        #expect(try other.unwrap(sent)?.bytesForTest() == Self.fileKey)
        #expect(try ProtectionMark.holder(of: sent, among: [complete.holder]) == complete.holder)
    }

    @Test("Recipients and unknown identities are errors, and then nothing is wrapped")
    func wrapsNothing() throws {
        let said = try talk(
            [
                message("add-recipient", "age1kcbackup1qqqqqq"), message("add-identity", "AGE-PLUGIN-KCBACKUP-1QQ"),
                message("add-identity", here.description), message("wrap-file-key", body: Self.fileKey), done, ok, ok,
            ], wrapping: true)
        #expect(said.map(\.words) == [["error", "recipient", "0"], ["error", "identity", "0"]])
    }
}
