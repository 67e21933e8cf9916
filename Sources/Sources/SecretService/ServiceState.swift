internal import ByteStreams
internal import ItemSources
internal import KeychainModel

/// The contents of a service during a restore.
final class ServiceState: ItemWriter {
    /// An item of the service.
    private struct Entry {
        let found: FoundItem
        let item: Item
        /// True if it is deleted at the end, unless it is written before.
        var isLeaving = false
    }

    /// The destination of an item, and its form there.
    private struct Goal {
        let place: CollectionName
        let item: ServiceItem
    }

    /// A collection, with its object path if it exists.
    private struct Place {
        var path: String?
        var isLocked: Bool
    }

    private let client: SecretServiceClient
    private let contents: ServiceContents
    private let making: ServiceTarget.Making
    private var entries: [Entry] = []
    private var byUUID: [ItemUUID: Int] = [:]
    private var places: [CollectionName: Place] = [:]
    private let chosen: CollectionName?
    private var matches: ServiceMatches
    /// The collections that selected items go to and that do not exist yet.
    private var missing: Set<CollectionName> = []
    private var outbox: ServiceOutbox

    /// The number of items written or removed.
    var written: Int { outbox.written }

    init(
        _ client: SecretServiceClient, _ contents: ServiceContents, scope: ServiceScope, making: ServiceTarget.Making
    ) throws {
        self.client = client
        self.contents = contents
        self.making = making
        let mayAsk = if case .byPrompt = making { true } else { false }
        outbox = ServiceOutbox(client, mayAsk: mayAsk)
        for collection in contents.collections {
            places[collection.name] = Place(path: collection.path, isLocked: collection.isLocked)
        }
        for case .lockedItem(let collection, _) in contents.unreadable {
            for name in places.keys where name.hasLabel(collection) { places[name]?.isLocked = true }
        }
        if case .collection(let name) = scope {
            do {
                chosen = try client.collections(in: scope).0.first?.name
            } catch SecretServiceFailure.noCollection {
                chosen = CollectionName(label: name)
            }
        } else {
            chosen = nil
        }
        matches = try ServiceMatches(
            chosen: chosen, standard: contents.collections.first(where: \.isDefault)?.name,
            known: contents.collections.map(\.name))
        for (found, given) in contents.drafts {
            var draft = given
            // If GNOME Keyring dies, it leaves items whose secret was not yet written. The date makes them older than
            // any archive.
            if found.secret.isEmpty {
                for code in [AttributeCode.cdat, .mdat] { draft.attributes[code] = .date(.reference) }
            }
            do throws(ItemProblem) {
                let item = try draft.completed(now: .reference, secretSize: found.secret.count)
                byUUID[item.uuid] = entries.count
                entries.append(Entry(found: found, item: item))
            } catch {
                // No archive has an item that exceeds a limit, so nothing conflicts with it.
                continue
            }
            try contents.secrets.withBytes { bytes in
                try matches.addExisting(
                    found.item, in: contents.collections[found.collection].name,
                    secret: bytes.extracting(found.secret))
            }
        }
    }

    // MARK: ExistingItems

    var isEmpty: Bool { false }

    var needsAnnouncements: Bool { true }

    func announce(_ item: Item, secret: borrowing SecretBytes, hasSecret: Bool) throws {
        guard let service = wanted(item) else { return }
        try secret.withBytes { bytes in
            try matches.add(item, as: identified(service), secret: bytes, hasSecret: hasSecret)
        }
    }

    func hasPlace(for item: Item) -> Bool { ServiceMapping.serviceItem(of: item) != nil }

    func item(withKeyOf item: Item) throws -> Item? {
        _ = try goal(of: item)
        return matches.index(of: item).map { entries[$0].item }
    }

    /// Always nil: a UUID is derived from collection and attributes, so it identifies no other item than the key does.
    func item(withUUID uuid: ItemUUID) -> Item? { nil }

    func holds(_ item: Item, as existing: Item) -> Bool {
        guard let service = wanted(item), let index = byUUID[existing.uuid] else { return false }
        return entries[index].found.item.holds(service)
    }

    func secret(of existing: Item, equals secret: borrowing SecretBytes, in form: SecretForm) -> Bool {
        guard let index = byUUID[existing.uuid] else { return false }
        return isSecret(of: entries[index], secret)
    }

