internal import KCAsking
internal import KCItemStores
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension Session {
    /// The store that is named, or the one that is used where none is.
    ///
    /// - Throws: as `StandardStore.init` and `StoreChoice.named`.
    func store(_ given: String?) throws -> any NamedStore {
        guard let given else { return try StandardStore(in: machine).store }
        return try StoreChoice.named(given, in: machine)
    }
}
