package import KCByteStreams
internal import KCCryptography
internal import KCKeychainKeys
package import KCKeychainModel

/// Changes a keychain within one transaction, and reads it with the changes so far; valid only during the call it is
/// passed to.
///
/// A change that is rejected because of its arguments (`duplicateItem`, `itemNotFound`, `item`, …) has no effect, and
/// other changes may follow. Any other failure aborts the transaction: every further change is rejected, and nothing is
/// committed.
package final class KeychainWriter: KeychainReader, ItemWriter {
    private var blob = SecretBytes(capacity: 4096)
    private var abortCause: KeychainStoreError?
    /// An upper bound of the rows of every class; nil until it is known.
    private var rowBound: Int?

    /// The minimum step between two modification dates: one millisecond, as on Apple's systems.
    static let step: Int64 = 1_000

    /// Throws if an earlier failure aborted the transaction, so that it cannot be swallowed before the commit.
    func requireIntact() throws(KeychainStoreError) {
        if let abortCause { throw abortCause }
    }

    /// Runs one change; a failure that leaves the transaction inconsistent aborts it.
    func runChange<Result>(
        _ body: () throws(KeychainStoreError) -> Result
    ) throws(KeychainStoreError) -> Result {
        try requireIntact()
        do {
            return try body()
        } catch {
            if !error.leavesTransactionIntact { abortCause = error }
            throw error
        }
    }

    /// Runs changes that belong together; any failure aborts the transaction.
    func runAllOrAbort<Result>(
        _ body: () throws(KeychainStoreError) -> Result
    ) throws(KeychainStoreError) -> Result {
        try requireIntact()
        do {
            return try body()
        } catch {
            abortCause = error
            throw error
        }
    }

    /// Adds an item with Apple's defaults for missing attributes; replaces a tombstone or a damaged row with the same
    /// unique key.
    ///
    /// - Throws: `duplicateItem`, `duplicateUUID`, `item`, `locked`, `passcodeNotSet`, `limit`, or a failure of the file.
    @discardableResult
    package func add(
        _ draft: ItemDraft, secret: borrowing SecretBytes?, now: Timestamp,
        accessGroup: String = ItemDraft.defaultAccessGroup
    ) throws(KeychainStoreError) -> Item {
        try requireIntact()
        var item = try draft.item(now: now, secretSize: secret.size, accessGroup: accessGroup)
        _ = try keychain.sealingKey(item.protection)
        try runChange { () throws(KeychainStoreError) in
            try countOneMore()
            if draft.uuid == nil {
                // The unique index finds out whether the key is free.
                try seal(item, secret)
                do throws(KeychainStoreError) {
                    return try tables.insert(item, blob: blob)
                } catch {
                    guard error == .duplicateItem else { throw error }
                }
            }
            if let existing = try tables.row(withKeyOf: item) {
                if draft.uuid != nil, existing.uuid != item.uuid { try requireFree(item.uuid) }
                if !existing.isTombstone, try !isDamaged(existing) { throw .duplicateItem }
                if draft.attributes[.mdat] == nil, let earlier = existing.item {
                    item = try item.changed(at: max(now, earlier.modified.advanced(byMicroseconds: Self.step)))
                }
                try remove(item.itemClass, existing.uuid)
            } else if draft.uuid != nil {
                try requireFree(item.uuid)
            }
            try seal(item, secret)
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

    /// Seals the bytes of a secret for `item` into `blob`; `bytes` is empty if there is no secret.
    func seal(_ item: Item, bytes: borrowing SecretBytes) throws(KeychainStoreError) {
        let key = try keychain.sealingKey(item.protection)
        sealer.begin(item)
        try bytes.withBytes { span throws(KeychainStoreError) in
            try sealing(sealer.seal(span, under: key, into: &blob))
        }
    }

    /// Replaces the row with the UUID of `item` with the item and the result of `seal`.
    func replaceSealed(_ item: Item) throws(KeychainStoreError) {
        try tables.replace(item, blob: blob)
    }

    /// Removes a row; without a UUID it cannot be addressed, and the file is beyond repair.
    func remove(_ itemClass: ItemClass, _ uuid: ItemUUID?) throws(KeychainStoreError) {
        guard let uuid else { throw .damaged("a row has no UUID") }
        try tables.remove(itemClass, uuid)
    }

    /// Checks that the keychain may hold one more item.
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
    /// - Throws: `passcodeNotSet` for an `akpu` item, `locked`, `duplicateUUID`, `itemDamaged` if the size of the
    ///   secret is not the one in the item, or a failure of the file.
    package func put(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, in form: SecretForm,
        replacing: Item?
    ) throws {
        try requireIntact()
        do {
            try replacePut(item, line, secret, form, replacing)
        } catch {
            // A restore is all or nothing.
            abortCause = error
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
            let key = try keychain.sealingKey(item.protection)
            sealer.begin(item, line: line)
            try secret.withBytes { bytes throws(KeychainStoreError) in
                let sealed = item.secretSize == nil ? Span<UInt8>() : bytes.extracting(...)
                try sealing(sealer.seal(sealed, under: key, into: &blob))
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
            // The unique key or the UUID is taken: by a live item or tombstone with this key, by a tombstone with this
            // UUID, or else by an unrelated item.
            let existing = try tables.row(withKeyOf: item)
            if let existing { try remove(item.itemClass, existing.uuid) }
            if existing?.uuid != item.uuid, let holder = try tables.row(item.itemClass, item.uuid) {
                guard holder.isTombstone else { throw .duplicateUUID(item.uuid) }
                try remove(item.itemClass, item.uuid)
            }
            do throws(KeychainStoreError) {
                try tables.insert(item, blob: blob)
            } catch {
                throw error == .duplicateItem ? .duplicateUUID(item.uuid) : error
            }
        }
    }

    /// Removes live local rows; see `ItemWriter`.
    package func removeLocalItems(_ local: LocalItems, except staying: Set<ItemUUID>) throws -> Int {
        try runChange { () throws(KeychainStoreError) in
            var removed = 0
            for itemClass in ItemClass.allCases {
                let name = itemClass.rawValue
                let rows = try local.statement("SELECT id, uuid FROM \(name)", on: tables.database)
                var leaving: [Int64] = []
                while try rows.step() {
                    let uuid = rows.withBytes(1) { ItemUUID(bytes: $0) }
                    if uuid.map(staying.contains) != true { leaving.append(rows.integer(0)) }
                }
                let deletion = try SQLStatement("DELETE FROM \(name) WHERE id=?", on: tables.database)
                for id in leaving {
                    try deletion.bind(id, 1)
                    try deletion.run()
                    deletion.reset()
                }
                removed += leaving.count
            }
            rowBound = nil
            return removed
        }
    }
}

extension LocalItems {
    /// Prepares a statement that begins with `start` and is about the live rows that a replacing restore removes.
    func statement(_ start: String, on database: Database) throws(KeychainStoreError) -> SQLStatement {
        let isArchived = self == .archived ? " AND \(Schema.quoted(.pdmn)) <> ?" : ""
        let statement = try SQLStatement(
            "\(start) WHERE \(ItemRow.isLive) AND \(ItemRow.isLocal)\(isArchived)", on: database)
        if self == .archived {
            try statement.bindBytes(of: Accessibility.whenPasscodeSetThisDeviceOnly.rawValue, 1)
        }
        return statement
    }
}

extension KeychainStoreError {
    /// True for errors that are detected before anything is written.
    var leavesTransactionIntact: Bool {
        switch self {
        case .duplicateItem, .duplicateUUID, .itemNotFound, .itemDamaged, .item, .locked, .passcodeNotSet,
            .presenceNeeded, .unchangeable, .limit:
            true
        case .notFound, .exists, .notAKeychain, .severalNames, .foreignJournal, .newerFormat, .damaged, .otherDevice,
            .busy, .itemsAskForPasscode, .wrongPasscode, .tooManyAttempts, .passcodeEmpty, .escrow, .token,
            .file, .diskFull, .readOnly, .sqlite, .cryptography, .kernelKeys, .interrupted:
            false
        }
    }
}

extension Optional where Wrapped == SecretBytes {
    /// The size in bytes; nil for no secret.
    var size: Int? {
        borrowing get {
            switch self {
            case .some(let secret): secret.count
            case .none: nil
            }
        }
    }
}
