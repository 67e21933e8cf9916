internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCSecretService

/// Changes items of the desktop keyring.
struct DesktopUpdate {
    private let keyring: DesktopKeyring
    private let client: SecretServiceClient
    private let changes: [AttributeCode: AttributeValue?]
    private let secret: SecretOptions
    /// The characters of a made-up secret; nil for none.
    private let length: Int?
    private let isConfirmed: Bool
    private let keepsState: Bool
    private let session: Session

    /// - Parameter keepsState: false to keep no state before the change.
    init(
        _ keyring: DesktopKeyring, _ client: SecretServiceClient, _ changes: [AttributeCode: AttributeValue?],
        _ secret: SecretOptions, _ length: Int?, isConfirmed: Bool, keepsState: Bool, in session: Session
    ) {
        self.keyring = keyring
        self.client = client
        self.changes = changes
        self.secret = secret
        self.length = length
        self.isConfirmed = isConfirmed
        self.keepsState = keepsState
        self.session = session
    }

    /// Changes the matching items, checks that the service stored the changes, and reports them.
    func run(_ filter: ItemFilter?) throws -> ExitStatus {
        let all = try DesktopItems(keyring, client, nil, in: session)
        let found = all.items.filter { filter?.matches($0) ?? true }
        if found.isEmpty { throw KeychainStoreError.itemNotFound }
        if length != nil, found.count > 1 { throw UsageProblem.generatedForSeveral(found.count) }
        let updates = try found.map { (before: $0, after: try changed($0)) }
        try requireFree(updates, all.items.filter { filter?.matches($0) == false })
        if found.count > 1 {
            if !isConfirmed, session.world.terminal.isAttended {
                session.list(found) { _, words in "to be changed: \(words)" }
            }
            try session.confirm("Change \(found.count) items?", isGiven: isConfirmed)
        }
        let value =
            if let length {
                try GeneratedPassword.make(length: length) as SecretBytes?
            } else {
                try secret.read(isPublic: false, in: session)
            }
        // What was shown may have changed since, by another program.
        let now = try DesktopStates(session).change(client, keepsState: keepsState) { willWrite in
            var options = ServiceTarget.Options(scope: keyring.scope, making: .refused)
            options.willWrite = { _ in try willWrite() }
            let target = ServiceTarget(client, options)
            return try target.change(updates, secret: value)
        }
        session.done = "\(counted(found.count, "item")) changed"
        var isComplete = all.isComplete
        for (existing, before) in zip(now, found) {
            if let existing {
                session.note("changed: \(existing.words)")
            } else {
                isComplete = false
                session.warn("the Secret Service did not keep all of the change: \(before.words)")
            }
        }
        session.warn(ofUnbound: updates.count { $0.before.binding.isThisDeviceOnly && !$0.after.isMarkedAsBound })
        if updates.contains(where: { $0.after.isMarkedAsBound && !$0.before.accessibility.isThisDeviceOnly }) {
            session.note(
                "ThisDeviceOnly is a mark there: backups bind the item to this device, the file of the keyring does not"
            )
        }
        session.noteUndo(keyring.name)
        if session.style.isJSON { try session.result(["items": .list(now.compactMap { $0 }.map { .item($0) })], []) }
        return isComplete ? .ok : .incomplete
    }

    private func changed(_ item: Item) throws -> ServiceChanges {
        var changed = ServiceChanges(of: item)
        for (code, value) in changes.sorted(by: { $0.key.code < $1.key.code }) {
            do throws(UnmappedAttribute) {
                try changed.set(code, to: value)
            } catch {
                throw UsageProblem.desktopAttribute(error.code.code)
            }
        }
        try changed.check()
        return changed
    }

    /// Refuses attributes that would make an item equal to another one of its collection: programs could not tell them
    /// apart.
    private func requireFree(_ updates: [(before: Item, after: ServiceChanges)], _ others: [Item]) throws {
        let taken = Set(others.map { ServiceChanges(of: $0).key })
        var origins: [[UInt8]: [UInt8]] = [:]
        for (before, after) in updates {
            let (old, new) = (ServiceChanges(of: before).key, after.key)
            // Items that are equal already stay so.
            if let other = origins.updateValue(old, forKey: new), other != old {
                throw KeychainStoreError.duplicateItem
            }
            if new != old, taken.contains(new) { throw KeychainStoreError.duplicateItem }
        }
    }
}
