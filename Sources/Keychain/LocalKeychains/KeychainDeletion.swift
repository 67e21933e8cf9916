package import ByteStreams
package import KeychainModel
package import KeychainStore

/// Deleting a keychain, as every program of kcbackup does it.
extension LocalKeychain {
    /// What is left of a deleted keychain; its items are gone in any case.
    package enum Remains: Hashable, Sendable {
        /// Class keys may stay in the memory of the kernel, until they expire or the machine is restarted.
        case kernelKeys
        /// A file could not be removed: its lock, its journal, or an earlier state.
        case file(FileFailure)
        /// The lists of keychains still name it.
        case lists(LocalKeychainFailure)
    }

    /// Locks a keychain for every process as a start of the machine does, removes its files, and takes it from the lists.
    ///
    /// The files are removed even if the kernel does not revoke the keys: what they open is gone.
    ///
    /// - Parameter keychain: the keychain, opened; nil for one that can never be opened here, whose keys in the kernel cannot be
    ///   identified.
    /// - Returns: what is left.
    /// - Throws: `LocalKeychainFailure` (`listsDamaged`, `file`) where the lists cannot be read; `KeychainStoreError`,
    ///   `FileFailure`. Nothing is gone then.
    package func delete(
        _ keychain: Keychain?, endingIn session: KeychainSession, lists folder: DataFolder, now: Timestamp
    ) throws -> [Remains] {
        // What cannot be taken off the lists stays.
        _ = try KeychainLists.load(from: folder)
        var remains: [Remains] = []
        if let keychain {
            remains = try delete(open: keychain, endingIn: session, now: now)
            do throws(FileFailure) {
                _ = try KeptStates(of: keychain, in: folder).removeAll()
            } catch {
                remains.append(.file(error))
            }
        } else {
            try Path.remove(path)
            remains = removeCompanions()
            do throws(FileFailure) {
                for states in try StateFolder.all(at: self, in: folder) { _ = try states.removeAll() }
            } catch {
                remains.append(.file(error))
            }
        }
        Path.synchronizeFolder(Path.split(path).folder)
        do throws(LocalKeychainFailure) {
            try leaveLists(in: folder)
        } catch {
            remains.append(.lists(error))
        }
        return remains
    }

    private func delete(open keychain: Keychain, endingIn session: KeychainSession, now: Timestamp) throws -> [Remains]
    {
        var lockFailure: KeychainStoreError?
        var remains = try keychain.exclusively {
            do throws(KeychainStoreError) {
                try session.lock(keychain, untilFirstUnlock: true)
            } catch {
                lockFailure = error
            }
            try Path.remove(path)
            // Before the lock is released: then another keychain may get the name, and a journal of its own.
            return removeCompanions()
        }
        if lockFailure != nil, mayKeepKeys(of: keychain, session, now) { remains.append(.kernelKeys) }
        return remains
    }

    /// False only if the kernel refuses its key service, so that it never had any keys.
    private func mayKeepKeys(of keychain: Keychain, _ session: KeychainSession, _ now: Timestamp) -> Bool {
        do {
            return try session.status(keychain, now: now).refusal == nil
        } catch {
            return true
        }
    }

    private func removeCompanions() -> [Remains] {
        ["-journal", ".lock"].compactMap { suffix in
            do throws(FileFailure) {
                try Path.remove(path + suffix)
                return nil
            } catch {
                return .file(error)
            }
        }
    }
}
