internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCHomeFiles
internal import KCItemSources
internal import KCItemStores
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks

extension NamedStore {
    /// The store for use in a sentence.
    var words: String { kind == .file ? quoted(name) : storeWords(name) }

    /// Opens the store for reading, which the run is about from then on.
    ///
    /// - Throws: `StoreUnfit` for an option that is not for its kind; the errors of opening it.
    func open(_ options: StoreOptions, in session: Session) throws -> OpenStore {
        try begin(options, in: session)
        if kind == .file { session.subject.file = name }
        return try opened(options.access, for: options.use, in: session.context)
    }

    /// Opens the store for changes, which the run is about from then on.
    ///
    /// - Throws: as `open`, and `StoreUnfit`.
    func openForChange(_ options: StoreOptions, in session: Session) throws -> any ItemStore {
        try begin(options, in: session)
        return try changeable(options.access, in: session.context)
    }

    /// Refuses options that are not for the kind of the store, and names it in failures.
    func begin(_ options: StoreOptions, in session: Session) throws(StoreUnfit) {
        try kind.check(options.demands)
        session.subject.store = kind == .file ? FileOfItems.name(name) : name
    }

    /// The name as `--keychain` takes it in hints; nil if none is needed.
    ///
    /// - Parameter given: what the user named.
    func option(given: String?) -> String? { kind == .keychain ? given : name }
}

extension OpenStore {
    /// The kind and contents of the store, above a list of its items.
    func title(in session: Session) -> [String] {
        switch contents {
        case .ofKeychain, .ofItemLines: []
        case .ofKeyring(let keyring, let count, let collections):
            ["\(keyring.isAll ? "desktop keyring" : keyring.words): \(counted(count, "item"))"]
                + collections.map(\.words)
        case .ofHome(let holdings): HomeText(holdings, session).lines
        case .ofFile(let reading, let path):
            ImportText(path: path, reading: reading, use: .source, session: session).contentLines
        }
    }

    /// The same as members of a JSON object.
    func members(in session: Session) -> [(String, JSONValue)] {
        switch contents {
        case .ofKeychain, .ofItemLines: []
        case .ofKeyring(let keyring, _, let collections):
            [("keychain", .text(keyring.name)), ("collections", .list(collections.map(\.json)))]
        case .ofHome(let holdings): [("home", HomeText(holdings, session).json)]
        case .ofFile(let reading, let path):
            [("file", .text(path)), ("format", .text(reading.format.name)), ("holds", reading.contents.json)]
        }
    }

    /// The contents of a file of another program, or of the home, if they were told.
    func holdings(in session: Session) -> [(String, JSONValue?)] {
        switch contents {
        case .ofHome(let holdings): [("home", HomeText(holdings, session).json)]
        case .ofFile(let reading, _): [("holds", reading.contents.json)]
        case .ofKeychain, .ofKeyring, .ofItemLines: []
        }
    }

    /// True for all collections of the desktop keyring, of which the user could have named one.
    var isEveryCollection: Bool { if case .ofKeyring(let keyring, _, _) = contents { keyring.isAll } else { false } }
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
