internal import Glibc

/// Removes temporary files and folders that a killed process left behind.
///
/// Their creator holds a lock on them while it lives, so a file or folder that can be locked is stale.
package enum StaleFiles {
    /// Removes this user's stale temporary files; any that cannot be removed are left for the next run.
    ///
    /// - Returns: false if some could not be removed.
    /// - Throws: `FileFailure` (`system`) if the folder cannot be listed.
    @discardableResult
    package static func remove(in folder: String) throws(FileFailure) -> Bool {
        var isClean = true
        for name in try Path.names(in: folder) {
            let path = folder + "/" + name
            if UnnamedFile.isTemporaryName(name) {
                guard let held = lockIfUnused(path, S_IFREG) else { continue }
                withExtendedLifetime(held) { if unsafe unlink(path) != 0 { isClean = false } }
            } else if StagingFolder.isTemporaryName(name) {
                guard let held = lockIfUnused(path, S_IFDIR) else { continue }
                withExtendedLifetime(held) { if !StagingFolder.empty(path) { isClean = false } }
            }
        }
        return isClean
    }

    /// Removes this user's stale temporary files in a folder in which others choose names too.
    ///
    /// This is safe there: it follows no link, and removes only regular files of this user that have one name and are not
    /// in use, and of a temporary folder the file that `PassingFolder` has in it.
    ///
    /// - Returns: false if some could not be removed.
    /// - Throws: `FileFailure` (`system`) if the folder cannot be listed.
    static func removeOwn(in folder: OpenFile) throws(FileFailure) -> Bool {
        var unreadable: [String] = []
        var isClean = true
        for name in try OpenFolder(folder).names(unreadable: &unreadable) {
            let isFolder = StagingFolder.isTemporaryName(name)
            guard isFolder || UnnamedFile.isTemporaryName(name) else { continue }
            let descriptor = System.retrying {
                unsafe openat(folder.descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            }
            guard descriptor >= 0,
                let held = lockIfUnused(OpenFile(owning: descriptor, path: name), isFolder ? S_IFDIR : S_IFREG)
            else { continue }
            let code = isFolder ? removeFolder(held, name, in: folder) : removeFile(held, name, in: folder)
            if code != 0 { isClean = false }
        }
        return isClean
    }

    /// Removes an open file, unless it has other names or another file has got its name since; returns 0 or the `errno`.
    private static func removeFile(_ file: OpenFile, _ name: String, in folder: OpenFile) -> Int32 {
        var (status, named) = (stat(), stat())
        guard unsafe fstat(file.descriptor, &status) == 0, status.st_nlink == 1,
            unsafe fstatat(folder.descriptor, name, &named, AT_SYMLINK_NOFOLLOW) == 0,
            named.st_dev == status.st_dev, named.st_ino == status.st_ino
        else { return 0 }
        return unsafe unlinkat(folder.descriptor, name, 0) == 0 ? 0 : errno
    }

    /// Removes what a `PassingFolder` can hold from an open folder, and the folder if that was all; returns 0 or the `errno`.
    private static func removeFolder(_ held: OpenFile, _ name: String, in folder: OpenFile) -> Int32 {
        guard unsafe unlinkat(held.descriptor, PassingFolder.fileName, 0) == 0 || errno == ENOENT else { return errno }
        // Others may have renamed a folder of this user to this name: what else is in it stays.
        let isGone = unsafe unlinkat(folder.descriptor, name, AT_REMOVEDIR) == 0
        return isGone || [ENOTEMPTY, EEXIST, ENOENT].contains(errno) ? 0 : errno
    }

    /// Opens and locks a file of this type that this user owns; nil for anything else, or if another process holds the
    /// lock.
    static func lockIfUnused(_ path: String, _ type: mode_t) -> OpenFile? {
        let descriptor = System.retrying { unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { return nil }
        return lockIfUnused(OpenFile(owning: descriptor, path: path), type)
    }

    private static func lockIfUnused(_ file: OpenFile, _ type: mode_t) -> OpenFile? {
        var status = stat()
        guard unsafe fstat(file.descriptor, &status) == 0, status.st_mode & S_IFMT == type, status.st_uid == geteuid(),
            flock(file.descriptor, LOCK_EX | LOCK_NB) == 0
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
