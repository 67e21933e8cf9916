internal import Glibc

/// Removes temporary files and folders that a killed process left behind.
///
/// Their creator holds a lock on them while it lives, so a file or folder that can be locked is stale.
package enum StaleFiles {
    /// Removes this user's stale temporary files; any that cannot be removed are left for the next run.
    ///
    /// - Throws: `FileFailure` (`system`) if the folder cannot be listed.
    package static func remove(in folder: String) throws(FileFailure) {
        for name in try Path.names(in: folder) {
            let path = folder + "/" + name
            if UnnamedFile.isTemporaryName(name) {
                guard let held = lockIfUnused(path, S_IFREG) else { continue }
                withExtendedLifetime(held) { _ = unsafe unlink(path) }
            } else if StagingFolder.isTemporaryName(name) {
                guard let held = lockIfUnused(path, S_IFDIR) else { continue }
                withExtendedLifetime(held) { StagingFolder.empty(path) }
            }
        }
    }

    /// Opens and locks a file of this type that this user owns; nil for anything else, or if another process holds the
    /// lock.
    private static func lockIfUnused(_ path: String, _ type: mode_t) -> OpenFile? {
        let descriptor = System.retrying { unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { return nil }
        let file = OpenFile(owning: descriptor, path: path)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == type, status.st_uid == geteuid(),
            flock(descriptor, LOCK_EX | LOCK_NB) == 0
        else { return nil }
        return file
    }
}

extension OpenFile {
    /// Marks a temporary file or folder as in use, so that `StaleFiles` leaves it alone.
    ///
    /// - Returns: false if another process removed it before it could be locked.
    func lockAsInUse() -> Bool {
        // On a file system without locks, nothing is ever removed.
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }
}
