internal import KCAgeEncryption
internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCForeignFormats
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks

/// Reads other programs' files and folders, as named by the user.
struct ForeignReader {
    let path: String
    let access: FileAccess
    /// Where the source of the password is given.
    let passwordField: SecretField
    let session: Session
    /// True if options that it does not need are no mistake, since another file may need them.
    var isOneOfTwo = false

    /// The result of reading.
    struct Reading {
        let format: any ForeignFormat
        let contents: ForeignContents
        /// When the file was last changed; nil for a folder.
        let fileDate: Timestamp?
        /// True if the input is there as before, as a pipe is not.
        let remains: Bool
        /// The file; nil for a folder, and for a file that was not in memory as a whole.
        var file: ForeignFile?
        /// The options that were given to open it, and that it did not need.
        var unneeded: [OptionName] = []

        /// The format as text, with the details that the file contains about itself.
        var words: String {
            format.title + (contents.details.isEmpty ? "" : ", " + displayed(contents.details, limit: 200))
        }
    }

    init(_ path: String, _ access: FileAccess, _ passwordField: SecretField = .password, in session: Session) {
        self.path = path
        self.access = access
        self.passwordField = passwordField
        self.session = session
        session.subject.file = path
    }

    /// Detects the format, and opens and reads the file to its end.
    ///
    /// - Parameter chosen: the format, if it is known.
    /// - Throws: `ForeignFailure`, `FileFailure`, `StreamFailure`, and errors of reading secrets.
    func read(as chosen: (any ForeignFormat)? = nil) throws -> Reading {
        if chosen == nil, access.firstGiven == nil, let items = try readItems() { return items }
        return try read(input(), as: chosen)
    }

    /// Reads a file of items line by line, so that it is never in memory as a whole; nil for any other input.
    private func readItems() throws -> Reading? {
        guard try isFileOfItems() else { return nil }
        let lines = try FileOfItems.open(path, in: session)
        let progress = Progress("reading items", in: session, reading: lines)
        defer { progress.finish() }
        let items = try session.machine.blamingTemporaryFolder {
            try lines.collected(spoolingIn: session.machine.temporaryFolder, step: progress.step)
        }
        if items.count == 0 { return nil }
        return Reading(
            format: ItemLinesFormat(), contents: ItemLinesFormat.contents(items), fileDate: lines.date, remains: true)
    }

    /// Reads an input that `input` returned.
    ///
    /// - Throws: as `read(as:)`.
    func read(_ input: ForeignInput, as chosen: (any ForeignFormat)? = nil) throws -> Reading {
        let format = try chosen ?? format(of: input)
        let secrets = AskedSecrets(reader: self)
        let contents = try format.read(input, secrets)
        // Whoever names what opens a file means one that is closed.
        var unneeded: [OptionName] = []
        if access.password != nil, !secrets.wasAsked { unneeded.append(passwordField.option) }
        if access.keyFile != nil, !secrets.wasAskedForKeyFile { unneeded.append(.keyFile) }
        if !isOneOfTwo, let option = unneeded.first { throw UsageProblem.opensNothing(option, path: path) }
        if contents.exposesSecrets, input.file?.isReadableByOthers == true {
            session.warn(Self.exposed(path))
        }
        return Reading(
            format: format, contents: contents, fileDate: input.file?.modified,
            remains: input.path.exact != InputFile.standardInputName.exact, file: input.file, unneeded: unneeded)
    }

    /// Warns of a file whose secrets others can read.
    static func exposed(_ path: String) -> String {
        "\(quoted(path)) can be read by others, and holds secrets; if they are real, run 'chmod 600 \(shellWord(path))'"
    }

    /// Opens the file or folder, without asking for anything.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    func input() throws -> ForeignInput {
        let machine = session.machine
        let resolved = path == InputFile.standardInputName ? path : machine.resolve(path)
        if Path.isFolder(resolved) { return ForeignInput(path: resolved, .folder) }
        return try machine.foreignFile(resolved, now: session.now)
    }

    /// Returns the format of a regular file, detected from its content; nil if it is unknown, that of an archive, or not
    /// a regular file.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    func formatOfFile() throws -> (any ForeignFormat)? {
        let resolved = session.machine.resolve(path)
        guard path != InputFile.standardInputName, InputFile.descriptor(path) == nil, Path.isFile(resolved),
            case .file(let file) = try InputFile.open(resolved)
        else { return nil }
        // What begins like an archive is one, or a damaged one.
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
    func isFileOfItems() throws -> Bool {
        let resolved = session.machine.resolve(path)
        guard path != InputFile.standardInputName, Path.isFile(resolved),
            case .file(let file) = try InputFile.open(resolved)
        else { return false }
        return try file.startsAsItems()
    }

    /// Opens a file or folder that does not begin like an archive; nil if it does, or if it is a pipe, which can be
    /// read only once.
    ///
    /// - Throws: `StreamFailure`.
    func inputUnlessArchive() throws -> ForeignInput? {
        guard path != InputFile.standardInputName, InputFile.descriptor(path) == nil else { return nil }
        do {
            let resolved = session.machine.resolve(path)
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
            // What is wrong with it in other formats does not matter.
            return nil
        }
    }

    /// Asks for the secrets that open the file.
    private final class AskedSecrets: AgePluginSecrets {
        private let reader: ForeignReader
        private(set) var wasAsked = false
        private(set) var wasAskedForKeyFile = false
        private var progress: Progress?

        init(reader: ForeignReader) {
            self.reader = reader
        }

        func password(_ what: String, _ use: (borrowing SecretBytes) throws -> Void) throws {
            wasAsked = true
            let wanted = WantedSecret(.foreign(what), reader.passwordField, from: reader.access.password)
            try reader.session.trying(wanted) { try use($0) }
        }

        var isPasswordGiven: Bool { reader.access.password != nil }

        var agePlugins: any PluginHost { reader.session.plugins }

        func decryptedByGPG(_ path: String, skipping count: Int, limit: Int) throws -> SecretBytes {
            let progress = progress ?? Progress("decrypting files", of: nil, in: reader.session)
            self.progress = progress
            progress.step()
            return try GPG.decrypted(
                path, skipping: count, environment: reader.session.machine.environment, limit: limit)
        }

        func textOfQRCodes(in path: String, limit: Int) throws -> SecretBytes {
            try QRScanner.text(in: path, environment: reader.session.machine.environment, limit: limit)
        }

        func keyFile() throws -> ForeignFile? { try keyInput()?.file }

        func keyInput() throws -> ForeignInput? {
            wasAskedForKeyFile = true
            guard let path = reader.access.keyFile else { return nil }
            return try reader.session.machine.foreignFile(
                path == InputFile.standardInputName ? path : reader.session.machine.resolve(path),
                now: reader.session.now)
        }

        func keyringSecrets(_ wanted: KeyringItems, _ use: (borrowing SecretBytes) throws -> Void) throws {
            for secret in try KeyringSecrets.find(wanted, in: reader.session) { try use(secret.password) }
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
