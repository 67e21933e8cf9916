import KCAgeEncryption
import KCByteStreams
import KCConsole
import KCTestSupport
import Synchronization
import Testing

@testable import KCAgePlugins

/// A user who gives answers in order, and remembers what was asked; nobody if there are none.
final class ScriptedUser: PluginUser {
    let isAttended: Bool
    private let state: Mutex<(answers: ArraySlice<String>, seen: [String])>

    init(answers: [String]?) {
        isAttended = answers != nil
        state = Mutex((answers?[...] ?? [], []))
    }

    /// Everything that was shown and asked.
    var seen: [String] { state.withLock { $0.seen } }

    func beginWait(for plugin: PluginName) {}
    func endWait() {}

    func show(_ message: String, of plugin: PluginName) -> Bool {
        state.withLock { $0.seen.append("\(plugin): \(message)") }
        return isAttended
    }

    func read(_ prompt: String, isSecret: Bool, for plugin: PluginName) throws(TerminalFailure) -> SecretBytes {
        SecretBytes(copying: try answer(isSecret ? "secret \(prompt)" : prompt).utf8)
    }

    func choose(
        _ question: String, _ first: String, or second: String?, for plugin: PluginName
    ) throws(TerminalFailure) -> Bool? {
        let options = [first, second].compactMap { $0 }
        let chosen = try answer("\(question) \(options)")
        return options.contains(chosen) ? chosen == first : nil
    }

    private func answer(_ question: String) throws(TerminalFailure) -> String {
        let answer = state.withLock { state in
            state.seen.append(question)
            return state.answers.popFirst()
        }
        guard let answer else { throw .closed }
        if answer == "^C" { throw .interrupted }
        return answer
    }
}

/// A plugin that says the same whatever it is told.
final class RecordedPlugin: PluginConnection {
    private var script: ArraySlice<UInt8>
    /// The bytes that the plugin was told.
    private(set) var told: [UInt8] = []
    let endOfMessages = "no card\n"

    init(_ script: String) { self.script = Array(script.utf8)[...] }

    func write(_ bytes: borrowing Span<UInt8>) { told.append(contentsOf: bytes.indices.map { bytes[$0] }) }

    func read(into output: inout OutputSpan<UInt8>) {
        // Byte by byte, unless that takes too long.
        let piece = script.prefix(script.count < 10_000 ? 1 : output.freeCapacity)
        for byte in piece { output.append(byte) }
        script = script.dropFirst(piece.count)
    }

    /// The messages that it was told, without grease.
    func messages() throws -> [String] {
        var reader = PluginMessageReader(MemorySource(copying: told), limitInBytes: 1 << 20)
        var all: [String] = []
        while let message = try reader.next() {
            if message.command.hasPrefix("grease-") { continue }
            let body = String(decoding: message.body.bytesForTest(), as: UTF8.self)
            all.append(([message.command] + message.arguments + (body.isEmpty ? [] : [body])).joined(separator: " "))
        }
        return all
    }
}

/// A host that never runs anything.
struct NoHost: PluginHost {
    func wrap(_ fileKeys: [FileKey], for recipients: [PluginRecipient]) throws(AgeFailure) -> [WrappedFileKey] { [] }
    func unwrap(_ headers: [AgeHeader], with identities: [PluginIdentity]) throws(AgeFailure) -> [FileKey?] { [] }
}

/// An age file, its header, and its key as a plugin would send it.
struct SampleFile {
    let header: AgeHeader
    let key: String

    init() throws {
        let identity = try X25519Identity.generate()
        var encryptor = try AgeEncryptor(recipients: [identity.recipient], to: MemorySink())
        try encryptor.write([1, 2, 3].span)
        header = try AgeHeader.read(from: MemorySource(copying: encryptor.finish()))
        let key = try #require(try FileKey.unwrap([header], with: [identity])[0])
        self.key = key.withKey { Base64.encode($0.bytesForTest(), padded: false) }
    }
}

/// The identity of a plugin that `text` is.
func parsedIdentity(_ text: String, host: any PluginHost) throws -> PluginIdentity {
    let identity = PluginIdentity.parse(Array(text.utf8).span, host: host)
    return try #require(identity)
}

/// The failure of a plugin that `body` throws, or nil.
func pluginFailure(_ body: () throws -> Void) -> PluginFailure? {
    do {
        try body()
        return nil
    } catch {
        guard case .plugin(_, let failure) = error as? AgeFailure else {
            Issue.record("it ended with \(error)")
            return nil
        }
        return failure
    }
}
