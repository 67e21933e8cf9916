internal import KCByteStreams

extension SecretServiceClient {
    static let sessionCollection = path + "/collection/session"
    private static let collectionInterface = "org.freedesktop.Secret.Collection"
    static let itemInterface = "org.freedesktop.Secret.Item"
    // Replies for larger batches could exceed the limit of D-Bus, since a secret may have 16 MiB.
    private static let secretsAtOnce = 64

    /// Reads the collections of `scope`.
    ///
    /// Items that are deleted during the read are left out, and items that are added are read.
    ///
    /// - Parameters:
    ///   - needsAll: false to leave out what is locked, and report it.
    ///   - step: called once per item.
    /// - Throws: `SecretServiceFailure`: `locked`, `noCollection`, `severalCollections`, or of a request.
    package func read(
        _ scope: ServiceScope, needsAll: Bool = true, step: @escaping () -> Void = {}
    ) throws -> ServiceContents {
        let listing = try collections(in: scope)
        let collections = listing.collections
        let locked = collections.filter(\.isLocked)
        if needsAll, !locked.isEmpty { throw SecretServiceFailure.locked(locked.map(\.name.label)) }
        var unreadable: [Unreadable] = locked.map { .lockedCollection(label: $0.name.label, items: $0.items.count) }
        var reading = Reading(self, collections, needsAll: needsAll, step)
        for index in collections.indices where !collections[index].isLocked {
            try reading.read(index)
        }
        unreadable += reading.unreadable
        let gone = listing.gone.union(reading.gone)
        if !gone.isEmpty {
            unreadable += try collectionPaths().filter { gone.contains($0.exact) }.map { .missingCollection(path: $0) }
        }
        return reading.finish(unreadable, ofSession: listing.ofSession)
    }

    /// The object paths of all collections, in order, none twice.
    private func collectionPaths() throws -> [String] {
        let all = try properties(of: Self.path, Self.interface, .listing)
        guard let paths = all["Collections"]?.paths else { throw SecretServiceFailure.malformed(.listing) }
        return Set(paths).sorted(by: Self.isEarlier)
    }

    /// True if there is a collection, other than the one that ends with the session.
    ///
    /// - Throws: `SecretServiceFailure`.
    package var hasCollections: Bool { get throws { try !collections(in: .all).collections.isEmpty } }

    /// The collections of a scope; those with the same label are numbered in the order of their paths.
    func collections(in scope: ServiceScope) throws -> Listing {
        let paths = try collectionPaths()
        let standard = try alias("default")
        var numbers: [CollectionName: Int] = [:]
        var listing = Listing()
        for path in paths {
            guard let collection = try self.collection(path) else {
                listing.gone.insert(path.exact)
                continue
            }
            if path == Self.sessionCollection {
                listing.ofSession = collection.items.count
                continue
            }
            let first = CollectionName(label: collection.label)
            let number = numbers[first, default: 0]
            numbers[first] = number + 1
            listing.collections.append(
                ServiceCollection(
                    path: path, name: CollectionName(label: collection.label, number: number),
                    isDefault: path == standard, isLocked: collection.isLocked, items: collection.items))
        }
        if case .collection(let name) = scope {
            listing = Listing(collections: [try choose(name, among: listing.collections)])
        }
        listing.collections = try listing.collections.map(openQuietly)
        return listing
    }

    /// True if the service that is running on this bus has items, or a locked collection, which may have some.
    ///
    /// Starts and opens nothing.
    ///
    /// - Returns: nil if no service is running or answers.
    package static func mayHaveItems(on bus: SessionBus) throws(SecretServiceFailure) -> Bool? {
        do {
            let connection = try BusConnection(bus, limit: .probe)
            // Calls to the name of the process do not make the bus start another one.
            let owner = try owner(on: connection, starts: false)
            func properties(_ path: String, _ interface: String) throws -> [String: BusValue] {
                try connection.call(owner, getAll(path, interface)).member(0, \.properties, .listing)
            }
            guard let paths = try properties(path, interface)["Collections"]?.paths else { return nil }
            for path in paths where path != sessionCollection {
                let collection = try properties(path, collectionInterface)
                if collection["Locked"]?.flag == true || collection["Items"]?.paths?.isEmpty == false { return true }
            }
            return false
        } catch SecretServiceFailure.interrupted {
            throw .interrupted
        } catch {
            // Whatever the reason, the user did not ask for the service.
            return nil
        }
    }

