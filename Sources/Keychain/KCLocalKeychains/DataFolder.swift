internal import Glibc
package import KCByteStreams

/// The folder in which a user's keychains and device key are kept: `$XDG_DATA_HOME/kcbackup`, by default
/// `~/.local/share/kcbackup`.
package struct DataFolder: Hashable, Sendable {
    /// The folder, absolute.
    package let path: String

    /// Uses the folder at `path`.
    package init(path: String) {
        self.path = path
    }

    /// Finds the folder of a user.
    ///
    /// A relative `XDG_DATA_HOME` is ignored, as the XDG Base Directory Specification says.
    package init(environment: [String: String], home: String) {
        if let folder = environment["XDG_DATA_HOME"], folder.exact.hasPrefix("/") {
            path = folder + "/kcbackup"
        } else {
            path = home + "/.local/share/kcbackup"
        }
    }

    /// Checks that the folder and the process belong to the same user, and that no other user can change the folder's
    /// contents.
    ///
    /// Every program calls this before anything else. With the rights of a user other than the one who started it, the
    /// process would let that user decide where keys are; with another user's home folder, it would leave files there
    /// that the other user cannot read.
    ///
    /// - Throws: `borrowedRights`, `file` (`sharedFolder`, `foreignFolder`, `system`).
    package func requireOwn() throws(LocalKeychainFailure) {
        guard getuid() == geteuid(), getgid() == getegid() else { throw .borrowedRights }
        try failing(as: LocalKeychainFailure.file, PrivateFolder.require(path, mayBeMissing: true))
    }

    /// Removes what killed processes left in the folder and in those directly below it.
    ///
    /// Each verb does so first: what one verb leaves must not wait for a run of the same verb. The same holds for the folders
    /// of the user in which they were at work. Anything that cannot be removed, or listed, is left for the next run.
    package func removeStaleFiles() {
        for name in Self.names(afterSweeping: path) {
            let folder = "\(path)/\(name)"
            if UnsweptFolders.isList(name) {
                Self.sweep(listedIn: folder)
                continue
            }
            let names = Self.names(afterSweeping: folder)
            if folder == keychains { Self.removeLocks(among: names, in: folder) }
        }
    }

    /// Sweeps the folders of the user in which killed processes may have left a file, and returns those that cannot be swept,
    /// with the file that names them.
    package func unsweptFolders() throws(FileFailure) -> [(folder: String, list: String)] {
        var found: [(folder: String, list: String)] = []
        for name in try Path.names(in: path) where UnsweptFolders.isList(name) {
            let list = "\(path)/\(name)"
            found += try UnsweptFolders.sweep(list).map { ($0, list) }
        }
        return found
    }

    /// Removes the locks of keychains that are gone: their deletion was killed before its end.
    private static func removeLocks(among names: [String], in folder: String) {
        for name in names where name.exact.hasSuffix(LocalKeychain.ending + ".lock") {
            let path = "\(folder)/\(name)"
            guard let keychain = path.exact.removingSuffix(".lock") else { continue }
            do throws(FileFailure) {
                if try Path.exists(keychain) { continue }
                let lock = try FileLock(path, waitingAtMost: .zero)
                // The name may have been taken by a new keychain before the lock was.
                if try !Path.exists(keychain) { try Path.remove(path) }
                withExtendedLifetime(lock) {}
            } catch {
                // Another process is making or deleting this keychain.
                continue
            }
        }
    }

    private static func sweep(listedIn list: String) {
        do throws(FileFailure) {
            try UnsweptFolders.sweep(list)
        } catch {
            // 'doctor' says why.
            return
        }
    }

    /// Removes stale files, and returns the names that are left; none for anything that is not a folder of its own.
    private static func names(afterSweeping folder: String) -> [String] {
        do throws(FileFailure) {
            guard try Path.isMissingOrOwnFolder(folder), Path.isFolder(folder) else { return [] }
            try StaleFiles.remove(in: folder)
            return try Path.names(in: folder)
        } catch {
            return []
        }
    }

    /// The folder of named keychains.
    package var keychains: String { path + "/keychains" }
    /// The file with the default keychain and the search list, once they are set.
    package var keychainLists: String { path + "/keychain-lists" }
    /// The folder of the states that keychains had before restores.
    package var keptStates: String { path + "/undo" }
    /// The folder of the catalogues of backup folders.
    package var catalogues: String { path + "/backups" }
    /// The file with the device key.
    package var deviceKey: String { path + "/device.key" }
}
