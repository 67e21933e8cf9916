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

extension InputFile {
    /// Returns the descriptor that a name refers to, which can be read only once; nil for a file.
    static func descriptor(_ name: String) -> Int32? {
        if [standardInputName, "/dev/stdin"].contains(name) { return 0 }
        for folder in ["/dev/fd/", "/proc/self/fd/"] {
            if let number = name.exact.removingPrefix(folder) { return Int32(number) }
        }
        return nil
    }
}

extension Machine {
    /// Opens an archive; one from a pipe is first copied to an unnamed file, since archives are not read sequentially.
    ///
    /// - Parameter choose: as of `fetch`.
    /// - Throws: `FileFailure`, `StreamFailure`, `RemoteFailure`, `UsageProblem` for `keychain:NAME`.
    func openArchive(_ path: String, choose: (ArchivePlace) throws -> String) throws -> OpenFile {
        if let remote = try remote(path) {
            return try doubtingKeychain(remote) { try fetch(remote, choose: choose) }
        }
        switch try InputFile.open(resolve(input: path)) {
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

    /// Reads a small key file once, including from a pipe, from `-` or through a symbolic link.
    ///
    /// - Parameter isSecret: true if nobody else may be able to read or replace the file; pipes have no permissions.
    /// - Throws: `FileFailure`, `StreamFailure`.
    func readKeyFile(_ path: String, isSecret: Bool) throws -> SecretBytes {
        switch try InputFile.open(resolve(input: path)) {
        case .file(let file): return try isSecret ? PrivateFile.read(file) : PrivateFile.readPublic(file)
        case .pipe(let pipe):
            return try readPipe(pipe, named: path, limit: PrivateFile.sizeLimit)
        }
    }

    /// Reads a pipe to its end.
    ///
    /// - Throws: `FileFailure` (`tooLarge`), `StreamFailure`.
    func readPipe(_ pipe: OpenFile, named path: String, limit: Int) throws -> SecretBytes {
        var source = PipeSource(pipe: pipe)
        do throws(StreamFailure) {
            return try source.readAll(limit: limit, as: "size")
        } catch {
            guard case .limitExceeded = error.kind else { throw error }
            throw FileFailure(path, .tooLarge(limit: limit))
        }
    }

    fileprivate func resolve(input path: String) -> String {
        path == InputFile.standardInputName ? path : resolve(path)
    }
}

extension FileOfItems {
    /// Opens a file of items, one JSON object per line, and warns if others can read it.
    ///
    /// Its secrets are unencrypted, so a pipe is read directly and never copied to disk.
    ///
    /// - Throws: `FileFailure`.
    static func open(_ path: String, in session: Session) throws -> ItemLines {
        session.subject.file = path
        switch try InputFile.open(session.machine.resolve(input: path)) {
        case .file(let file):
            if ForeignFile.isReadableByOthers(try file.status()) {
                session.warn(ForeignReader.exposed(path))
            }
            return try ItemLines(file)
        case .pipe(let pipe): return ItemLines(PipeSource(pipe: pipe), date: session.now)
        }
    }
}

/// Reads a pipe; a signal ends the wait for data.
private struct PipeSource: ByteSource {
    let pipe: OpenFile

    mutating func read(into output: inout OutputSpan<UInt8>) throws(StreamFailure) {
        try Descriptor(number: pipe.descriptor).read(into: &output)
    }
}