    /// The collection with this label or, if there is none, with this alias.
    ///
    /// - Throws: `noCollection`, `severalCollections`, or of a request.
    func choose(_ name: String, among found: [ServiceCollection]) throws -> ServiceCollection {
        let exact = found.filter { $0.name.hasLabel(name) }
        // A keyboard may write another Unicode form than the program that named the collection.
        let named = exact.isEmpty ? found.filter { $0.name.label == name } : exact
        if named.count > 1 { throw SecretServiceFailure.severalCollections(name) }
        if let named = named.first { return named }
        let aliased = try alias(name)
        guard let found = found.first(where: { $0.path.exact == aliased?.exact }) else {
            throw SecretServiceFailure.noCollection(name)
        }
        return found
    }

    /// The label of the collection of a scope, which may be named by its alias; as given if there is none, and nil for
    /// all collections.
    ///
    /// - Throws: `SecretServiceFailure`.
    package func label(of scope: ServiceScope) throws -> String? {
        guard case .collection(let name) = scope else { return nil }
        do {
            return try collections(in: scope).collections.first?.name.label
        } catch SecretServiceFailure.noCollection {
            return name
        }
    }

    /// The path of the collection with an alias.
    func alias(_ name: String) throws -> String? {
        let reply = try call(BusCall(Self.path, Self.interface, "ReadAlias", [.text(name)]), .listing)
        let path = try reply.member(0, \.path, .listing)
        return path == "/" ? nil : path
    }

    /// Assigns an alias to a collection, and removes it from any other one.
    func setAlias(_ name: String, _ path: String) throws {
        _ = try call(
            BusCall(Self.path, Self.interface, "SetAlias", [.text(name), .path(path)]), .creatingCollection)
    }

    /// The current state of a collection; nil if it is gone.
    func collection(_ path: String) throws -> (label: String, isLocked: Bool, items: [String])? {
        do {
            let reply = try bus.call(owner, Self.getAll(path, Self.collectionInterface))
            let all = try reply.member(0, \.properties, .listing)
            guard let items = all["Items"]?.paths, let isLocked = all["Locked"]?.flag
            else { throw SecretServiceFailure.malformed(.listing) }
            return (try all.value("Label", \.text, .listing) ?? "", isLocked, Set(items).sorted(by: Self.isEarlier))
        } catch let error as BusError {
            if error.saysGone { return nil }
            throw SecretServiceFailure(error, .listing)
        }
    }

    private func properties(
        of path: String, _ interface: String, _ request: SecretServiceFailure.Request
    ) throws -> [String: BusValue] {
        try call(Self.getAll(path, interface), request).member(0, \.properties, request)
    }

    private static func getAll(_ path: String, _ interface: String) -> BusCall {
        BusCall(path, "org.freedesktop.DBus.Properties", "GetAll", [.text(interface)])
    }

    /// Orders shorter paths first, so that the numbers at their ends are in order.
    static func isEarlier(_ one: String, _ other: String) -> Bool {
        (one.utf8.count, one) < (other.utf8.count, other)
    }

    /// A read in progress.
    private struct Reading: ~Copyable {
        private let client: SecretServiceClient
        private var collections: [ServiceCollection]
        private let needsAll: Bool
        private let step: () -> Void
        private var items: [FoundItem] = []
        private var secrets = SecretBytes(capacity: 65_536)
        private(set) var unreadable: [Unreadable] = []
        /// The paths of collections that answered as if they had been deleted.
        private(set) var gone: Set<ExactText> = []
        /// The labels, or else the paths, of items that answered as if they had been deleted, by their paths.
        private var goneItems: [ExactText: String] = [:]

        /// How often a list of items may grow while it is read; one that grows for ever would never end.
        private static let rounds = 1_000

        init(
            _ client: SecretServiceClient, _ collections: [ServiceCollection], needsAll: Bool,
            _ step: @escaping () -> Void
        ) {
            self.client = client
            self.collections = collections
            self.needsAll = needsAll
            self.step = step
        }

        consuming func finish(_ unreadable: [Unreadable], ofSession: Int) -> ServiceContents {
            ServiceContents(collections, items, secrets, unreadable, ofSession: ofSession)
        }

        /// Reads a collection until its list of items does not change.
        mutating func read(_ index: Int) throws {
            var known: Set<ExactText> = []
            var pending = collections[index].items
            goneItems = [:]
            for round in 1... {
                if round > Self.rounds { throw SecretServiceFailure.malformed(.listing) }
                known.formUnion(pending.map(\.exact))
                try read(pending, of: index)
                guard let now = try client.collection(collections[index].path) else {
                    // The collection was deleted with all its items, unless it is still listed at the end.
                    gone.insert(collections[index].path.exact)
                    items.removeAll { $0.collection == index }
                    return
                }
                if now.isLocked { throw SecretServiceFailure.locked([now.label]) }
                let left = Set(now.items)
                items.removeAll { $0.collection == index && !left.contains($0.path) }
                pending = now.items.filter { !known.contains($0.exact) }
                guard pending.isEmpty else { continue }
                for path in now.items {
                    guard let label = goneItems[path.exact] else { continue }
                    unreadable.append(.missingItem(collection: collections[index].name.label, item: label))
                }
                break
            }
            // Restore the service's order, since items that were added meanwhile have been read last.
            items.sort { ($0.collection, $0.path.utf8.count, $0.path) < ($1.collection, $1.path.utf8.count, $1.path) }
        }

