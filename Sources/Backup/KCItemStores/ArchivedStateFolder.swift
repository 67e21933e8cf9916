internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains

/// The folder of the kept states of a store that has no file to copy: each state is an unencrypted archive of this device.
///
/// The folder can be read even if the store itself cannot.
struct ArchivedStateFolder {
    let path: String
    let setting: StateSetting

    /// - Parameters:
    ///   - kind: the kind of source that the archives have.
    ///   - root: what the files of the store are below; the home for the keyring of its user.
    init(_ setting: StateSetting, of kind: String, below root: String) {
        path = setting.folder.keptStates(of: kind, below: root)
        self.setting = setting
    }

    /// The names of the states, newest first.
    func names() throws(FileFailure) -> [ArchivedStateName] {
        try PrivateFolder.require(path, mayBeMissing: true)
        return try Path.names(in: path).compactMap { ArchivedStateName(file: $0) }.sorted(by: >)
    }

    func state(_ name: ArchivedStateName) -> KeptState {
        KeptState(name: name.text, path: path(of: name), date: name.date, before: name.before)
    }

    private func path(of name: ArchivedStateName) -> String { "\(path)/\(name.file)" }

    /// Opens a state, which only this device can have made.
    ///
    /// - Throws: `StateFailure.unreadable`.
    func open(_ state: KeptState) throws -> ProvenArchive {
        try state.reading {
            let archive = try ArchiveFile(OpenFile.reading(state.path)).prove().open()
            return try ProvenArchive(archive, local: setting.device.keyIfAny().map { LocalIdentity(device: $0) })
        }
    }

    /// The number of items of a state that pass `filter`.
    ///
    /// - Throws: `StateFailure.unreadable`.
    func count(_ filter: ItemFilter?, in state: KeptState) throws -> Int {
        let proven = try open(state)
        return try state.reading {
            var count = 0
            _ = try proven.survey { item in if filter?.matches(item) ?? true { count += 1 } }
            return count
        }
    }

    /// Runs `body` while no other run writes to the keyring.
    func alone<Result>(_ body: () throws -> Result) throws -> Result {
        let lock = try lock()
        return try withExtendedLifetime(lock) { try body() }
    }

    /// Keeps other runs from writing until the lock is let go.
    func lock() throws -> FileLock {
        try Path.makeFolder(path)
        return try FileLock.ofFolder(path)
    }

    /// Checks that the folder could be locked and, if `isKept`, a state be kept, as far as that can be known without doing
    /// it.
    ///
    /// - Throws: `FileFailure` if `lock` would, `StateFailure.notKept`.
    func requireKeepable(_ isKept: Bool) throws {
        try FileLock.requireLockable(path)
        guard isKept else { return }
        do throws(FileFailure) {
            try Path.requireRoom(inFolder: path)
        } catch {
            throw StateFailure.notKept(error)
        }
    }

    /// Removes the states that were brought back, and old ones.
    ///
    /// As for a keychain, as many states are kept before restores as before changes of items.
    func removeStates(used: [ArchivedStateName]) throws(FileFailure) {
        for name in used { try Path.remove(path(of: name)) }
        for isOfItems in [false, true] {
            let alike = try names().filter { ($0.before?.isOfItems ?? false) == isOfItems }
            for name in alike.dropFirst(KeptStates.limit) { try Path.remove(path(of: name)) }
        }
    }
}
