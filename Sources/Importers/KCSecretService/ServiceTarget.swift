package import KCByteStreams
package import KCKeychainKeys
package import KCKeychainModel

/// A Secret Service as the target of a restore.
///
/// The service has no transactions: a restore that fails leaves what it has written, and running it again completes it.
/// A replacing restore deletes items last, so that it never loses an item before everything in the archive is written.
package struct ServiceTarget: StoredItemTarget {
    private let client: SecretServiceClient
    private let options: Options

    /// How a restore goes about its work.
    package struct Options {
        /// The collections that are restored into: their own, or one for all items.
        package var scope: ServiceScope
        package var making: Making
        /// The label of the only collections from which a replacing restore removes items; nil for all of the scope.
        package var removesOnlyFrom: String?
        /// An earlier restore of the same archive, which this one finishes.
        package var unfinished: UnfinishedRestore?
        /// Makes a code of a secret that is the same for equal secrets only; called only for `unfinished` and by
        /// `willWrite`.
        package var secretCode: (borrowing Span<UInt8>) throws -> [UInt8] = { _ in [] }
        /// Called once, before anything is written.
        ///
        /// `code` makes the code of the secret of the existing item that matches an archived one; nil if none does.
        package var willWrite: (_ code: (_ archived: ItemUUID) throws -> [UInt8]?) throws -> Void = { _ in }

        package init(scope: ServiceScope, making: Making) {
            self.scope = scope
            self.making = making
        }
    }

    /// How missing collections are created.
    package enum Making {
        /// They are not created, because no user can answer a prompt.
        case refused
        /// The desktop asks for their passwords.
        case byPrompt
        /// With this password, which is read when it is needed.
        case withPassword((_ label: String) throws -> SecretBytes)
    }

    /// Prepares a restore.
    package init(_ client: SecretServiceClient, _ options: Options) {
        self.client = client
        self.options = options
    }

    /// Always plain: the service encrypts secrets itself.
    package func form(ofSecretsUnder keybag: ArchivedKeybag) -> SecretForm { .plain }

    /// Reads the service, and calls `body` with what was read; see `ItemTarget`.
    ///
    /// - Throws: `SecretServiceFailure`, and what `body` throws.
    package func readItems<Result>(_ body: (any ExistingItems) throws -> Result) throws -> Result {
        do {
            return try body(state())
        } catch let failure as SecretServiceFailure {
            throw failure.ofTarget
        }
    }

    /// Calls `body` to write items; see `ItemTarget`.
    ///
    /// - Throws: `BrokenOffWrite` if something may have changed; otherwise `SecretServiceFailure`, and what `body`
    ///   throws.
    package func writeItems<Result>(_ body: (any ItemWriter) throws -> Result) throws -> Result {
        try write(body)
    }

    private func write<Result>(_ body: (ServiceState) throws -> Result) throws -> Result {
        let state: ServiceState
        do {
            state = try self.state()
        } catch let failure as SecretServiceFailure {
            throw failure.ofTarget
        }
        do {
            let result = try body(state)
            try state.finish()
            return result
        } catch {
            let cause: any Error = (error as? SecretServiceFailure)?.ofTarget ?? error
            guard state.hasSent else { throw cause }
            throw BrokenOffWrite(
                written: state.written,
                cause: Interruption.isRequested ? SecretServiceFailure.interrupted : cause)
        }
    }

    /// Deletes items, if all of them are still as they were.
    ///
    /// - Throws: `SecretServiceFailure` (`changedMeanwhile`), `BrokenOffWrite`.
    package func delete(_ items: [Item]) throws {
        try write { state in
            for item in items where !state.isUnchanged(item) { throw SecretServiceFailure.changedMeanwhile }
            for item in items { state.remove(item) }
        }
    }

    /// Adds an item that comes from no service.
    ///
    /// - Returns: the item as the service has it; nil, and nothing is written, if there is one with its attributes.
    /// - Throws: `SecretServiceFailure`, `BrokenOffWrite`.
    package func add(_ item: Item, secret: borrowing SecretBytes) throws -> Item? {
        guard let key = try write({ state in try state.add(item, secret: secret) }) else { return nil }
        let now = try client.read(.all, needsAll: false)
        for (found, draft) in now.drafts where draft.attributes[.musr] == .data(key) {
            return try draft.completed(now: .reference, secretSize: found.secret.count)
        }
        throw SecretServiceFailure.notDone(.writing)
    }

    private func state() throws -> ServiceState {
        try ServiceState(client, client.read(.all, needsAll: false), options)
    }

    /// Changes items in place, if all of them are still as they were.
    ///
    /// - Parameters:
    ///   - changes: items as they were read, with their changes.
    ///   - secret: the new secret of all of them; nil to leave their secrets as they are, whatever they are now.
    /// - Returns: for each item its form now; nil if the service did not keep all of the change.
    /// - Throws: `SecretServiceFailure` (`changedMeanwhile`), `BrokenOffWrite`.
    package func change(
        _ changes: [(before: Item, after: ServiceChanges)], secret: borrowing SecretBytes?
    ) throws -> [Item?] {
        let paths = try write { state in
            for change in changes where !state.isUnchanged(change.before) {
                throw SecretServiceFailure.changedMeanwhile
            }
            for change in changes {
                try state.change(change.before, to: change.after.service, secret: secret)
            }
            return changes.map { state.objectPath(of: $0.before) }
        }
        let now = try client.read(.all, needsAll: false)
        var drafts: [ExactText: (FoundItem, ItemDraft)] = [:]
        for (found, draft) in now.drafts { drafts[found.path.exact] = (found, draft) }
        return zip(changes, paths).map { change, path in
            guard let (found, draft) = path.flatMap({ drafts[$0.exact] }),
                found.item.holds(change.after.service.form(in: client.kind))
            else {
                return nil
            }
            switch secret {
            case .some(let secret): if !now.hasSecret(secret, found) { return nil }
            case .none: break
            }
            do throws(ItemProblem) {
                return try draft.completed(now: .reference, secretSize: found.secret.count)
            } catch {
                // The service may have added an attribute of its own, which is one too many for a backup.
                return nil
            }
        }
    }
}

extension SecretServiceFailure {
    /// The failure as one of a target, which can leave out nothing that is locked.
    fileprivate var ofTarget: SecretServiceFailure {
        if case .locked(let labels) = self { .lockedTarget(labels) } else { self }
    }
}

/// The items that an earlier restore of the same archive was about to write when it was broken off.
package struct UnfinishedRestore: Hashable, Sendable {
    /// The archived items that it was to create.
    package var created: Set<ItemUUID>
    /// The archived items that it was to write over others, with the codes of the secrets that the others had.
    package var updated: [ItemUUID: [UInt8]]

    package init(created: Set<ItemUUID> = [], updated: [ItemUUID: [UInt8]] = [:]) {
        self.created = created
        self.updated = updated
    }
}

/// Where the items of a restore go.
enum ServiceDestination {
    /// To the collections that they were in.
    case own
    /// To this collection, which may not exist yet.
    case one(CollectionName)
}

extension SecretServiceClient {
    /// Where the items of a restore into a scope go.
    func destination(_ scope: ServiceScope, among found: [ServiceCollection]) throws -> ServiceDestination {
        guard case .collection(let name) = scope else { return .own }
        do {
            return .one(try choose(name, among: found).name)
        } catch SecretServiceFailure.noCollection {
            return .one(CollectionName(label: name))
        }
    }
}
