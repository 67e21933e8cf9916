/// Several changes in one transaction, each of which is made whole or not at all; valid only during the call that it is
/// passed to.
///
/// Most of the time of a change goes into making it durable, which one transaction does once for all of them.
package final class KeychainBatch {
    private let keychain: Keychain
    private let database: Database
    /// Why the transaction cannot be committed any more.
    private var loss: (any Error)?

    fileprivate init(_ keychain: Keychain, _ database: Database) {
        self.keychain = keychain
        self.database = database
    }

    /// Runs one change; if `body` throws, what it wrote is undone, and what the others wrote is not.
    ///
    /// - Throws: the errors of `body`, `damaged`, `sqlite`, and why an earlier change ended the transaction.
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

    /// False if SQLite has undone the whole transaction, as it does when the disk is full, or cannot undo a part of it.
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
    /// Runs `body` in one transaction: all changes that it made become durable when it returns, none if it throws.
    ///
    /// - Throws: the errors of `body`, `busy`, `damaged`, `file`, `diskFull`, `sqlite`.
    package func writeBatch(_ body: (KeychainBatch) throws -> Void) throws {
        let transaction = try beginWriteTransaction()
        let batch = KeychainBatch(self, transaction.database)
        try body(batch)
        try batch.requireWhole()
        try transaction.commit()
    }
}
