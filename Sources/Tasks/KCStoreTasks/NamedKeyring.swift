internal import KCAsking
internal import KCBackupArchive
internal import KCByteStreams
package import KCItemStores
package import KCSecretService

/// An event while the desktop keyring is opened and read.
package enum KeyringEvent: TaskEvent {
    /// The desktop asks for the passwords of these collections.
    case desktopAsks([String])
    /// The number of items that are left out, since they end with the session of the desktop.
    case ofSession(Int)
    /// The collections and items that could not be read.
    case unreadable([Unreadable], StoreUse)
}

/// A desktop that was to ask its user, where nobody is.
package struct DesktopUnattended: Error {}

extension DesktopKeyring: NamedStore {
    package var kind: StoreKind { .keyring }
    package var recorded: (kind: String, name: String) { (ArchiveSource.desktopKeyring, label) }
    package var plainStem: String { ArchiveSource.desktopKeyring }

    package func opened(_ access: StoreAccess, for use: StoreUse, in context: TaskContext) throws -> OpenStore {
        let store = try store(access, for: use, in: context)
        let source = try store.source()
        if use == .archiving, source.collections.isEmpty, source.unreadableCount == 0 {
            throw SecretServiceFailure.noCollections
        }
        return OpenStore(store, .ofKeyring(self, count: source.count, source.collections))
    }

    package func changeable(_ access: StoreAccess, in context: TaskContext) throws -> any ItemStore {
        try store(access, for: .reading, in: context)
    }

    private func store(
        _ access: StoreAccess, for use: StoreUse, in context: TaskContext
    ) throws -> ServiceItemStore {
        let client = try connect(access, in: context)
        return ServiceItemStore(client, scope, identity: name, states: KeyringStates(client, context.stateSetting)) {
            do {
                return try read(client, for: use, leavingOut: use.mayLeaveOut && access.skipsLocked, in: context)
            } catch SecretServiceFailure.locked(let labels) where !use.mayLeaveOut {
                // Nothing is left out here.
                throw SecretServiceFailure.lockedTarget(labels)
            }
        }
    }

    package func restorable(
        _ access: StoreAccess, noPasscode: Bool, in context: TaskContext
    ) throws -> any RestorableStore {
        RestorableKeyring(scope, making: making(access, in: context), context.stateSetting) {
            try connect(access, mayBeMissing: true, in: context)
        }
    }

    package func examine(_ access: StoreAccess, isUnencrypted: Bool, in context: TaskContext) throws {
        let client = try connect(in: context.machine)
        let locked = try client.locked(in: scope)
        if try !client.hasCollections { throw SecretServiceFailure.noCollections }
        if !locked.isEmpty, !access.skipsLocked, access.key.passcode == nil {
            throw SecretServiceFailure.lockedTarget(locked)
        }
    }

    /// Connects to the service.
    ///
    /// - Throws: `SecretServiceFailure`.
    private func connect(in machine: Machine) throws -> SecretServiceClient {
        try SecretServiceClient(machine.sessionBus())
    }

    /// Connects to the service and unlocks locked collections, if requested.
    ///
    /// - Parameter mayBeMissing: true if a missing collection is created later.
    /// - Throws: `SecretServiceFailure`, `DesktopUnattended`, and errors of reading the password.
    private func connect(
        _ access: StoreAccess, mayBeMissing: Bool = false, in context: TaskContext
    ) throws -> SecretServiceClient {
        if access.asksDesktop, !context.asking.isAttended { throw DesktopUnattended() }
        let client = try connect(in: context.machine)
        let locked: [String]
        do {
            locked = try client.locked(in: scope)
        } catch SecretServiceFailure.noCollection where mayBeMissing {
            return client
        }
        if let passcode = access.key.passcode {
            if locked.isEmpty { return client }
            let wanted = wanted(locked[0], passcode)
            let unlock = { (password: borrowing SecretBytes) in try client.unlock(scope, password: password) }
            if passcode == .terminal {
                try context.trying(wanted, unlock)
            } else {
                try context.desktopPassword.use(wanted, in: context, unlock)
            }
        } else if access.asksDesktop {
            if !locked.isEmpty { context.tell(KeyringEvent.desktopAsks(locked)) }
            try client.unlockByPrompt(scope)
        }
        return client
    }

    /// Returns how to create collections that do not exist.
    private func making(_ access: StoreAccess, in context: TaskContext) -> ServiceTarget.Making {
        guard let passcode = access.key.passcode else { return access.asksDesktop ? .byPrompt : .refused }
        return .withPassword { label in
            let wanted = wanted(label, passcode)
            // Typed for each collection, otherwise the same for all.
            guard passcode == .terminal else { return try context.desktopPassword.chosen(wanted, in: context) }
            guard let password = try context.secrets.new(wanted) else { throw SecretProblem.empty(wanted.question) }
            return password
        }
    }

    /// The password of a collection.
    private func wanted(_ label: String, _ source: SecretSource) -> WantedSecret {
        WantedSecret(.collection(label), .passcode, from: source)
    }

    /// Reads all selected items.
    ///
    /// - Parameter leavingOut: true to leave out locked items.
    /// - Throws: `SecretServiceFailure`.
    private func read(
        _ client: SecretServiceClient, for use: StoreUse, leavingOut: Bool, in context: TaskContext
    ) throws -> ServiceSource {
        let contents = try client.read(scope, needsAll: !leavingOut)
        if contents.ofSession > 0 { context.tell(KeyringEvent.ofSession(contents.ofSession)) }
        let source = ServiceSource(contents)
        if !source.unreadable.isEmpty { context.tell(KeyringEvent.unreadable(source.unreadable, use)) }
        return source
    }
}
