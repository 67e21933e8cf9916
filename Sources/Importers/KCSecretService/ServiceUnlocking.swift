package import KCByteStreams

extension SecretServiceClient {
    private static let internalInterface = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"

    /// The labels of the locked collections of a scope.
    ///
    /// - Throws: `SecretServiceFailure`.
    package func locked(in scope: ServiceScope) throws -> [String] {
        try collections(in: scope).collections.filter(\.isLocked).map(\.name.label)
    }

    /// Lets the desktop ask for the passwords of the locked collections of a scope, and waits for the answers.
    ///
    /// - Throws: `promptDismissed`, `request` (`unlocking`), `interrupted`.
    package func unlockByPrompt(_ scope: ServiceScope) throws {
        let locked = try collections(in: scope).collections.filter(\.isLocked).map(\.path)
        if !locked.isEmpty { try unlockByPrompt(locked) }
        if kind == .keePassXC {
            // KeePassXC can be set to ask for access to the entries of an open database.
            let entries = try collections(in: scope).collections.flatMap(\.items)
            if !entries.isEmpty { try unlockByPrompt(entries) }
        }
    }

    /// Opens a wallet that its user has already opened, which raises no prompt.
    ///
    /// KWallet reports a collection as locked until the first program opens it through this interface, even if the
    /// wallet has been open since login.
    func openQuietly(_ collection: ServiceCollection) throws -> ServiceCollection {
        // For further collections with the same label, only KWallet knows the name of the wallet.
        guard isKWalletQuiet, collection.isLocked, collection.name.number == 0, case .kWallet(let object) = kind else {
            return collection
        }
        let question = BusCall(object, "org.kde.KWallet", "isOpen", [.text(collection.name.label)])
        guard try call(question, .unlocking).member(0, \.flag, .unlocking) else { return collection }
        do {
            try unlockByPrompt([collection.path])
        } catch SecretServiceFailure.promptDismissed {
            return collection
        }
        guard let now = try self.collection(collection.path) else { return collection }
        return ServiceCollection(
            path: collection.path, name: collection.name, isDefault: collection.isDefault, isLocked: now.isLocked,
            items: now.items)
    }

    private func unlockByPrompt(_ paths: [String]) throws {
        let reply = try call(
            BusCall(Self.path, Self.interface, "Unlock", [.array(BusValue.Kind("o"), paths.map { .path($0) })]),
            .unlocking)
        let prompt = try reply.member(1, \.path, .unlocking)
        if prompt != "/" { _ = try answer(prompt, .unlocking) }
    }

    /// Unlocks the locked collections of a scope with a password, which only GNOME Keyring supports.
    ///
    /// - Throws: `wrongPassword`, `passwordNotTaken`, `request` (`unlocking`), `interrupted`.
    package func unlock(_ scope: ServiceScope, password: borrowing SecretBytes) throws {
        for collection in try collections(in: scope).collections where collection.isLocked {
            let secret = try password.withBytes { try encode($0, contentType: ServiceMapping.usualContentType) }
            _ = try callWithPassword(
                "UnlockWithMasterPassword", [.path(collection.path), secret], of: collection.name.label, .unlocking)
        }
    }

    /// Creates a collection; the desktop asks for its password.
    ///
    /// - Returns: its object path.
    func makeByPrompt(_ label: String) throws -> String {
        let properties = BusValue.properties([("org.freedesktop.Secret.Collection.Label", .text(label))])
        let reply = try call(
            BusCall(Self.path, Self.interface, "CreateCollection", [properties, .text("")]), .creatingCollection)
        let prompt = try reply.member(1, \.path, .creatingCollection)
        let made = try reply.member(0, \.path, .creatingCollection)
        if prompt == "/" { return made }
        guard let path = try answer(prompt, .creatingCollection).path else {
            throw SecretServiceFailure.malformed(.creatingCollection)
        }
        return path
    }

    /// Creates a collection with a password, which only GNOME Keyring supports.
    ///
    /// - Returns: its object path.
    func make(_ label: String, password: borrowing SecretBytes) throws -> String {
        let properties = BusValue.properties([("org.freedesktop.Secret.Collection.Label", .text(label))])
        let secret = try password.withBytes { try encode($0, contentType: ServiceMapping.usualContentType) }
        return try callWithPassword("CreateWithMasterPassword", [properties, secret], of: label, .creatingCollection)
            .member(0, \.path, .creatingCollection)
    }

    private func answer(_ prompt: String, _ request: SecretServiceFailure.Request) throws -> BusValue {
        do {
            return try bus.prompt(owner, prompt)
        } catch let error as BusError {
            throw SecretServiceFailure(error, request)
        }
    }

    private func callWithPassword(
        _ method: String, _ arguments: [BusValue], of label: String, _ request: SecretServiceFailure.Request
    ) throws -> BusValue {
        do {
            return try bus.call(owner, BusCall(Self.path, Self.internalInterface, method, arguments))
        } catch let error as BusError {
            switch error {
            case .remote("org.gnome.keyring.Error.Denied", _):
                throw SecretServiceFailure.wrongPassword(collection: label)
            case .remote("org.freedesktop.DBus.Error.UnknownMethod", _),
                .remote("org.freedesktop.DBus.Error.UnknownInterface", _):
                throw SecretServiceFailure.passwordNotTaken
            default: throw SecretServiceFailure(error, request)
            }
        }
    }
}
