internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCSecretService

/// What items are read from to be taken elsewhere, as the user named it.
protocol BackupSubject {
    /// The name, as `--keychain` takes it, or the path of a file.
    var name: String { get }

    /// The subject as text.
    var words: String { get }

    /// The kind and the name that are recorded in its archives.
    var recorded: (kind: String, name: String) { get }

    /// The first part of its archives' names.
    var stem: String { get }

    /// The first part of its archives' names where nothing of `stem` can be in the name of a file.
    var plainStem: String { get }

    var kind: SubjectKind { get }

    /// Opens the subject, with options that fit its kind; secrets that need a passcode cannot be read yet.
    func opened(_ options: SubjectOptions, in session: Session) throws -> OpenSubject
}

/// A subject that was opened.
struct OpenSubject {
    let source: any BackupSource
    /// What it is and has, above a list of its items.
    var title: [String] = []
    /// The same as members of a JSON object.
    var members: [(String, JSONValue)] = []
    /// What a file of another program has, if its items were told.
    var holds: JSONValue?
}

extension BackupSubject {
    /// Opens the subject.
    ///
    /// - Throws: `UsageProblem` for an option that is not for its kind; the errors of opening it.
    func open(_ options: SubjectOptions, in session: Session) throws -> OpenSubject {
        try kind.check(options.given)
        return try opened(options, in: session)
    }

    /// Returns the source recorded in its archives.
    func archiveSource() throws(ArchiveFailure) -> ArchiveSource {
        try ArchiveSource(kind: recorded.kind, name: recorded.name)
    }

    /// The first part of its archives' names, made safe for a file name: visible, on one line, and not an option.
    var fileStem: String { ArchiveName.fileStem(of: stem) ?? plainStem }
}

extension LocalKeychain: BackupSubject {
    var words: String { "keychain \(quoted(name))" }
    var recorded: (kind: String, name: String) {
        isNamed ? (ArchiveSource.keychain, name) : (ArchiveSource.keychainFile, stem)
    }
    var stem: String { ArchiveName.stem(ofFile: Path.split(name).name) }
    var plainStem: String { "keychain" }
    var kind: SubjectKind { .keychain }

    func opened(_ options: SubjectOptions, in session: Session) throws -> OpenSubject {
        let keychain = try options.passcodeOption.open(self, in: session)
        return OpenSubject(
            source: KeychainBackup(keychain) { needsSecrets in
                if needsSecrets || options.passcodeOption.passcode != nil || options.escrow != nil {
                    return try options.unlocked(keychain, in: session)
                }
                try session.world.unlocked.resume(keychain)
                return keychain
            })
    }
}

extension DesktopKeyring: BackupSubject {
    var recorded: (kind: String, name: String) { (ArchiveSource.desktopKeyring, label) }
    var plainStem: String { ArchiveSource.desktopKeyring }
    var kind: SubjectKind { .keyring }

    func opened(_ options: SubjectOptions, in session: Session) throws -> OpenSubject {
        let client = try connect(options.unlocking, passcode: options.passcodeOption.passcode, in: session)
        let source: ServiceSource
        do {
            source = try read(
                client, needsAll: options.skipLocked != true, missing: options.isForArchive ? .ofArchive : .ofList,
                in: session)
        } catch SecretServiceFailure.locked(let labels) where options.skipLocked == nil {
            throw SecretServiceFailure.lockedTarget(labels)
        }
        if options.isForArchive, source.collections.isEmpty, source.unreadableCount == 0 {
            throw SecretServiceFailure.noCollections
        }
        let title = label.isEmpty ? "Secret Service" : words
        return OpenSubject(
            source: KeyringBackup(source, identity: name),
            title: ["\(title): \(counted(source.count, "item"))"] + source.collections.map(\.words),
            members: [("keychain", .text(name)), ("collections", .list(source.collections.map(\.json)))])
    }
}

/// `file:PATH`: a file of items or another program's file; its items need not be in a keychain.
struct FileSubject: BackupSubject {
    let path: String

    var name: String { path }
    var words: String { quoted(path) }
    var recorded: (kind: String, name: String) { (ArchiveSource.items, Path.split(path).name) }
    var stem: String { ArchiveName.stem(ofFile: Path.split(path).name) }
    var plainStem: String { "items" }
    var kind: SubjectKind { .file }

    func opened(_ options: SubjectOptions, in session: Session) throws -> OpenSubject {
        let (folder, name) = Path.split(session.world.resolve(path))
        let identity = "\(Path.real(folder) ?? folder)/\(name)"
        try options.foreign.check(with: path)
        let reader = ForeignReader(path, options.foreign, in: session)
        if options.foreign.firstGiven == nil, try reader.isFileOfItems() {
            let items = try FileOfItems.open(path, in: session).collected()
            return OpenSubject(
                source: FileBackup(
                    ForeignContents(items: items, kind: "item", isPlaintext: true), identity: identity))
        }
        let text = ImportText(path: path, reading: try reader.read(), use: .source, session: session)
        try text.tellContents()
        return text.subject(identity: identity)
    }
}

extension ImportText {
    /// The file as a source of items.
    func subject(identity: String) -> OpenSubject {
        let holds = reading.contents.json
        return OpenSubject(
            source: FileBackup(reading.contents, identity: identity), title: contentLines,
            members: [("file", .text(path)), ("format", .text(reading.format.name)), ("holds", holds)], holds: holds)
    }
}
