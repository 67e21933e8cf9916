internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCKeychainKeys
internal import KCReportText
internal import KCSecretService

/// What is to be backed up, as named by the user.
enum BackupSubject {
    case keychain(LocalKeychain)
    /// `file:PATH`: a file of items or another program's file; its items need not be in a keychain.
    case items(path: String)
    /// `secret-service:`: the desktop keyring.
    case desktop(DesktopKeyring)

    /// Parses a name; nil means the default keychain.
    ///
    /// - Throws: `LocalKeychainFailure`, `UsageProblem` (`empty`).
    init(_ given: String?, in world: World) throws {
        if let path = given.flatMap(FileOfItems.path) {
            if path.isEmpty { throw UsageProblem.empty(.keychain) }
            self = .items(path: path)
        } else if let keyring = DesktopKeyring(given) {
            self = .desktop(keyring)
        } else {
            self = .keychain(try LocalKeychain(given, in: world))
        }
    }

    /// The name of the subject: a keychain's name as the user typed it, or a file's path.
    var name: String {
        switch self {
        case .keychain(let local): local.name
        case .items(let path): path
        case .desktop(let keyring): keyring.name
        }
    }

    /// The subject as text.
    var words: String {
        switch self {
        case .keychain(let local): "keychain \(quoted(local.name))"
        case .items(let path): quoted(path)
        case .desktop(let keyring): keyring.words
        }
    }

    /// Returns the source recorded in its archives.
    func archiveSource() throws(ArchiveFailure) -> ArchiveSource {
        switch self {
        case .keychain(let local) where local.isNamed:
            try ArchiveSource(kind: ArchiveSource.keychain, name: local.name)
        case .keychain: try ArchiveSource(kind: ArchiveSource.keychainFile, name: stem)
        case .items(let path): try ArchiveSource(kind: ArchiveSource.items, name: Path.split(path).name)
        case .desktop(let keyring): try ArchiveSource(kind: DesktopKeyring.kind, name: keyring.label)
        }
    }

    /// The first part of its archives' names.
    var stem: String {
        if case .desktop(let keyring) = self {
            return DesktopKeyring.kind + (keyring.label.isEmpty ? "" : "-" + keyring.label)
        }
        return ArchiveName.stem(ofFile: Path.split(name).name)
    }

    /// The first part of its archives' names, made safe for a file name: visible, on one line, and not an option.
    var fileStem: String {
        var text = ""
        // The label of a collection can contain a slash.
        for scalar in stem.unicodeScalars {
            text.unicodeScalars.append(isVisible(scalar) && scalar != "/" ? scalar : "_")
        }
        var fit = text.drop { ".- ".contains($0) }
        // The date, a number and the extension follow, and a file name has at most 255 bytes.
        while fit.utf8.count > 200 { fit.removeLast() }
        if !fit.isEmpty { return String(fit) }
        switch self {
        case .keychain: return "keychain"
        case .items: return "items"
        case .desktop: return DesktopKeyring.kind
        }
    }

    /// Opens the subject; only secrets that need no passcode can be read.
    func open(_ options: CreateOptions, _ unlocking: UnlockOptions, in session: Session) throws -> BackupSource {
        if options.escrow != nil {
            switch self {
            case .keychain: break
            case .items: throw UsageProblem.needsKeychain(.escrow)
            case .desktop: throw UsageProblem.notOfDesktop(.escrow)
            }
        }
        if case .desktop = self {
        } else {
            if options.skipLocked { throw UsageProblem.needsDesktop(.skipLocked) }
            if unlocking.unlock { throw UsageProblem.needsDesktop(.unlock) }
        }
        switch self {
        case .keychain(let local):
            if let option = options.foreign.firstGiven { throw UsageProblem.needsFile(option) }
            return .keychain(try options.keychain.passcodeOption.open(local, in: session))
        case .desktop(let keyring):
            if let option = options.foreign.firstGiven { throw UsageProblem.needsFile(option) }
            let client = try keyring.connect(unlocking, passcode: options.keychain.passcode, in: session)
            let source = try keyring.read(client, needsAll: !options.skipLocked, missing: .ofArchive, in: session)
            if source.collections.isEmpty, source.unreadableCount == 0 { throw SecretServiceFailure.noCollections }
            return .desktop(source)
        case .items(let path):
            if options.keychain.passcode != nil { throw UsageProblem.needsKeychain(.passcode) }
            try options.foreign.check(with: path)
            let reader = ForeignReader(path, options.foreign, in: session)
            if options.foreign.firstGiven == nil, try reader.isFileOfItems() {
                return .items(try FileOfItems.open(path, in: session).collected())
            }
            let reading = try reader.read()
            try ImportText(path: path, reading: reading, use: .source, session: session).tellContents()
            return .foreign(reading)
        }
    }
}

/// False for characters that file listings show as nothing, or as something else.
private func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    // Joiners are part of the spelling in some languages.
    case .format: scalar == "\u{200c}" || scalar == "\u{200d}"
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: false
    default: true
    }
}

/// An opened subject of a backup.
enum BackupSource {
    case keychain(Keychain)
    /// A keychain whose secrets are opened with an escrow key, for this backup only.
    case escrowed(EscrowedKeychain)
    case items(CollectedItems)
    case desktop(ServiceSource)
    case foreign(ForeignReader.Reading)

    /// Returns the number of items.
    func itemCount() throws -> Int {
        switch self {
        case .keychain(let keychain): try keychain.itemCount()
        case .escrowed(let keychain): try keychain.itemCount()
        case .items(let items): items.count
        case .desktop(let items): items.count
        case .foreign(let reading): reading.contents.items.count
        }
    }

    /// The number of unreadable items that were named when the source was opened, individually or by collection.
    ///
    /// They are the first of those that a report has as damaged.
    var toldCount: Int {
        switch self {
        case .keychain, .escrowed, .items: 0
        case .desktop(let items): items.unreadableCount
        case .foreign(let reading): reading.contents.refused.count
        }
    }

    /// Makes an encrypted archive of the source.
    func encrypted(
        _ backup: CreateBackup, with keys: ArchiveKeys, bound: @escaping (Item) -> Void, step: @escaping () -> Void
    ) throws -> CreateReport {
        switch self {
        case .keychain(let keychain): try backup.encrypted(keychain, with: keys, bound: bound, step: step)
        case .escrowed(let keychain): try backup.encrypted(keychain, with: keys, bound: bound, step: step)
        case .items(let items): try backup.encrypted(items, with: keys, bound: bound, step: step)
        case .desktop(let items): try backup.encrypted(items, with: keys, bound: bound, step: step)
        case .foreign(let reading): try backup.encrypted(reading.contents, with: keys, bound: bound, step: step)
        }
    }
}
