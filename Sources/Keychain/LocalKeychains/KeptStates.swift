package import ByteStreams
package import KeychainModel
package import KeychainStore

/// The states of one keychain from before restores, as copies of its file in the data folder.
///
/// A copy is as well protected as the keychain: its secrets stay sealed under keys that only this device and its passcode
/// open, and what is in no archive is in it too (docs/decisions/0015-undo-by-copies.md).
package struct KeptStates {
    /// How many states are kept.
    package static let limit = 5

    private let keychain: Keychain
    private let folder: StateFolder

    /// One state.
    package struct State: Hashable, Sendable {
        /// When it was kept, as in `20261122T051500.250000Z`.
        package let name: String
        /// The copy.
        package let path: String
        let date: Timestamp
        /// Of the copy, by a key of the device.
        let code: String
    }

    /// Finds the states of a keychain.
    ///
    /// They belong to the ID of its file and to its place, so that a copy of the file has states of its own.
    package init(of keychain: Keychain, in folder: DataFolder) {
        self.keychain = keychain
        self.folder = StateFolder(of: keychain.storeID, at: keychain.path, in: folder)
    }

    /// Keeps the state of now; called within a transaction of the keychain that has changed nothing yet.
    ///
    /// Where the newest state is the one of now, it is the result: a restore that was killed before its end has kept it.
    /// The newest state is the one that was kept last, whatever the clock says.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`, `KeychainStoreError`, `CryptographyFailure`; then nothing is kept.
    package func keep(now: Timestamp) throws -> State {
        try Path.makeFolder(folder.path)
        let copy = try UnnamedFile(inFolder: folder.path)
        try keychain.copyFile(to: copy.file)
        let code = try StateFolder.code(of: copy.file, keychain.deviceKey)
        let newest = try list().first
        if let newest, newest.code == code { return newest }
        let date = newest.map { max(now, $0.date.advanced(byMicroseconds: 1)) } ?? now
        let state = folder.state(date, code)
        try copy.publish(as: Path.split(state.path).name)
        return state
    }

    /// All states, the newest first.
    ///
    /// - Throws: `FileFailure`.
    package func list() throws(FileFailure) -> [State] { try folder.list() }

    /// Opens a state; no passcode is needed.
    ///
    /// - Throws: `KeychainStoreError` (`damaged` also if it is not as it was kept), `FileFailure`, `StreamFailure`,
    ///   `CryptographyFailure`.
    package func open(_ state: State) throws -> Keychain {
        try folder.open(state, deviceKey: keychain.deviceKey, minimumCost: keychain.minimumCost)
    }

    /// Runs `body`, which brings a state back, while no other run does.
    ///
    /// - Parameter known: the states from which one was chosen.
    /// - Throws: `KeychainStoreError.busy` if these are not the states any more: another run has brought one back, or kept
    ///   one. `FileFailure`, and what `body` throws.
    package func exclusively<Result>(knowing known: [State], _ body: () throws -> Result) throws -> Result {
        let lock = try FileLock.ofFolder(folder.path)
        defer { withExtendedLifetime(lock) {} }
        guard try list() == known else { throw KeychainStoreError.busy }
        return try body()
    }

    /// Removes all but the newest.
    ///
    /// - Throws: `FileFailure`.
    package func prune() throws(FileFailure) {
        for state in try list().dropFirst(Self.limit) { try remove(state) }
    }

    /// Removes one.
    ///
    /// - Throws: `FileFailure`.
    package func remove(_ state: State) throws(FileFailure) { try StateFolder.remove(state) }

    /// Removes them all.
    ///
    /// - Returns: how many there were.
    /// - Throws: `FileFailure`.
    package func removeAll() throws(FileFailure) -> Int { try folder.removeAll() }
}
