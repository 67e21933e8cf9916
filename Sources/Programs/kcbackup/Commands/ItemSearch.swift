internal import KCByteStreams
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCStoreTasks
internal import KCTerminal

/// The items of a store that pass a filter, first without their secrets, and then with those that are shown.
final class ItemSearch {
    /// Whose secrets are read.
    enum Reading {
        case none
        case all
        /// The secrets of one-time passwords or, if none is marked as one, of all items.
        case codes
    }

    private let store: any ReadableStore
    private let filter: ItemFilter
    private let reading: Reading
    private let session: Session
    private let found: ListedItems
    /// The items that the store has and cannot show.
    let shortfall: Shortfall
    /// The number of items that are shown.
    private(set) var count: Int
    private var protections: Set<Protection> = []
    private var takesMarkedOnly = false

    /// Finds the items, for which no secret is needed.
    init(_ store: any ReadableStore, _ filter: ItemFilter, reading: Reading, in session: Session) throws {
        (self.store, self.filter, self.reading, self.session) = (store, filter, reading, session)
        if reading == .none { try store.open(.withoutQuestion) }
        let log = ItemLog(spoolingIn: session.machine.temporaryFolder)
        shortfall = try store.list(filter, withSecrets: false, in: log)
        found = try log.finish()
        count = found.count
        if reading == .none { return }
        var (all, marked): (Set<Protection>, Set<Protection>) = ([], [])
        var markedCount = 0
        try found.forEach { item, _ in
            all.insert(item.protection)
            guard item.isMarkedAsOneTimePassword else { return }
            marked.insert(item.protection)
            markedCount += 1
        }
        takesMarkedOnly = reading == .codes && markedCount > 0
        protections = takesMarkedOnly ? marked : all
        if takesMarkedOnly { count = markedCount }
    }

    /// True if none was found, nor could be among those that cannot be shown.
    var isEmpty: Bool { found.isEmpty && shortfall.isNone }

    /// Makes the secrets that are shown readable, for which the user may be asked.
    func open() throws { if reading != .none, !found.isEmpty { try store.open(.of(protections)) } }

    /// The items that are shown, with their secrets if these are read, each with the number of its `ListedSeal`.
    func items() throws -> ListedItems {
        if reading == .none || found.isEmpty { return found }
        let log = ItemLog(spoolingIn: session.machine.temporaryFolder)
        _ = try store.list(filter, withSecrets: true, in: log)
        let items = try log.finish()
        if !takesMarkedOnly { return items }
        let marked = ItemLog(spoolingIn: session.machine.temporaryFolder)
        try items.forEachSecret { item, number, secret in
            if item.isMarkedAsOneTimePassword { try marked.add(item, number: number, secret: SecretBytes(secret)) }
        }
        return try marked.finish()
    }
}

extension Item {
    /// True if its kind says that it is a one-time password.
    fileprivate var isMarkedAsOneTimePassword: Bool { attributes.text(.desc)?.exact == "one-time password" }
}
