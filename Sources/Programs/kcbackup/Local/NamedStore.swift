internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCItemStores
internal import KCReportText

/// A store of items as the user named it.
///
/// Every kind can be read. A kind that can also be changed, or restored into, says how; one that does not is only read.
protocol NamedStore {
    /// The name, as `--keychain` takes it, or the path of a file.
    var name: String { get }

    /// The store for use in a sentence.
    var words: String { get }

    var kind: StoreKind { get }

    /// The kind and the name that are recorded in its archives.
    var recorded: (kind: String, name: String) { get }

    /// The first part of its archives' names.
    var stem: String { get }

    /// The first part of its archives' names where nothing of `stem` can be in the name of a file.
    var plainStem: String { get }

    /// Opens the store for reading, with options that fit its kind; secrets that need a passcode cannot be read yet.
    func opened(_ options: StoreOptions, in session: Session) throws -> OpenStore

    /// Opens the store for changes, with options that fit its kind.
    func changeable(_ options: StoreOptions, in session: Session) throws -> any ItemStore

    /// Prepares to restore into the store, or to take changes back in it, with options that fit its kind.
    func restorable(_ options: StoreOptions, in session: Session) throws -> any RestorableStore

    /// Checks that the store has its place, before anything is made for a backup of it.
    ///
    /// - Throws: `FileFailure` (`notFound`).
    func requirePlace(in session: Session) throws(FileFailure)

    /// Finds what would make a job fail that backs up the store.
    func examine(_ request: BackupRequest, of job: String, in session: Session) throws
}

/// A store that was opened for reading.
struct OpenStore {
    let items: any ReadableStore
    /// What it is and has, above a list of its items.
    var title: [String] = []
    /// The same as members of a JSON object.
    var members: [(String, JSONValue)] = []
    /// What a file of another program has, if its items were told.
    var holds: JSONValue?
    /// What the home has, if its files were told.
    var home: JSONValue?
    /// True for all collections of the desktop keyring, of which the user could have named one.
    var isEveryCollection = false
}

extension NamedStore {
    /// Opens the store for reading.
    ///
    /// - Throws: `UsageProblem` for an option that is not for its kind; the errors of opening it.
    func open(_ options: StoreOptions, in session: Session) throws -> OpenStore {
        try kind.check(options.given)
        return try opened(options, in: session)
    }

    /// Opens the store for changes.
    ///
    /// - Throws: as `open`, and `UsageProblem.notAKeychain`.
    func openForChange(_ options: StoreOptions, in session: Session) throws -> any ItemStore {
        try kind.check(options.given)
        return try changeable(options, in: session)
    }

    /// - Throws: `UsageProblem.notAKeychain`.
    func changeable(_ options: StoreOptions, in session: Session) throws -> any ItemStore {
        throw UsageProblem.notAKeychain
    }

    /// - Throws: `UsageProblem.notAKeychain`.
    func restorable(_ options: StoreOptions, in session: Session) throws -> any RestorableStore {
        throw UsageProblem.notAKeychain
    }

    /// Opening it says what is missing, and makes nothing.
    func requirePlace(in session: Session) {}

    /// Nothing can be known in advance.
    func examine(_ request: BackupRequest, of job: String, in session: Session) {}

    /// The name as `--keychain` takes it in hints; nil if none is needed.
    ///
    /// - Parameter given: what the user named.
    func option(given: String?) -> String? { kind == .keychain ? given : name }

    /// Returns the source recorded in its archives.
    func archiveSource() throws(ArchiveFailure) -> ArchiveSource {
        try ArchiveSource(kind: recorded.kind, name: recorded.name)
    }

    /// The first part of its archives' names, made safe for a file name: visible, on one line, and not an option.
    var fileStem: String { ArchiveName.fileStem(of: stem) ?? plainStem }
}

extension Session {
    /// Says how much a store has and could not show, unless it was said before.
    func tell(_ shortfall: Shortfall) -> ExitStatus {
        if shortfall.damaged > 0 {
            warn("\(counted(shortfall.damaged, "item")) cannot be read: the keychain is damaged")
        }
        return shortfall.isNone ? .ok : .incomplete
    }
}
