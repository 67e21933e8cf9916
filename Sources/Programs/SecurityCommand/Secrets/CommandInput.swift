internal import ByteStreams
internal import Console

/// The input of interactive mode.
protocol CommandInput: Sendable {
    /// Appends at most `limit` bytes; appends nothing at the end.
    ///
    /// - Throws: `StreamFailure`.
    func read(upTo limit: Int, into bytes: inout SecretBytes) throws(StreamFailure)
}

extension Descriptor: CommandInput {}