    private func isSecret(of entry: Entry, _ secret: borrowing SecretBytes) -> Bool {
        let range = entry.found.secret
        guard secret.count == range.count else { return false }
        return contents.secrets.withBytes { bytes in
            secret.withBytes { other in
                var difference: UInt8 = 0
                for index in other.indices { difference |= other[index] ^ bytes[range.lowerBound + index] }
                return difference == 0
            }
        }
    }

    func localItems(_ local: LocalItems, _ body: (Item) throws -> Void) throws {
        if let locked = places.first(where: { $0.value.isLocked && isInScope($0.key) }) {
            throw SecretServiceFailure.locked([locked.key.label])
        }
        let items = entries.filter { isInScope($0) && local.includes($0.item) }.map(\.item)
        for item in items.sorted(by: { $0.precedes($1) }) { try body(item) }
    }

    private func isInScope(_ entry: Entry) -> Bool { isInScope(contents.collections[entry.found.collection].name) }

    private func isInScope(_ name: CollectionName) -> Bool { chosen == nil || name == chosen }

    /// The form of an item in this service; nil if it has no place there.
    private func wanted(_ item: Item) -> ServiceItem? {
        guard let service = ServiceMapping.serviceItem(of: item) else { return nil }
        switch client.kind {
        case .keePassXC: return service.withSchemaAmongAttributes
        case .kWallet: return service.asWalletEntry
        case .other: return service
        }
    }

    /// The form by which an item is identified.
    private func identified(_ service: ServiceItem) -> ServiceItem {
        client.kind == .keePassXC ? service.asEntry : service
    }

    /// The destination of an item.
    ///
    /// - Throws: `locked`, `noDefaultCollection`, `collectionMissing`.
    private func goal(of item: Item) throws(SecretServiceFailure) -> Goal {
        guard let service = wanted(item) else { preconditionFailure("only what has a place is written") }
        guard let place = matches.destination(of: item) else { throw .noDefaultCollection }
        if let known = places[place] {
            if known.isLocked { throw .locked([place.label]) }
        } else {
            try requireMaking(of: place)
            missing.insert(place)
        }
        return Goal(place: place, item: service)
    }

    /// Refuses a collection that cannot be created, before anything is written.
    private func requireMaking(of place: CollectionName) throws(SecretServiceFailure) {
        switch making {
        case .refused: throw .collectionMissing(place.label)
        case .byPrompt: break
        case .withPassword: if client.kind != .other { throw .passwordNotTaken }
        }
    }

    // MARK: ItemWriter

    func put(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, in form: SecretForm,
        replacing: Item?
    ) throws {
        let goal = try goal(of: item)
        // An item without attributes is identified by its label, which may be what changes.
        if let index = replacing.flatMap({ byUUID[$0.uuid] }) ?? matches.index(of: item) {
            entries[index].isLeaving = false
            let entry = entries[index]
            let hasSecret = isSecret(of: entry, secret)
            if hasSecret, entry.found.item.holds(goal.item) { return }
            try outbox.update(entry.found, to: goal.item, secret, hasSecret: hasSecret)
        } else {
            try outbox.create(goal.item, secret, in: path(of: goal.place))
        }
    }

    func removeLocalItems(_ local: LocalItems) throws -> Int {
        var count = 0
        for index in entries.indices where isInScope(entries[index]) && local.includes(entries[index].item) {
            entries[index].isLeaving = true
            count += 1
        }
        return count
    }

    /// Deletes the items that are to go, and waits for all calls.
    func finish() throws {
        for entry in entries where entry.isLeaving { try outbox.delete(entry.found) }
        try outbox.flush()
    }

    /// The object path of a collection, which is created if it does not exist.
    private func path(of place: CollectionName) throws -> String {
        if let path = places[place]?.path { return path }
        // The service numbers collections with the same label in the order in which they are made.
        let earlier = missing.filter { $0.hasLabel(place.label) && $0.number < place.number && places[$0] == nil }
        for other in earlier.sorted(by: { $0.number < $1.number }) { _ = try make(other) }
        return try make(place)
    }

    private func make(_ place: CollectionName) throws -> String {
        // A pending call could fail, and would leave an unneeded collection behind.
        try outbox.flush()
        let path: String
        switch making {
        case .refused: throw SecretServiceFailure.collectionMissing(place.label)
        case .byPrompt: path = try client.makeByPrompt(place.label)
        case .withPassword(let read): path = try client.make(place.label, password: read(place.label))
        }
        places[place] = Place(path: path, isLocked: false)
        if matches.isDefault(place), try client.alias("default") == nil { try client.setAlias("default", path) }
        return path
    }
}
