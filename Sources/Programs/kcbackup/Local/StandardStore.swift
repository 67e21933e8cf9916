internal import KCAsking
internal import KCItemStores
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks

extension StoreDoubt {
    func words(keychain: String) -> String {
        switch self {
        case .bothHaveItems: "keychain \(quoted(keychain)) and the desktop keyring both have items"
        case .keychainIsEmpty: "keychain \(quoted(keychain)) is empty, and the desktop keyring has items"
        case .desktopIsEmpty: "the desktop keyring is empty, and keychain \(quoted(keychain)) has items"
        }
    }
}

extension Session {
    /// The store that is named, or the one that is used where none is.
    ///
    /// - Throws: as `StandardStore.init` and `StoreChoice.named`.
    func store(_ given: String?) throws -> any NamedStore {
        guard let given else { return try StandardStore(in: machine).store }
        return try StoreChoice.named(given, in: machine)
    }
}
