package import KCByteStreams
package import KCKeychainModel
package import KCKeychainStore

/// The states that one keychain had before changes, as copies of its file in the data folder.
///
/// A copy is as well protected as the keychain: its secrets stay sealed under keys that only this device and its
/// passcode open. A copy also contains the items that are in no archive (docs/decisions/0015-undo-by-copies.md).
package struct KeptStates {
    /// The maximum number of states kept before restores, and of those before changes of single items.
    package static let limit = 5

    /// The change of a keychain after its state was kept; the raw value is part of the file's name.
    package enum Change: String, CaseIterable, Hashable, Sendable {
        case restore
        case `import`
        case undo
        case itemAdd = "add"
        case itemDelete = "delete"
        case itemUpdate = "update"

        /// The command, as the user typed it.
        package var command: String {
            switch self {
            case .restore: "restore"
            case .import: "import"
            case .undo: "undo"
            case .itemAdd: "item add"
            case .itemDelete: "item delete"
            case .itemUpdate: "item update"
            }
        }

        /// True if it only adds items, so that nothing is in the state that is not in the keychain after it.
        package var onlyAdds: Bool { self == .itemAdd }

        /// True if it changes items that the user named, as happens often.
        package var isOfItems: Bool {
            switch self {
            case .itemAdd, .itemDelete, .itemUpdate: true
            case .restore, .import, .undo: false
            }
        }
    }

    private let keychain: Keychain
    private let folder: StateFolder
    private let data: DataFolder

    /// A kept state.
    package struct State: Hashable, Sendable {
        /// The time when it was kept, such as `20261122T051500.250000Z`.
        package let name: String
        /// The path of the copy.
        package let path: String
        /// The time when it was kept.
        package let date: Timestamp
        /// The change that followed; nil if it is unknown.
        package let before: Change?
        /// The MAC of the copy, under a key of the device.
        let code: String
    }

    /// Finds the states of a keychain.
    ///
    /// States are identified by the ID of the keychain's file and its location, so that a copy of the file has its own
    /// states.
    package init(of keychain: Keychain, in folder: DataFolder) {
        self.keychain = keychain
        data = folder
        self.folder = StateFolder(of: keychain.storeID, at: keychain.path, in: folder)
    }

    /// Keeps the current state; called within a transaction of the keychain that has not changed anything yet.
    ///
    /// If the newest state equals the current one, it is replaced: a change that was killed kept it, and its time and
    /// command are not those of this one. The newest state is the one that was kept last, regardless of the clock.
    ///
    /// At the end of the transaction, the rows that it wrote are recorded beside the state (`written`).
    ///
    /// - Parameter onNothing: called then if the keychain holds the same as before, though perhaps under other seals.
    /// - Throws: `FileFailure`, `StreamFailure`, `KeychainStoreError`, `CryptographyFailure`; nothing is then kept.
    package func keep(
        before change: Change, now: Timestamp, onNothing: @escaping () -> Void = {}
    ) throws -> State {
        try folder.claim(keychain.path, in: data)
        let copy = try UnnamedFile(inFolder: folder.path)
        try keychain.copyFile(to: copy.file)
        let code = try StateFolder.code(of: copy.file, keychain.deviceKey)
        let newest = try list().first
        let date = newest.map { max(now, $0.date.advanced(byMicroseconds: 1)) } ?? now
        let state = folder.state(date, code, before: change)
        try copy.publish(as: Path.split(state.path).name)
        if let newest, newest.code == code { try remove(newest) }
        recordWritten(after: state, onNothing)
        return state
    }

    private func recordWritten(after state: State, _ onNothing: @escaping () -> Void) {
        keychain.beforeCommit { reader in
            let written = try reader.rowsWritten(since: open(state))
            if written.isNone { onNothing() }
            try PrivateFile.replace(StateFolder.record(of: state), written.record.span)
        }
    }

    /// The rows that the change wrote before which a state was kept; rows that are neither of the state nor among these
    /// were written later.
    ///
    /// - Returns: nil if the change was killed before it recorded them, or if the record cannot be read or trusted.
    package func written(after state: State) -> Set<RowSeal>? {
        do throws(FileFailure) {
            let path = StateFolder.record(of: state)
            let record = try PrivateFile.read(path, limit: ItemLimits.itemCount * RowSeal.size)
            var seals: Set<RowSeal> = []
            record.withBytes { bytes in
                for start in stride(from: 0, to: bytes.count, by: RowSeal.size) {
                    let end = min(start + RowSeal.size, bytes.count)
                    if let seal = RowSeal(bytes: bytes.extracting(start..<end)) { seals.insert(seal) }
                }
            }
            return seals
        } catch {
            // The record holds no secret, and undo needs only the state: without it, undo asks before any row goes.
            return nil
        }
    }

    /// Checks that `keep` could make its files, as far as that can be known without doing it.
    ///
    /// - Throws: as `Path.requireRoom(inFolder:)`.
    package func requireKeepable() throws(FileFailure) { try Path.requireRoom(inFolder: folder.path) }

    /// Checks that `exclusively` could lock the states, as far as that can be known without doing it.
    ///
    /// - Throws: as `FileLock.requireLockable`.
    package func requireLockable() throws(FileFailure) { try FileLock.requireLockable(folder.path) }

    /// All states, the newest first.
    package func list() throws(FileFailure) -> [State] { try folder.list() }

    /// The states that `removeAll` removes, the newest first: all, and those that were kept at places from which the
    /// keychain was moved away.
    ///
    /// - Throws: also if it cannot be known whether a copy of the keychain is at such a place.
    package func listEverywhere() throws(FileFailure) -> [State] {
        var states = try list()
        for folder in try folder.leftBehind(by: keychain, in: data).own { states += try folder.list() }
        return states.sorted { $0.date > $1.date }
    }

    /// Opens a state; no passcode is needed.
    ///
    /// - Throws: `KeychainStoreError` (`damaged` also if the copy has changed since it was kept), `FileFailure`,
    ///   `StreamFailure`, `CryptographyFailure`.
    package func open(_ state: State) throws -> Keychain {
        try StateFolder.open(state, deviceKey: keychain.deviceKey, minimumCost: keychain.minimumCost)
    }

    /// Runs `body`, which restores a state, while no other process does so.
    ///
    /// - Parameter known: the states from which one was chosen.
    /// - Throws: `KeychainStoreError.busy` if the states have changed since: another process has restored or kept one.
    ///   `FileFailure`, and what `body` throws.
    package func exclusively<Result>(knowing known: [State], _ body: () throws -> Result) throws -> Result {
        // The folder is missing if all states are from before the keychain was moved.
        try folder.make(at: keychain.path)
        let lock = try FileLock.ofFolder(folder.path)
        defer { withExtendedLifetime(lock) {} }
        guard try list() == known else { throw KeychainStoreError.busy }
        return try body()
    }

    /// Removes all states but the newest `limit` before restores and imports, and as many before changes of items.
    package func prune() throws(FileFailure) {
        let states = try list()
        for isOfItems in [false, true] {
            let alike = states.filter { ($0.before?.isOfItems ?? false) == isOfItems }
            for state in alike.dropFirst(Self.limit) { try remove(state) }
        }
    }

    /// Removes a state.
    package func remove(_ state: State) throws(FileFailure) { try StateFolder.remove(state) }

    /// States that may be those of a copy of the keychain: they were kept where a file is now that does not open.
    package struct Doubtful: Hashable, Sendable {
        package let count: Int
        /// The folder with the states.
        package let folder: String
        /// The path of the file.
        package let place: String
    }

    /// Removes all states, also those that were kept at places from which the keychain was moved away: the keys that
    /// open the one open the others.
    ///
    /// - Returns: the number of states removed, and those that were kept, since they may not be states of this keychain.
    package func removeAll() throws(FileFailure) -> (count: Int, kept: [Doubtful]) {
        // Its own first, whatever is at the other places.
        var count = try folder.removeAll()
        let others = try folder.leftBehind(by: keychain, in: data)
        for folder in others.own { count += try folder.removeAll() }
        return (count, others.doubtful)
    }
}
