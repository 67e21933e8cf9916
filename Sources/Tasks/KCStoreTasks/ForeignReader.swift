internal import KCAgeEncryption
internal import KCAsking
package import KCByteStreams
internal import KCConsole
package import KCForeignReader
package import KCItemSources
package import KCItemStores
package import KCKeychainModel

/// An event while another program's file is read.
package enum ForeignEvent: TaskEvent {
    /// The file was read as a store.
    case read(ForeignReading, path: String, StoreUse)
    /// Others can read the file, whose secrets are in the clear.
    case exposed(path: String)
    /// A key for the file may be in the desktop keyring, where it could not be looked for.
    case notSearched(KeyringSecrets.Gap)
}

/// The result of reading another program's file or folder.
package struct ForeignReading {
    package let kind: ForeignKind
    package let contents: ForeignContents
    /// When the file was last changed; nil for a folder.
    package let fileDate: Timestamp?
    /// True if the input is there as before, as a pipe is not.
    package let remains: Bool
    /// The records that can be taken out of the file, if that was asked for and the format has such.
    package var records: SeparableRecords?
    /// The options that were given to open it, and were not needed.
    package var unneeded: [FileAccess.Part] = []
}

/// Reads other programs' files and folders, as named by the user, with a reader in a sandbox.
package struct ForeignReader {
    package let path: String
    package let access: FileAccess
    private let context: TaskContext
    /// True if what it does not need is no mistake, since another file may need it.
    package var isOneOfTwo = false
    /// The names of the columns of a table, if the user chose them.
    package var columns: [ChosenColumn: String] = [:]
    /// True to find the records that can be taken out of the file.
    package var wantsRecords = false

    package init(_ path: String, _ access: FileAccess, in context: TaskContext) {
        self.path = path
        self.access = access
        self.context = context
    }

    /// Detects the format, and opens and reads the file to its end.
    ///
    /// - Parameter didRecognise: is told the format before a secret is asked for; reading ends with what it throws.
    /// - Throws: `ForeignFailure`, `ReaderFailure`, `FileAccessProblem`, `FileFailure`, `StreamFailure`, and errors of reading
    ///   secrets.
    package func read(didRecognise: (ForeignKind) throws -> Void = { _ in }) throws -> ForeignReading {
        if columns.isEmpty, !access.isGiven, let items = try readItems() { return items }
        return try read(input(), didRecognise: didRecognise)
    }

    /// Reads a file of items line by line, so that it is never in memory as a whole; nil for any other input.
    private func readItems() throws -> ForeignReading? {
        guard try isFileOfItems() else { return nil }
        let lines = try FileOfItems.open(path, in: context)
        let progress = context.asking.follow(.readingItems, total: { lines.size }, done: { lines.bytesRead })
        defer { progress.finish() }
        let items = try context.machine.blamingTemporaryFolder {
            try lines.collected(spoolingIn: context.machine.temporaryFolder, step: progress.step)
        }
        if items.count == 0 { return nil }
        return ForeignReading(
            kind: .items, contents: ForeignContents(items: items, kind: "item", isPlaintext: true),
            fileDate: lines.date, remains: true)
    }

    /// Reads an input that `input` returned.
    ///
    /// - Throws: as `read(didRecognise:)`.
    package func read(
        _ input: ReaderInput, didRecognise: (ForeignKind) throws -> Void = { _ in }
    ) throws -> ForeignReading {
        var choice = ReaderProgram.Choice(try columns.isEmpty ? access.knownFormat() : .csv)
        choice.columns = columns
        choice.wantsRecords = wantsRecords
        let machine = context.machine
        let secrets = AskedSecrets(reader: self)
        do throws(FileFailure) {
            choice.keyFile = try access.keyFile.map { path throws(FileFailure) in
                let input = try ReaderInput(machine.resolveInput(path), now: context.now)
                if input.isFolder { throw FileFailure(input.path, .notRegular) }
                return input
            }
        } catch {
            // Only a format that wants a key file lacks it.
            secrets.keyFileFailure = error
        }
        let read = try reader.read(input, choice, secrets: secrets, didRecognise: didRecognise)
        // Whoever names what opens a file means one that is closed.
        var unneeded: [FileAccess.Part] = []
        if access.password != nil, !secrets.wasAsked { unneeded.append(.password(access.passwordField)) }
        if access.keyFile != nil, !read.wantedKeyFile { unneeded.append(.keyFile) }
        if !isOneOfTwo, let part = unneeded.first { throw FileAccessProblem.opensNothing(part, path: path) }
        if read.contents.exposesSecrets, input.isReadableByOthers { context.tell(ForeignEvent.exposed(path: path)) }
        return ForeignReading(
            kind: read.kind, contents: read.contents, fileDate: input.date,
            remains: input.path.exact != InputFile.standardInputName.exact, records: read.records, unneeded: unneeded)
    }

    private var reader: ReaderProgram {
        var reader = context.machine.reader
        reader.isSandboxed = !access.withoutSandbox
        return reader
    }

    /// Opens the file or folder, without asking for anything.
    package func input() throws(FileFailure) -> ReaderInput {
        try ReaderInput(context.machine.resolveInput(path), now: context.now)
    }

    /// Returns the format of a regular file, detected from its content; nil if it is unknown, that of an archive, or not
    /// a regular file.
    ///
    /// - Throws: `ForeignFailure` for a file that is known and not read; `ReaderFailure`, `FileFailure`, `StreamFailure`.
    package func formatOfFile() throws -> ForeignKind? {
        let resolved = context.machine.resolve(path)
        guard InputFile.descriptor(path) == nil, Path.isFile(resolved),
            case .file(let file) = try InputFile.open(resolved)
        else { return nil }
        // A file that begins like an archive is one, or a damaged one.
        if try file.startsAsArchive() { return nil }
        // A file of items may be large, but its first line is enough to recognize it.
        if try file.startsAsItems() { return .items }
        do {
            return try reader.recognise(ReaderInput(resolved, now: context.now))
        } catch ForeignFailure.empty, ForeignFailure.unknownFormat, ForeignFailure.unknownColumns,
            ForeignFailure.damaged
        {
            // Reading it says what is wrong with it.
            return nil
        }
    }

    /// True for a regular file whose first line is an item or seems intended as one.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    package func isFileOfItems() throws -> Bool {
        let resolved = context.machine.resolve(path)
        guard path != InputFile.standardInputName, Path.isFile(resolved),
            case .file(let file) = try InputFile.open(resolved)
        else { return false }
        return try file.startsAsItems()
    }

    /// Opens a file or folder that does not begin like an archive; nil if it does, or if it is a pipe, which can be
    /// read only once.
    ///
    /// - Throws: `StreamFailure`.
    package func inputUnlessArchive() throws -> ReaderInput? {
        guard InputFile.descriptor(path) == nil else { return nil }
        do {
            let resolved = context.machine.resolve(path)
            if Path.isFolder(resolved) { return try input() }
            guard Path.isFile(resolved), case .file(let file) = try InputFile.open(resolved) else { return nil }
            return try file.startsAsArchive() ? nil : try input()
        } catch is FileFailure {
            // Opening it as an archive will report the error.
            return nil
        }
    }

    /// Asks for the secrets that open the file.
    private final class AskedSecrets: ForeignSecrets {
        private let reader: ForeignReader
        private(set) var wasAsked = false
        /// Why the key file cannot be opened.
        var keyFileFailure: FileFailure?
        private var progress: (any TaskProgress)?

        private var context: TaskContext { reader.context }

        init(reader: ForeignReader) {
            self.reader = reader
        }

        func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {
            wasAsked = true
            let wanted = WantedSecret(.foreign(what), reader.access.passwordField, from: reader.access.password)
            try context.trying(wanted) { try use($0) }
        }

        var isPasswordGiven: Bool { reader.access.password != nil }

        var agePlugins: (any PluginHost)? { context.plugins }

        func decryptedByGPG(_ path: String, skipping count: Int, limit: Int) throws -> SecretBytes {
            let progress = progress ?? context.asking.follow(.decryptingFiles, total: { nil }, done: nil)
            self.progress = progress
            progress.step()
            return try GPG.decrypted(
                path, skipping: count, environment: context.machine.environment, limit: limit)
        }

        func textOfQRCodes(in path: String, limit: Int) throws -> SecretBytes {
            try QRScanner.text(in: path, environment: context.machine.environment, limit: limit)
        }

        /// The reader has its key file already, unless that cannot be opened.
        func keyFile() throws -> ForeignFile? {
            if let keyFileFailure { throw keyFileFailure }
            return nil
        }

        /// Offers the secrets; none if no keyring is running.
        func keyringSecrets(_ wanted: KeyringItems, _ use: (borrowing SecretBytes) throws -> Void) throws {
            let search = try KeyringSecrets(wanted, in: context.machine)
            if let gap = search.gap, gap != .notRunning { context.tell(ForeignEvent.notSearched(gap)) }
            for found in search.found { try use(found.secret.password) }
        }
    }
}

extension Machine {
    /// The program that reads other programs' files.
    package var reader: ReaderProgram { ReaderProgram(path: readerPath, spoolingIn: temporaryFolder) }
}

extension FileOfItems {
    /// Opens a file of items, one JSON object per line, and tells if others can read it.
    ///
    /// Its secrets are unencrypted, so a pipe is read directly and never copied to disk.
    ///
    /// - Throws: `FileFailure`.
    package static func open(_ path: String, in context: TaskContext) throws -> ItemLines {
        switch try InputFile.open(context.machine.resolveInput(path)) {
        case .file(let file):
            if ForeignFile.isReadableByOthers(try file.status()) {
                context.tell(ForeignEvent.exposed(path: path))
            }
            return try ItemLines(file)
        case .pipe(let pipe): return ItemLines(PipeSource(pipe: pipe), date: context.now)
        }
    }
}
