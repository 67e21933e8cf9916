internal import Glibc
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCRemotes
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension Machine {
    /// Opens an archive; one from a pipe is first copied to an unnamed file, since archives are not read sequentially.
    ///
    /// - Parameter choose: as of `fetch`.
    /// - Throws: `FileFailure`, `StreamFailure`, `RemoteFailure`, `UsageProblem` for `keychain:NAME`.
    func openArchive(_ path: String, choose: (ArchivePlace) throws -> String) throws -> OpenFile {
        if let remote = try remote(path) {
            return try doubtingKeychain(remote) { try fetch(remote, choose: choose) }
        }
        switch try InputFile.open(resolveInput(path)) {
        case .file(let file): return file
        case .pipe(let pipe):
            return try blamingTemporaryFolder {
                var source = PipeSource(pipe: pipe)
                var sink = UnnamedFileSink(try UnnamedFile(inFolder: temporaryFolder))
                try source.forEachPiece { bytes throws(StreamFailure) in try sink.write(bytes) }
                return try sink.finish().file
            }
        }
    }

    /// Runs `body`, which reads from a remote, and explains the lack of one if `keychain:NAME` was given, which is no name of
    /// a keychain.
    ///
    /// - Throws: `UsageProblem`, and what `body` throws.
    func doubtingKeychain<Result>(_ remote: RemoteLocation, _ body: () throws -> Result) throws -> Result {
        let isOfKeychain = remote.remote.exact == "keychain"
        do {
            return try body()
        } catch RemoteFailure.notInstalled where isOfKeychain, RemoteFailure.unknownRemote where isOfKeychain {
            let name = remote.path.isEmpty ? "NAME" : shellWord(remote.path)
            throw UsageProblem(
                "\(quoted(remote.text)) is no archive, and the names of keychains have no prefix",
                hint: "'kcbackup item list \(OptionName.keychain.spelling) \(name)' lists the items of a keychain",
                "'kcbackup create \(OptionName.keychain.spelling) \(name)' backs it up")
        }
    }
}
