internal import KCAsking
internal import KCBackupTasks
internal import KCByteStreams
internal import KCHomeFiles
internal import KCItemSources
internal import KCItemStores
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension NamedStore {
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
        session.subject.store = storeName
    }

    /// The name as `--keychain` takes it in hints; nil if none is needed.
    ///
    /// - Parameter given: what the user named.
    func option(given: String?) -> String? { kind == .keychain ? given : storeName }
}
