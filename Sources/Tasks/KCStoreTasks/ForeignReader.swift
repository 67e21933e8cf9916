internal import KCAgeEncryption
internal import KCAsking
internal import KCByteStreams
internal import KCForeignFormats
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
    package let format: any ForeignFormat
    package let contents: ForeignContents
    /// When the file was last changed; nil for a folder.
    package let fileDate: Timestamp?
    /// True if the input is there as before, as a pipe is not.
    package let remains: Bool
    /// The file; nil for a folder, and for a file that was not in memory as a whole.
    package var file: ForeignFile?
    /// The options that were given to open it, and were not needed.
    package var unneeded: [FileAccess.Part] = []
}

/// Reads other programs' files and folders, as named by the user.
package struct ForeignReader {
    package let path: String
    package let access: FileAccess
    private let context: TaskContext
    /// True if what it does not need is no mistake, since another file may need it.
    package var isOneOfTwo = false

    package init(_ path: String, _ access: FileAccess, in context: TaskContext) {
        self.path = path
        self.access = access
        self.context = context
    }

    /// Detects the format, and opens and reads the file to its end.
    ///
    /// - Parameter chosen: the format, if it is known.
    /// - Throws: `ForeignFailure`, `FileAccessProblem`, `FileFailure`, `StreamFailure`, and errors of reading secrets.
    package func read(as chosen: (any ForeignFormat)? = nil) throws -> ForeignReading {
        if chosen == nil, !access.isGiven, let items = try readItems() { return items }
        return try read(input(), as: chosen)
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
            format: ItemLinesFormat(), contents: ItemLinesFormat.contents(items), fileDate: lines.date, remains: true)
    }

    /// Reads an input that `input` returned.
    ///
    /// - Throws: as `read(as:)`.
    package func read(_ input: ForeignInput, as chosen: (any ForeignFormat)? = nil) throws -> ForeignReading {
        let format = try chosen ?? format(of: input)
        let secrets = AskedSecrets(reader: self)
        let contents = try format.read(input, secrets)
        // Whoever names what opens a file means one that is closed.
        var unneeded: [FileAccess.Part] = []
        if access.password != nil, !secrets.wasAsked { unneeded.append(.password(access.passwordField)) }
        if access.keyFile != nil, !secrets.wasAskedForKeyFile { unneeded.append(.keyFile) }
        if !isOneOfTwo, let part = unneeded.first { throw FileAccessProblem.opensNothing(part, path: path) }
        if contents.exposesSecrets, input.file?.isReadableByOthers == true {
            context.tell(ForeignEvent.exposed(path: path))
        }
        return ForeignReading(
            format: format, contents: contents, fileDate: input.file?.modified,
            remains: input.path.exact != InputFile.standardInputName.exact, file: input.file, unneeded: unneeded)
    }

    /// Opens the file or folder, without asking for anything.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    package func input() throws -> ForeignInput {
        let machine = context.machine
        let resolved = machine.resolveInput(path)
        if Path.isFolder(resolved) { return ForeignInput(path: resolved, .folder) }
        return try machine.foreignFile(resolved, now: context.now)
    }

    /// Returns the format of a regular file, detected from its content; nil if it is unknown, that of an archive, or not
    /// a regular file.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    package func formatOfFile() throws -> (any ForeignFormat)? {
        let resolved = context.machine.resolve(path)
        guard InputFile.descriptor(path) == nil, Path.isFile(resolved),
            case .file(let file) = try InputFile.open(resolved)
        else { return nil }
        // A file that begins like an archive is one, or a damaged one.
        if try file.startsAsArchive() { return nil }
        // A file of items may be large, but its first line is enough to recognize it.
        if try file.startsAsItems() { return ItemLinesFormat() }
        do {
            return try KnownFormats.recognise(ForeignInput(path: resolved, .file(ForeignFile(reading: file))))
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
    package func inputUnlessArchive() throws -> ForeignInput? {
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

    private func format(of input: ForeignInput) throws -> any ForeignFormat {
        if input.file?.isBlank == true { throw ForeignFailure.empty }
        guard let format = try access.knownFormat() else { return try KnownFormats.recognise(input) }
        guard try format.recognises(input) else {
            if let other = try other(of: input) {
                throw ForeignFailure.notOfFormat(title: format.title, found: other.title)
            }
            if let refused = try KnownFormats.refusal(of: input, as: format) { throw refused.failure }
            throw try format.problem(with: input) ?? ForeignFailure.notOfFormat(title: format.title)
        }
        return format
    }

    /// A format that recognizes an input that is not of the requested one.
    private func other(of input: ForeignInput) throws -> (any ForeignFormat)? {
        do {
            return try KnownFormats.all.first { try $0.recognises(input) }
        } catch is ForeignFailure {
            // A problem with the input in another format does not matter.
            return nil
        }
    }

    /// Asks for the secrets that open the file.
    private final class AskedSecrets: AgePluginSecrets {
        private let reader: ForeignReader
        private(set) var wasAsked = false
        private(set) var wasAskedForKeyFile = false
        private var progress: (any TaskProgress)?

        private var context: TaskContext { reader.context }

        init(reader: ForeignReader) {
            self.reader = reader
        }

        func password(_ what: String, _ use: (borrowing SecretBytes) throws -> Void) throws {
            wasAsked = true
            let wanted = WantedSecret(.foreign(what), reader.access.passwordField, from: reader.access.password)
            try context.trying(wanted) { try use($0) }
        }

        var isPasswordGiven: Bool { reader.access.password != nil }

        var agePlugins: any PluginHost { context.plugins }

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

        func keyFile() throws -> ForeignFile? { try keyInput()?.file }

        func keyInput() throws -> ForeignInput? {
            wasAskedForKeyFile = true
            guard let path = reader.access.keyFile else { return nil }
            return try context.machine.foreignFile(context.machine.resolveInput(path), now: context.now)
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
    /// Reads a file or a pipe into wiped memory.
    ///
    /// - Parameter now: the date to use for data from a pipe.
    fileprivate func foreignFile(_ path: String, now: Timestamp) throws -> ForeignInput {
        switch try InputFile.open(path, takesNothing: true) {
        case .file(let file): return ForeignInput(path: path, .file(try ForeignFile(reading: file)))
        case .pipe(let pipe):
            let name = Path.split(path).name
            let file = ForeignFile(
                name: name, try readPipe(pipe, named: path, limit: ForeignFile.sizeLimit), modified: now)
            // A pipe has no files next to it.
            return ForeignInput(path: InputFile.standardInputName, .file(file))
        }
    }
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
