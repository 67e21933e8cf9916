internal import KCAgeEncryption
internal import KCByteStreams
internal import KCTerminal

/// The output file of an export: a new file, readable only by its owner, that gets its name when it is complete.
struct ExportFile {
    private let path: NewFilePath

    /// Checks the path before anything is asked or read.
    ///
    /// - Throws: `UsageProblem` (`empty`, `malformed`), `FileFailure` (`exists`, `notFound`).
    init(_ path: String, in session: Session) throws {
        self.path = try NewFilePath(path, .output, in: session)
        try self.path.requireFree()
    }

    /// Creates the file from what `write` passes on, encrypted with age if there are recipients.
    ///
    /// - Returns: the size of the file in bytes.
    /// - Throws: `FileFailure`, `Failure.stream`, `AgeFailure`, and what `write` throws.
    func make(
        to recipients: [GivenRecipient],
        _ write: (_ output: (borrowing Span<UInt8>) throws -> Void) throws -> Void
    ) throws -> UInt64 {
        let unnamed = try UnnamedFile(inFolder: path.folder)
        let size: UInt64
        do {
            if recipients.isEmpty {
                var sink = UnnamedFileSink(unnamed)
                try write { bytes in try sink.write(bytes) }
                size = try sink.finish().length
            } else {
                var sink = try AgeEncryptor(recipients: recipients.map(\.recipient), to: UnnamedFileSink(unnamed))
                try write { bytes in try sink.write(bytes) }
                size = try sink.finish().length
            }
        } catch let failure as StreamFailure {
            throw Failure.stream(failure, path: path.given)
        }
        try unnamed.publish(as: path.name)
        return size
    }
}
