internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

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
        let collection: CollectionName
        let item: ServiceItem
    }

    private let client: SecretServiceClient
    private let contents: ServiceContents
    private let options: ServiceTarget.Options
    private var entries: [Entry] = []
    private var byUUID: [ItemUUID: Int] = [:]
    /// The object paths of the collections that exist.
    private var paths: [CollectionName: String] = [:]
    /// The labels of collections that are locked or hold a locked item, as the first collection of each.
    private let locked: Set<CollectionName>
    private let destination: ServiceDestination
    private var matches: ServiceMatches
    /// The collections that selected items go to and that do not exist yet.
    private var missing: Set<CollectionName> = []
    private var outbox: ServiceOutbox
    private let matched: MatchedSecrets

    /// The number of items written or removed.
    var written: Int { outbox.written }
    /// True once something may have changed.
    var hasSent: Bool { outbox.hasSent }

    init(_ client: SecretServiceClient, _ contents: ServiceContents, _ options: ServiceTarget.Options) throws {
        self.client = client
        self.contents = contents
        self.options = options
        matched = MatchedSecrets(contents, options.secretCode)
        let mayAsk = if case .byPrompt = options.making { true } else { false }
        outbox = ServiceOutbox(client, mayAsk: mayAsk, willSend: { [matched] in try options.willWrite(matched.code) })
        for collection in contents.collections { paths[collection.name] = collection.path }
        locked = Set(ServiceSource.lockedCollections(contents.unreadable).map { CollectionName(label: $0) })
        destination = try client.destination(options.scope, among: contents.collections)
        matches = try ServiceMatches(
            destination, standard: contents.collections.first(where: \.isDefault)?.name,
            known: contents.collections.map(\.name), isFinishing: options.unfinished != nil)
        for (found, draft) in contents.drafts {
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

    var kind: Passage.Target { .desktopKeyring }

    func obstacle(to item: Item) -> ItemObstacle? {
        ServiceMapping.serviceItem(of: item) == nil ? .noPlace : nil
    }

    func item(withKeyOf item: Item) throws -> Item? {
        _ = try goal(of: item)
        guard let index = matches.index(of: item) else { return nil }
        let entry = entries[index]
        matched.places[item.uuid] = entry.found.secret
        guard let unfinished = options.unfinished else { return entry.item }
        // A service that died has left an item that was being made without its secret.
        if unfinished.created.contains(item.uuid), entry.found.secret.isEmpty { return nil }
        // The secret is written last: if it is another one by now, the update was complete, or a user changed it since.
        guard let before = unfinished.updated[item.uuid], try before == matched.code(item.uuid) else {
            return entry.item
        }
        // Its date may be that of the restore that was broken off.
        var draft = ItemDraft(
            itemClass: entry.item.itemClass, uuid: entry.item.uuid, attributes: entry.item.attributes,
            extra: entry.item.extra)
        for code in [AttributeCode.cdat, .mdat] { draft.attributes[code] = .date(.reference) }
        return try draft.completed(now: .reference, secretSize: entry.item.secretSize)
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
        contents.hasSecret(secret, entry.found)
    }

    func localItems(_ local: LocalItems, _ body: (Item) throws -> Void) throws -> Int {
        if let locked = paths.keys.first(where: { isLocked($0) && isInScope($0) }) {
            throw SecretServiceFailure.locked([locked.label])
        }
        let items = entries.filter { isInScope($0) && local.includes($0.item) }.map(\.item)
        for item in items.sorted(by: { $0.precedes($1) }) { try body(item) }
        return 0
    }

    private func isInScope(_ entry: Entry) -> Bool { isInScope(contents.collections[entry.found.collection].name) }

    private func isInScope(_ name: CollectionName) -> Bool {
        if let label = options.removesOnlyFrom, !name.hasLabel(label) { return false }
        return switch destination {
        case .own: true
        case .one(let chosen): name == chosen
        }
    }

    /// True if this collection or another one with its label is locked, so that the archived one cannot be identified.
    private func isLocked(_ name: CollectionName) -> Bool { locked.contains(CollectionName(label: name.label)) }

    /// The form of an item in this service; nil if it has no place there.
    private func wanted(_ item: Item) -> ServiceItem? {
        ServiceMapping.serviceItem(of: item)?.form(in: client.kind)
    }

    /// The form by which an item is identified.
    private func identified(_ service: ServiceItem) -> ServiceItem {
        client.kind == .keePassXC ? service.asEntry : service
    }

    /// The destination of an item.
    ///
    /// - Throws: `locked`, `noDefaultCollection`, `collectionMissing`, `malformed` (`listing`).
    private func goal(of item: Item) throws(SecretServiceFailure) -> Goal {
        guard let service = wanted(item) else { preconditionFailure("only what has a place is written") }
        guard let collection = matches.destination(of: item) else { throw .noDefaultCollection }
        if isLocked(collection) { throw .locked([collection.label]) }
        if paths[collection] == nil {
            try requireMaking(of: collection)
            missing.insert(collection)
        }
        return Goal(collection: collection, item: service)
    }

    /// Refuses a collection that cannot be created, before anything is written.
    private func requireMaking(of collection: CollectionName) throws(SecretServiceFailure) {
        // The collection may be one that the service lists but does not return.
        if contents.unreadable.contains(where: { if case .missingCollection = $0 { true } else { false } }) {
            throw .malformed(.listing)
        }
        switch options.making {
        case .refused: throw .collectionMissing(collection.label)
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
            try outbox.update(
                entry.found, to: goal.item, secret, hasSecret: hasSecret, label: goal.collection.label)
        } else {
            try outbox.create(goal.item, secret, in: path(of: goal.collection), label: goal.collection.label)
        }
    }

    func removeLocalItems(_ local: LocalItems, except staying: Set<ItemUUID>) throws -> Int {
        var count = 0
        for index in entries.indices where isInScope(entries[index]) && local.includes(entries[index].item) {
            if staying.contains(entries[index].item.uuid) { continue }
            entries[index].isLeaving = true
            count += 1
        }
        return count
    }

    /// Deletes the items that are to go, after everything else was written, and waits for all calls.
    func finish() throws {
        try outbox.flush()
        for entry in entries where entry.isLeaving { try outbox.delete(entry.found, label: label(of: entry)) }
        try outbox.flush()
    }

    private func label(of entry: Entry) -> String { contents.collections[entry.found.collection].name.label }

    /// The object path of a collection, which is created if it does not exist.
    private func path(of collection: CollectionName) throws -> String {
        if let path = paths[collection] { return path }
        // The service numbers collections with the same label in the order in which they are made.
        let earlier = missing.filter {
            $0.hasLabel(collection.label) && $0.number < collection.number && paths[$0] == nil
        }
        for other in earlier.sorted(by: { $0.number < $1.number }) { _ = try make(other) }
        return try make(collection)
    }

    private func make(_ collection: CollectionName) throws -> String {
        let path = try outbox.make {
            switch options.making {
            case .refused: throw SecretServiceFailure.collectionMissing(collection.label)
            case .byPrompt: try client.makeByPrompt(collection.label)
            case .withPassword(let read): try client.make(collection.label, password: read(collection.label))
            }
        }
        paths[collection] = path
        if matches.isDefault(collection), try client.alias("default") == nil { try client.setAlias("default", path) }
        return path
    }
}

extension ServiceState {
    /// Adds an item that comes from no service.
    ///
    /// - Returns: its unique key; nil, and nothing is written, if there is an item with it.
    /// - Throws: as `put`.
    func add(_ item: Item, secret: borrowing SecretBytes) throws -> [UInt8]? {
        try announce(item, secret: secret, hasSecret: true)
        let goal = try goal(of: item)
        let key = ServiceMapping.identity(of: identified(goal.item), in: goal.collection, ordinal: 0).key
        let isTaken = entries.contains { entry in
            let place = contents.collections[entry.found.collection].name
            return ServiceMapping.identity(of: entry.found.item, in: place, ordinal: 0).key == key
        }
        if isTaken { return nil }
        try outbox.create(goal.item, secret, in: path(of: goal.collection), label: goal.collection.label)
        return key
    }

    /// Changes an item in place, and its secret if one is given.
    ///
    /// - Throws: `SecretServiceFailure` of a request.
    func change(_ before: Item, to item: ServiceItem, secret: borrowing SecretBytes?) throws {
        guard let index = byUUID[before.uuid] else { preconditionFailure("what is changed was found") }
        let entry = entries[index]
        let item = item.form(in: client.kind)
        switch secret {
        case .some(let secret):
            try outbox.update(
                entry.found, to: item, secret, hasSecret: isSecret(of: entry, secret), label: label(of: entry))
        case .none:
            try outbox.update(entry.found, to: item, SecretBytes(capacity: 0), hasSecret: true, label: label(of: entry))
        }
    }

    /// Deletes an item when everything else was written.
    func remove(_ item: Item) {
        guard let index = byUUID[item.uuid] else { preconditionFailure("what is deleted was found") }
        entries[index].isLeaving = true
    }

    /// True if the service still has exactly this item.
    func isUnchanged(_ item: Item) -> Bool { byUUID[item.uuid].map { entries[$0].item == item } ?? false }

    /// The object path of an item that was found.
    func objectPath(of item: Item) -> String? { byUUID[item.uuid].map { entries[$0].found.path } }
}

/// The secrets of existing items that archived items match, as the service had them when it was read.
private final class MatchedSecrets {
    /// The places of the secrets in `contents.secrets`, by the UUIDs of the archived items.
    var places: [ItemUUID: Range<Int>] = [:]
    private let contents: ServiceContents
    private let makeCode: (borrowing Span<UInt8>) throws -> [UInt8]

    init(_ contents: ServiceContents, _ makeCode: @escaping (borrowing Span<UInt8>) throws -> [UInt8]) {
        self.contents = contents
        self.makeCode = makeCode
    }

    func code(_ archived: ItemUUID) throws -> [UInt8]? {
        guard let place = places[archived] else { return nil }
        return try contents.secrets.withBytes { bytes in try makeCode(bytes.extracting(place)) }
    }
}
