/// Several changes in one transaction, each of which happens completely or not at all.
///
/// A change spends most of its time on becoming durable, which one transaction does only once for all changes. A batch
/// is valid only during the call that it is passed to.
package final class KeychainBatch {
    private let keychain: Keychain
    private let database: Database
    /// Why the transaction can no longer be committed.
    private var loss: (any Error)?

    fileprivate init(_ keychain: Keychain, _ database: Database) {
        self.keychain = keychain
        self.database = database
    }

    /// Runs one change; if `body` throws, its changes are undone, but not those of earlier calls.
    ///
    /// - Throws: the errors of `body`, `damaged`, `sqlite`, or the error of an earlier change that ended the
    ///   transaction.
    @discardableResult
    package func change<Result>(_ body: (KeychainWriter) throws -> Result) throws -> Result {
        if let loss { throw loss }
        try database.run("SAVEPOINT change")
        do {
            let writer = try KeychainWriter(keychain, database)
            let result = try body(writer)
            try writer.requireIntact()
            try database.run("RELEASE change")
            return result
        } catch {
            if !undo() { loss = error }
            throw error
        }
    }

    /// Undoes the current change; false if SQLite has undone the entire transaction, such as on a full disk, or if
    /// undoing fails.
    private func undo() -> Bool {
        if database.isTransactionLost { return false }
        do throws(KeychainStoreError) {
            try database.run("ROLLBACK TO change")
            try database.run("RELEASE change")
            return true
        } catch {
            return false
        }
    }

    /// Throws if an earlier failure ended the transaction.
    fileprivate func requireWhole() throws {
        if let loss { throw loss }
    }
}

extension Keychain {
    /// Runs `body` in one transaction: all its changes become durable when it returns, none if it throws.
    ///
    /// The facts that `body` finds out about the keychain and its session belong to the state that it changes.
    ///
    /// - Throws: the errors of `body`, `busy`, `damaged`, `file`, `diskFull`, `sqlite`.
    package func writeBatch(_ body: (KeychainBatch) throws -> Void) throws {
        let transaction = try beginWriteTransaction()
        let changes = KeychainBatch(self, transaction.database)
        batch = transaction.database
        defer { batch = nil }
        try body(changes)
        try changes.requireWhole()
        try transaction.commit()
    }
}
