internal import Glibc

extension OpenFile {
    /// True if another process holds a lock of `fcntl` for writing on a part of the file, as browsers do while they run,
    /// and SQLite while it writes.
    ///
    /// Where a file system has no such locks, nobody can hold one.
    package var isLockedByAnother: Bool {
        var range = Glibc.flock()
        // A lock for reading would conflict only with one for writing.
        range.l_type = Int16(F_RDLCK)
        range.l_whence = Int16(SEEK_SET)
        let status = unsafe withUnsafeMutablePointer(to: &range) { unsafe fcntl(descriptor, F_GETLK, $0) }
        return status == 0 && range.l_type != Int16(F_UNLCK)
    }
}
