internal import ByteStreams
public import KeychainModel
public import KeychainStore

/// Deleting a keychain, as every program of kcbackup does it.
extension LocalKeychain {
    /// What is left of a deleted keychain.
    public enum Remains: Hashable, Sendable {
        /// Nothing.
        case none
        /// Class keys may stay in the memory of the kernel, until they expire or the machine is started anew.
        case kernelKeys
    }

    /// Locks a keychain for every process as a start of the machine does, removes its files, and takes it from the lists.
    ///
    /// A kernel that does not give the keys up keeps no file: what they open is gone.
    ///
    /// - Parameter keychain: the keychain, opened; nil for one that can never be opened here, whose keys nobody can name.
    /// - Returns: what is left.
    /// - Throws: `LocalKeychainFailure` (`listsDamaged`, `file`), before anything is gone where the lists cannot be read;
    ///   `KeychainStoreError`, `FileFailure`.
    public func delete(
        _ keychain: Keychain?, endingIn session: KeychainSession, lists folder: DataFolder, now: Timestamp
    ) throws -> Remains {
        // What cannot be taken off the lists stays.
        _ = try KeychainLists.load(from: folder)
        var remains = Remains.none
        if let keychain {
            var isLocked = false
            // Within a change, so that nobody else is writing to it, or unlocking it.
            try keychain.importItems { _ in
                do throws(KeychainStoreError) {
                    try session.lock(keychain, untilFirstUnlock: true)
                    isLocked = true
                } catch {}
                try removeFiles()
            }
            // A kernel that refuses its key service never had any.
            if !isLocked, (try? session.status(keychain, now: now))?.refusal == nil { remains = .kernelKeys }
        } else {
            try removeFiles()
        }
        try Path.remove(path + ".lock")
        try Path.synchronizeFolder(Path.split(path).folder)
        try leaveLists(in: folder)
        return remains
    }

    private func removeFiles() throws(FileFailure) {
        try Path.remove(path)
        try Path.remove(path + "-journal")
    }
}
