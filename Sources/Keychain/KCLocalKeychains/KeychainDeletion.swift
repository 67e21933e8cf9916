package import KCByteStreams
package import KCKeychainModel
package import KCKeychainStore

/// Deletes a keychain, in the same way for every program of kcbackup.
extension LocalKeychain {
    /// The remains of a deleted keychain; its items are gone in any case.
    package enum Remains: Hashable, Sendable {
        /// Class keys may stay in the memory of the kernel until they expire or the machine restarts.
        case kernelKeys
        /// A file could not be removed: its lock, its journal, or an earlier state.
        case file(FileFailure)
        /// States that were kept before the keychain was moved, or of a copy of it; they were not removed.
        case states(KeptStates.Doubtful)
        /// The keychain lists still contain it.
        case lists(LocalKeychainFailure)
    }

    /// Locks a keychain for every process, as after a boot, removes its files, and removes it from the lists.
    ///
    /// The files are removed even if the kernel does not revoke the keys, since the keys are then useless.
    ///
    /// - Parameter keychain: the open keychain; nil for one that cannot be opened on this device, whose keys in the
    ///   kernel cannot be identified.
    /// - Returns: the remains.
    /// - Throws: `LocalKeychainFailure` (`listsDamaged`, `file`) if the lists cannot be read; `KeychainStoreError`,
    ///   `FileFailure`. Nothing is then removed.
    package func delete(
        _ keychain: Keychain?, endingIn session: KeychainSession, lists folder: DataFolder, now: Timestamp
    ) throws -> [Remains] {
        // A keychain that cannot be removed from the lists is not deleted.
        _ = try KeychainLists.load(from: folder)
        var remains: [Remains] = []
        if let keychain {
            remains = try delete(open: keychain, endingIn: session, now: now)
            do throws(FileFailure) {
                remains += try KeptStates(of: keychain, in: folder).removeAll().kept.map { .states($0) }
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
            // Before the lock is released, since another keychain may then get the name and a journal of its own.
            return removeCompanions()
        }
        if lockFailure != nil, mayKeepKeys(of: keychain, session, now) { remains.append(.kernelKeys) }
        return remains
    }

    /// False only if the kernel denies its key service, and therefore never stored any keys.
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