        private mutating func read(_ paths: [String], of index: Int) throws {
            var found: [FoundItem?] = Array(repeating: nil, count: paths.count)
            try client.bus.call(
                client.owner, count: paths.count, { getAll(paths[$0], itemInterface) },
                { ordinal, result in
                    do {
                        found[ordinal] = try describe(result.get(), paths[ordinal], of: index)
                    } catch let error as BusError {
                        // The list of items is read again, and shows whether the item was deleted.
                        if !error.saysGone { throw SecretServiceFailure(error, .reading) }
                        goneItems[paths[ordinal].exact] = paths[ordinal]
                    }
                })
            try readSecrets(of: found.compactMap { $0 })
        }

        private mutating func describe(_ reply: BusValue, _ path: String, of index: Int) throws -> FoundItem? {
            let all = try reply.member(0, \.properties, .reading)
            guard let attributes = all["Attributes"]?.attributes,
                let isLocked = all["Locked"]?.flag
            else { throw SecretServiceFailure.malformed(.reading) }
            let label = try all.value("Label", \.text, .reading) ?? ""
            let collection = collections[index].name.label
            if isLocked {
                if needsAll { throw SecretServiceFailure.locked([collection]) }
                unreadable.append(.lockedItem(collection: collection, label: label))
                return nil
            }
            if attributes.contains(where: { ServiceMapping.isHash($0.name) }) {
                // Nothing unlocks an item that is open: its attributes were set to hashes.
                unreadable.append(.hashedItem(collection: collection, label: label))
                return nil
            }
            var item = ServiceItem(
                label: label, attributes: attributes, created: try all.value("Created", \.number, .reading) ?? 0,
                modified: try all.value("Modified", \.number, .reading) ?? 0)
            if let type = try all.value("Type", \.text, .reading), !type.isEmpty, type != item[ServiceItem.schema] {
                item.type = type
            }
            return FoundItem(path: path, collection: index, item: item, secret: 0..<0)
        }

        /// Reads secrets in batches, and those too large for one reply individually.
        private mutating func readSecrets(of found: [FoundItem]) throws {
            for item in found where !client.isProved { try client.proveSession(reading: item.path) }
            let size = secretsAtOnce
            let batches = stride(from: 0, to: found.count, by: size).map { found[$0..<min($0 + size, found.count)] }
            let session = client.sessionPath
            var failed: [FoundItem] = []
            try client.bus.call(
                client.owner, count: batches.count, atOnce: 4,
                { number in
                    BusCall(
                        SecretServiceClient.path, SecretServiceClient.interface, "GetSecrets",
                        [.array(BusValue.Kind("o"), batches[number].map { .path($0.path) }), session])
                },
                { number, result in
                    guard case .success(let reply) = result else {
                        failed += batches[number]
                        return
                    }
                    failed += try take(reply, of: batches[number])
                })
            for item in failed { try readSecret(of: item) }
        }

        /// Takes the secrets of a reply.
        ///
        /// - Returns: the items whose secrets are not in it.
        private mutating func take(_ reply: BusValue, of batch: ArraySlice<FoundItem>) throws -> [FoundItem] {
            let given = try reply.member(0, \.secrets, .secrets)
            var missing: [FoundItem] = []
            for item in batch {
                if let secret = given[item.path] { try add(item, secret) } else { missing.append(item) }
            }
            return missing
        }

        /// Reads one secret, or determines why it cannot be read.
        private mutating func readSecret(of found: FoundItem) throws {
            do {
                let reply = try client.bus.call(
                    client.owner, BusCall(found.path, itemInterface, "GetSecret", [client.sessionPath]))
                try add(found, reply.member(0, \.secret, .secrets))
            } catch let error as BusError {
                if error.saysGone {
                    goneItems[found.path.exact] = found.item.label
                    return
                }
                let collection = collections[found.collection].name.label
                let failure = SecretServiceFailure(error, .secrets, in: collection)
                guard case .locked = failure, !needsAll else { throw failure }
                unreadable.append(.lockedItem(collection: collection, label: found.item.label))
            }
        }

        private mutating func add(_ found: FoundItem, _ secret: BusValue) throws {
            var found = found
            let start = secrets.count
            found.item.contentType = try client.decode(secret, into: &secrets)
            found.secret = start..<secrets.count
            items.append(found)
            step()
        }
    }
}
