package import ByteStreams
internal import Cryptography
internal import KeychainKeys
package import KeychainModel

/// The changes of one transaction; valid within the call that lends it.
///
/// A change that is refused for what it asks (`duplicateItem`, `itemNotFound`, `item`, …) leaves no trace, and others may
/// follow. After any other failure the transaction is lost: every further change is refused, and nothing is committed.
package final class KeychainWriter: ItemWriter {
    /// The state of the file with the changes made so far.
    package let reader: KeychainReader
    private var blob = SecretBytes(capacity: 4096)
    private var spent: KeychainStoreError?
    /// No class has more rows than this; nil until it is known.
    private var rowBound: Int?

    var keychain: Keychain { reader.keychain }
    var tables: ItemTables { reader.tables }

    /// How much later a change is than the one before, at least: one millisecond, as Apple has it.
    static let step: Int64 = 1_000

    init(_ keychain: Keychain, _ database: Database) throws(KeychainStoreError) {
        reader = try KeychainReader(keychain, database)
    }

    /// Makes sure that no failure was swallowed on the way to the commit.
    func requireUnspent() throws(KeychainStoreError) {
        if let spent { throw spent }
    }

    /// Runs one change, and notes a failure after which the transaction cannot go on.
    func guarded<Result>(
        _ body: () throws(KeychainStoreError) -> Result
    ) throws(KeychainStoreError) -> Result {
        try requireUnspent()
        do {
            return try body()
        } catch {
            if !error.leavesTransactionIntact { spent = error }
            throw error
        }
    }

    /// Runs changes that belong together: whatever they throw, the transaction cannot go on.
    func spending<Result>(
        _ body: () throws(KeychainStoreError) -> Result
    ) throws(KeychainStoreError) -> Result {
        try requireUnspent()
        do {
            return try body()
        } catch {
            spent = error
            throw error
        }
    }

    /// Adds an item; Apple's defaults fill in what the draft leaves open, and a tombstone or a damaged row with the same
    /// unique key gives way.
    ///
    /// - Throws: `duplicateItem`, `duplicateUUID`, `item`, `locked`, `passcodeNotSet`, `limit`, or a failure of the file.
    @discardableResult
    package func add(
        _ draft: ItemDraft, secret: borrowing SecretBytes?, now: Timestamp,
        accessGroup: String = ItemDraft.defaultAccessGroup
    ) throws(KeychainStoreError) -> Item {
        try requireUnspent()
        var item = try draft.item(now: now, secretSize: secret.size, accessGroup: accessGroup)
        _ = try keychain.key(item.accessibility)
        try guarded { () throws(KeychainStoreError) in
            try countOneMore()
            if let existing = try tables.row(withKeyOf: item) {
                if draft.uuid != nil, existing.uuid != item.uuid { try requireFree(item.uuid) }
                if !existing.isTombstone, try !reader.isDamaged(existing) { throw .duplicateItem }
                if draft.attributes[.mdat] == nil, let earlier = existing.item {
                    item = try item.changed(at: max(now, earlier.modified.advanced(byMicroseconds: Self.step)))
                }
                try seal(item, secret)
                try remove(item.itemClass, existing.uuid)
            } else {
                if draft.uuid != nil { try requireFree(item.uuid) }
                try seal(item, secret)
            }
            try tables.insert(item, blob: blob)
        }
        return item
    }

    private func requireFree(_ uuid: ItemUUID) throws(KeychainStoreError) {
        if try tables.row(uuid) != nil { throw .duplicateUUID(uuid) }
    }

    /// Seals a secret for `item` into `blob`.
    func seal(_ item: Item, _ secret: borrowing SecretBytes?) throws(KeychainStoreError) {
        switch secret {
        case .some(let secret): try seal(item, bytes: secret)
        case .none: try seal(item, bytes: SecretBytes(capacity: 0))
        }
    }

    /// Seals the bytes of a secret, none where there is no secret, for `item` into `blob`.
    func seal(_ item: Item, bytes: borrowing SecretBytes) throws(KeychainStoreError) {
        let key = try keychain.key(item.accessibility)
        reader.sealer.begin(item)
        try bytes.withBytes { span throws(KeychainStoreError) in
            try sealing { () throws(CryptographyFailure) in try reader.sealer.seal(span, under: key, into: &blob) }
        }
    }

    /// Puts what `seal` made, with its item, in the place of the row with the same UUID.
    func replaceSealed(_ item: Item) throws(KeychainStoreError) {
        try tables.replace(item, blob: blob)
    }

    /// Removes a row that was found; without a UUID it cannot be named, and the file is beyond repair.
    func remove(_ itemClass: ItemClass, _ uuid: ItemUUID?) throws(KeychainStoreError) {
        guard let uuid else { throw .damaged("a row has no UUID") }
        try tables.remove(itemClass, uuid)
    }

    /// Refuses more items than a keychain can have.
    private func countOneMore() throws(KeychainStoreError) {
        var bound: Int
        if let rowBound { bound = rowBound } else { bound = try tables.rowBound() }
        if bound >= ItemLimits.itemCount {
            bound = 0
            for itemClass in ItemClass.allCases { bound += try tables.rowCount(itemClass) }
        }
        guard bound < ItemLimits.itemCount else {
            throw .limit("items of a keychain", found: bound + 1, allowed: ItemLimits.itemCount)
        }
        rowBound = bound + 1
    }

    // MARK: ItemWriter

    /// Writes an item of an archive; see `ItemWriter`.
    ///
    /// - Throws: `passcodeNotSet` for an `akpu` item, `locked`, `duplicateUUID`, `itemDamaged` when the secret has
    ///   not the size that the item says, or a failure of the file.
    package func put(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, in form: SecretForm,
        replacing: Item?
    ) throws {
        try requireUnspent()
        do {
            try replacePut(item, line, secret, form, replacing)
        } catch {
            // A restore is whole or not at all.
            spent = error
            throw error
        }
    }

    private func replacePut(
        _ item: Item, _ line: borrowing Span<UInt8>, _ secret: borrowing SecretBytes, _ form: SecretForm,
        _ replacing: Item?
    ) throws(KeychainStoreError) {
        switch form {
        case .plain:
            guard item.secretSize == nil || item.secretSize == secret.count else { throw .itemDamaged(item.uuid) }
            let key = try keychain.key(item.accessibility)
            reader.sealer.begin(item, line: line)
            try secret.withBytes { bytes throws(KeychainStoreError) in
                let sealed = item.secretSize == nil ? Span<UInt8>() : bytes.extracting(...)
                try sealing { () throws(CryptographyFailure) in try reader.sealer.seal(sealed, under: key, into: &blob)
                }
            }
        case .stored:
            guard secret.withBytes({ SealedFrame.fits($0, item) }) else { throw .itemDamaged(item.uuid) }
            blob.removeAll()
            secret.withBytes { blob.append($0) }
        }
        if let replacing { try tables.remove(replacing.itemClass, replacing.uuid) }
        try countOneMore()
        do throws(KeychainStoreError) {
            try tables.insert(item, blob: blob)
        } catch {
            guard error == .duplicateItem else { throw error }
            // The unique key or the UUID is taken: of a live item or tombstone with the key, else of a third item.
            guard let existing = try tables.row(withKeyOf: item) else { throw .duplicateUUID(item.uuid) }
            try remove(item.itemClass, existing.uuid)
            do throws(KeychainStoreError) {
                try tables.insert(item, blob: blob)
            } catch {
                throw error == .duplicateItem ? .duplicateUUID(item.uuid) : error
            }
        }
    }

    /// Removes every live item that is not synchronizable and returns how many there were.
    package func removeLocalItems() throws -> Int {
        try guarded { () throws(KeychainStoreError) in
            var removed = 0
            for itemClass in ItemClass.allCases {
                try SQLStatement(
                    "DELETE FROM \(itemClass.rawValue) WHERE \(ItemRow.isLive) AND \(Schema.keyTerm(.sync)) = 0",
                    on: tables.database
                ).run()
                removed += Int(try tables.number("SELECT changes()"))
            }
            rowBound = nil
            return removed
        }
    }

    /// See `KeychainReader`.
    package var isEmpty: Bool { get throws { try reader.isEmpty } }

    /// See `KeychainReader`.
    package func item(withKeyOf item: Item) throws -> Item? { try reader.item(withKeyOf: item) }

    /// See `KeychainReader`.
    package func item(withUUID uuid: ItemUUID) throws -> Item? { try reader.item(withUUID: uuid) }

    /// See `KeychainReader`.
    package func secret(of existing: Item, equals secret: borrowing SecretBytes, in form: SecretForm) throws -> Bool {
        try reader.secret(of: existing, equals: secret, in: form)
    }

    /// See `KeychainReader`.
    package func localItems(_ body: (Item) throws -> Void) throws { try reader.localItems(body) }
}

extension KeychainStoreError {
    /// True for refusals that were decided before anything was written.
    var leavesTransactionIntact: Bool {
        switch self {
        case .duplicateItem, .duplicateUUID, .itemNotFound, .itemDamaged, .item, .locked, .passcodeNotSet,
            .unchangeable,
            .limit:
            true
        case .notFound, .exists, .notAKeychain, .severalNames, .foreignJournal, .newerFormat, .damaged, .otherDevice,
            .busy, .wrongPasscode, .tooManyAttempts, .passcodeEmpty, .file, .diskFull, .readOnly, .sqlite,
            .cryptography, .kernelKeys, .interrupted:
            false
        }
    }
}

extension Optional where Wrapped == SecretBytes {
    /// How many bytes there are; nil for no secret.
    var size: Int? {
        borrowing get {
            switch self {
            case .some(let secret): secret.count
            case .none: nil
            }
        }
    }
}
