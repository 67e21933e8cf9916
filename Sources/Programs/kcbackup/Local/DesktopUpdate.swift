internal import ByteStreams
internal import KeychainModel
internal import KeychainStore
internal import SecretService

/// Changes items of the desktop keyring.
struct DesktopUpdate {
    private let keyring: DesktopKeyring
    private let changes: [AttributeCode: AttributeValue?]
    private let secret: SecretOptions
    private let isConfirmed: Bool
    private let session: Session

    init(
        _ keyring: DesktopKeyring, _ changes: [AttributeCode: AttributeValue?], _ secret: SecretOptions,
        isConfirmed: Bool, in session: Session
    ) {
        self.keyring = keyring
        self.changes = changes
        self.secret = secret
        self.isConfirmed = isConfirmed
        self.session = session
    }

    /// Changes those that match, looks whether the service kept it, and tells.
    func run(_ filter: ItemFilter?) throws -> ExitStatus {
        let client = try keyring.connect(in: session)
        let all = try DesktopItems(keyring, client, nil, in: session).found
        let found = all.filter { filter?.matches($0.item) ?? true }
        if found.isEmpty { throw KeychainStoreError.itemNotFound }
        let others = all.filter { filter?.matches($0.item) == false }.map(\.item)
        var updates = try found.map { try changed($0.item) }
        try requireFree(updates, others)
        if found.count > 1 { try session.confirm("Change \(found.count) items?", isGiven: isConfirmed) }
        let value = try secret.read(isPublic: false, in: session)
        let size: Int? =
            switch value {
            case .some(let secret): secret.count
            case .none: nil
            }
        var ordinals: [[UInt8]: Int] = [:]
        var updated: [Item] = []
        for (changes, before) in zip(updates, found) {
            updated.append(
                try changes.changed(
                    ordinal: ordinals[changes.key, default: 0], secretSize: size ?? before.item.secretSize,
                    now: session.now))
            ordinals[changes.key, default: 0] += 1
        }
        updates = []
        let target = ServiceTarget(client, scope: keyring.scope, making: .refused)
        try target.writeItems { writer in
            for (item, before) in zip(updated, found) {
                var line = SecretBytes(capacity: 1_024)
                ItemLine.encode(item, into: &line)
                try line.withBytes { line in
                    switch value {
                    case .some(let secret):
                        try writer.put(item, line: line, secret: secret, in: .plain, replacing: before.item)
                    case .none:
                        try writer.put(item, line: line, secret: before.secret, in: .plain, replacing: before.item)
                    }
                }
            }
        }
        var isKept = true
        let now: [Item?] = try target.readItems { items in
            for (item, before) in zip(updated, found) {
                switch value {
                case .some(let secret): try items.announce(item, secret: secret, hasSecret: true)
                case .none: try items.announce(item, secret: before.secret, hasSecret: true)
                }
            }
            return try zip(updated, found).map { item, before in
                guard let existing = try items.item(withKeyOf: item), items.holds(item, as: existing) else {
                    return nil
                }
                let hasSecret =
                    switch value {
                    case .some(let secret): try items.secret(of: existing, equals: secret, in: .plain)
                    case .none: try items.secret(of: existing, equals: before.secret, in: .plain)
                    }
                return hasSecret ? existing : nil
            }
        }
        for (item, existing) in zip(updated, now) {
            if existing != nil {
                session.note("changed: \(item.words)")
            } else {
                isKept = false
                session.warn("the Secret Service did not keep all of the change: \(item.words)")
            }
        }
        if session.style.isJSON { try session.result(["items": .list(now.compactMap { $0 }.map { .item($0) })], []) }
        return isKept ? .ok : .incomplete
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
        return changed
    }

    /// Refuses attributes that another item of the collection has: programs could not tell them apart.
    private func requireFree(_ updates: [ServiceChanges], _ others: [Item]) throws {
        let taken = Set(others.map { ServiceChanges(of: $0).key })
        if updates.contains(where: { taken.contains($0.key) }) { throw KeychainStoreError.duplicateItem }
    }
}
