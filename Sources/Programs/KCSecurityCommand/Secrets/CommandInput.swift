internal import KCByteStreams
internal import KCConsole

/// The input for interactive mode.
protocol CommandInput: Sendable {
    /// Appends at most as many bytes as `output` has room for; appends nothing at the end.
    func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure)
}

extension Descriptor: CommandInput {}

/// Adapts a `CommandInput` to `ByteSource`.
struct CommandSource: ByteSource {
    let input: any CommandInput

    mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        try input.read(into: &output)
    }
}
