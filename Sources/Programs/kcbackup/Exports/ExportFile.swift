internal import KCAgeEncryption
internal import KCByteStreams

/// The output file of an export: a new file, readable only by its owner, that gets its name when it is complete.
struct ExportFile {
    private let path: String
    private let resolved: String

    /// Checks the path before anything is asked or read.
    ///
    /// - Throws: `UsageProblem` (`empty`, `malformed`), `FileFailure` (`exists`, `notFound`).
    init(_ path: String, in session: Session) throws {
        if path.isEmpty { throw UsageProblem.empty(.output) }
        resolved = session.world.resolve(path)
        let (folder, name) = Path.split(resolved)
        // A descriptor and a device are no new files either.
        let isSpecial = resolved.exact.hasPrefix("/dev/") || resolved.exact.hasPrefix("/proc/")
        if path == "-" || isSpecial || name.isEmpty || Path.isFolder(resolved) {
            throw UsageProblem.malformed(.output, form: "the path of a new file")
        }
        if try Path.exists(resolved) { throw FileFailure(path, .exists) }
        guard try Path.exists(folder) else { throw FileFailure(Path.split(path).folder, .notFound) }
        self.path = path
    }

    /// Creates the file from `bytes`, encrypted with age if there are recipients.
    ///
    /// - Returns: the size of the file in bytes.
    /// - Throws: `FileFailure`, `Failure.stream`, `AgeFailure`.
    func make(of bytes: borrowing SecretBytes, to recipients: [X25519Recipient]) throws -> UInt64 {
        let (folder, name) = Path.split(resolved)
        let unnamed = try UnnamedFile(inFolder: folder)
        let size: UInt64
        do {
            if recipients.isEmpty {
                var sink = UnnamedFileSink(unnamed)
                try bytes.withBytes { span throws(StreamFailure) in try sink.write(span) }
                size = try sink.finish().length
            } else {
                var sink = try AgeEncryptor(recipients: recipients, to: UnnamedFileSink(unnamed))
                try bytes.withBytes { span throws(StreamFailure) in try sink.write(span) }
                size = try sink.finish().length
            }
        } catch let failure as StreamFailure {
            throw Failure.stream(failure, path: path)
        }
        try unnamed.publish(as: name)
        return size
    }
}
