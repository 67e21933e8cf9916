internal import KCCryptography

/// A state of a keychain file, down to its last byte.
package struct KeychainState: Hashable, Sendable {
    /// SHA-256 of the file.
    package let digest: [UInt8]
    /// The number that SQLite changes with each commit of another connection.
    fileprivate let version: Int64

    fileprivate init(digest: [UInt8], version: Int64) {
        self.digest = digest
        self.version = version
    }
}

extension Keychain {
    /// The present state; no key is needed.
    ///
    /// Two files with equal digests have the same items, seals and keys. A file whose items are the same may have another
    /// digest: a wrong passcode is counted in it.
    ///
    /// - Throws: `busy`, `damaged`, `sqlite`.
    package func state() throws -> KeychainState {
        let transaction = try beginReadTransaction()
        var hash = SHA256()
        try transaction.database.readFile { hash.update($0) }
        let state = KeychainState(digest: hash.finalize().bytes, version: try version(transaction.database))
        try transaction.commit()
        return state
    }

    /// True if no other connection has changed the file since this object took `state`, and this object has not either.
    package func isStill(_ state: KeychainState) throws(KeychainStoreError) -> Bool {
        try withReadTransaction { database throws(KeychainStoreError) in try version(database) == state.version }
    }

    private func version(_ database: Database) throws(KeychainStoreError) -> Int64 {
        let statement = try SQLStatement("PRAGMA data_version", on: database)
        guard try statement.step() else { throw .damaged("the database answers nothing") }
        return statement.integer(0)
    }
}
