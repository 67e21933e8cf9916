internal import Glibc

/// Files and folders that a killed process left under temporary names.
///
/// The maker of such a file or folder keeps it locked while it lives, so one that can be locked has no owner.
package enum Leftovers {
    /// Removes what is ours and without an owner; what cannot be removed stays for the next time.
    ///
    /// - Throws: `FileFailure` (`system`) when the folder cannot be listed.
    package static func sweep(_ folder: String) throws(FileFailure) {
        for name in try Path.names(in: folder) {
            let path = folder + "/" + name
            if UnnamedFile.isPassingName(name) {
                guard let held = hold(path, S_IFREG) else { continue }
                withExtendedLifetime(held) { _ = unsafe unlink(path) }
            } else if PassingFolder.isPassingName(name) {
                guard let held = hold(path, S_IFDIR) else { continue }
                withExtendedLifetime(held) { PassingFolder.empty(path) }
            }
        }
    }

    /// Opens and locks what is of this type and ours; nil for anything else, and for what another process holds.
    private static func hold(_ path: String, _ type: mode_t) -> OpenFile? {
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
    /// Marks a passing file or folder as held, for `Leftovers`.
    ///
    /// - Returns: false when it has been swept away before it could be held.
    func holdAgainstSweeping() -> Bool {
        // A file system without locks: there, nothing is ever swept away.
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }
}
