internal import KCBackupArchive
internal import KCByteStreams
internal import KCItemSources

extension Machine {
    /// Runs `body`, and attributes failures to create or write files in the temporary folder to that folder.
    ///
    /// - Throws: `SpoolFailure`, and what `body` throws.
    package func blamingTemporaryFolder<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            guard Self.isOfWriting(error, in: temporaryFolder) else { throw error }
            throw SpoolFailure(folder: temporaryFolder, cause: error)
        }
    }

    /// True if a file cannot be created in `folder`, or if writing an unnamed file fails.
    private static func isOfWriting(_ error: any Error, in folder: String) -> Bool {
        switch error {
        case let failure as FileFailure: failure.path.exact == folder.exact
        case ArchiveFailure.file(let failure): failure.path.exact == folder.exact
        case let failure as StreamFailure: isOfWriting(failure)
        case ArchiveFailure.stream(let failure): isOfWriting(failure)
        default: false
        }
    }

    private static func isOfWriting(_ failure: StreamFailure) -> Bool {
        if case .system = failure.kind { failure.stage == .writing } else { false }
    }
}
