internal import KCAgeEncryption
package import KCByteStreams
package import KCConsole

/// The two pipes between a plugin and its client.
///
/// A class, so that what asks the client something can be handed to those who open keys.
package final class PluginConnection<Input: ByteSource & ~Copyable> {
    private var input: PluginMessageReader<Input>
    private let output: any TextOutput

    // Of all messages of a run in bytes: the headers of many files, and no more than fits into memory.
    private static var limit: Int { 64 << 20 }

    /// Uses these pipes.
    package init(_ input: consuming Input, _ output: any TextOutput) {
        self.input = PluginMessageReader(input, limitInBytes: Self.limit)
        self.output = output
    }

    /// The next command of a phase that the client controls; nil at the end of the phase.
    func command() throws(AgeFailure) -> PluginMessage? {
        let message = try next()
        if message.command == "done" { return nil }
        return message
    }

    /// Sends a command, and returns the response.
    @discardableResult
    func ask(_ message: consuming PluginMessage) throws(AgeFailure) -> PluginMessage {
        try send(message)
        return try next()
    }

    /// Asks the user for a secret; nil if the client cannot.
    func secret(_ prompt: String) throws(AgeFailure) -> SecretBytes? {
        let response = try ask(PluginMessage("request-secret", body: SecretBytes(prompt.utf8.span)))
        return response.command == "ok" ? response.body.copy() : nil
    }

    /// Ends the last phase.
    func finish() throws(AgeFailure) { try send(PluginMessage("done")) }

    private func next() throws(AgeFailure) -> PluginMessage {
        do throws(PluginMessageFailure) {
            if let message = try input.next() { return message }
        } catch {
            switch error {
            case .malformed(let rule): throw .malformedHeader(rule)
            case .tooLong(let limit): throw .headerTooLarge("bytes of messages", allowed: limit)
            case .stream(let failure): throw .stream(failure)
            }
        }
        throw .stream(StreamFailure(.reading, .truncated))
    }

    private func send(_ message: consuming PluginMessage) throws(AgeFailure) {
        let output = output
        var text = SecretBytes(capacity: 256)
        message.encode(into: &text)
        do throws(StreamFailure) {
            try text.withBytes { bytes throws(StreamFailure) in try output.write(bytes) }
        } catch {
            throw .stream(error)
        }
    }
}
