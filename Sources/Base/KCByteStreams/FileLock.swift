internal import Glibc

/// An exclusive lock, held until the object is released; the kernel releases it if the process dies.
package final class FileLock {
    private let file: OpenFile

    /// How long to wait for another process by default.
    package static let defaultWait = Duration.seconds(10)

    // Nanoseconds between two attempts. Short for as long as the holders may be commits to a busy disk, so that a process
    // that has just had the lock does not come before one that waits for it; then long enough to cost next to nothing.
    private static let pauses = (first: 200_000, later: 2_000_000)
    private static let firstAttempts = 2_000
    // F_OFD_SETLK (fcntl(2)), which Glibc declares for programs that ask for GNU extensions.
    private static let setOpenFileLock: Int32 = 37

    /// Acquires the lock, waiting at most `limit` for its holder; creates the file with mode 0600 if it is missing.
    ///
    /// - Throws: `FileFailure`: `busy`; `notRegular`, `foreignOwner` or `exposed` for a file that is not private, since
    ///   another user could hold its lock forever; `notFound` if the folder is missing; `system`, with `EINTR` if a
    ///   signal asks the process to stop.
    package init(_ path: String, waitingAtMost limit: Duration = defaultWait) throws(FileFailure) {
        file = try Self.acquire(path, ContinuousClock.now + limit)
    }

    deinit {
        // Closing the file would not release the lock while a process that is being started has a copy of it.
        _ = flock(file.descriptor, LOCK_UN)
    }

    /// Locks a folder's contents through its file `.lock`.
    ///
    /// - Throws: the same as `init(_:waitingAtMost:)`, and `sharedFolder`, `foreignFolder`.
    package static func ofFolder(_ folder: String, waitingAtMost limit: Duration = defaultWait) throws(FileFailure)
        -> FileLock
    {
        try PrivateFolder.require(folder)
        return try FileLock(folder + "/.lock", waitingAtMost: limit)
    }

    /// Checks that `ofFolder` could make the file that it locks, as far as that can be known without doing it.
    ///
    /// - Throws: as `Path.requireRoom(inFolder:)`.
    package static func requireLockable(_ folder: String) throws(FileFailure) {
        let path = folder + "/.lock"
        if try Path.exists(path) { return }
        do throws(FileFailure) {
            try Path.requireRoom(inFolder: folder)
        } catch {
            guard case .system(let code, _) = error.problem, error.path.exact == folder.exact, Path.isFolder(folder)
            else { throw error }
            throw .opening(path, code)
        }
    }

    private static func acquire(
        _ path: String, _ deadline: ContinuousClock.Instant
    ) throws(FileFailure) -> OpenFile {
        while true {
            // O_NONBLOCK: opening must not block on a FIFO of this name.
            let descriptor = System.retrying {
                unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
            }
            guard descriptor >= 0 else { throw .opening(path, errno) }
            let file = OpenFile(owning: descriptor, path: path)
            let status = try file.status()
            guard status.st_mode & S_IFMT == S_IFREG else { throw FileFailure(path, .notRegular) }
            guard status.st_uid == geteuid() else { throw FileFailure(path, .foreignOwner) }
            guard status.st_mode & 0o077 == 0 else { throw FileFailure(path, .exposed(mode: status.st_mode & 0o777)) }
            try wait(for: file, deadline)
            // Deleting a keychain also removes its lock file, and a lock on an unlinked file protects nothing.
            var named = stat()
            if unsafe lstat(path, &named) == 0, named.st_dev == status.st_dev, named.st_ino == status.st_ino {
                return file
            }
        }
    }

    /// Waits for a turn, then for the lock.
    ///
    /// The kernel grants a free lock to the next process that asks, so a program that releases it and immediately asks
    /// again could hold it forever. Therefore only one process waits for the lock itself; all others, including the
    /// last holder, wait for their turn to do so.
    private static func wait(for file: OpenFile, _ deadline: ContinuousClock.Instant) throws(FileFailure) {
        try retry(file, deadline) { setTurn(of: file, F_WRLCK) }
        // On a file system without such locks, there is no order.
        defer { _ = setTurn(of: file, F_UNLCK) }
        try retry(file, deadline) { flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno }
    }

    /// Repeats `attempt`, which returns an error number, until it returns 0 or the deadline passes.
    private static func retry(
        _ file: OpenFile, _ deadline: ContinuousClock.Instant, _ attempt: () -> Int32
    ) throws(FileFailure) {
        var attempts = 0
        while true {
            let code = attempt()
            if code == 0 { return }
            if Interruption.isRequested { throw FileFailure(file.path, .system(EINTR, doing: "locking")) }
            guard code == EWOULDBLOCK || code == EINTR else {
                throw FileFailure(file.path, .system(code, doing: "locking"))
            }
            guard ContinuousClock.now < deadline else { throw FileFailure(file.path, .busy) }
            var time = timespec(tv_sec: 0, tv_nsec: attempts < firstAttempts ? pauses.first : pauses.later)
            unsafe nanosleep(&time, nil)
            attempts += 1
        }
    }

    /// Takes or releases the turn to wait: an OFD lock on the first byte, which is independent of flock(2).
    ///
    /// - Returns: 0, or `EWOULDBLOCK` if another process has the turn.
    private static func setTurn(of file: OpenFile, _ type: Int32) -> Int32 {
        var range = Glibc.flock()
        range.l_type = Int16(type)
        range.l_whence = Int16(SEEK_SET)
        range.l_len = 1
        let status = unsafe withUnsafeMutablePointer(to: &range) { unsafe fcntl(file.descriptor, setOpenFileLock, $0) }
        guard status != 0 else { return 0 }
        let code = errno
        // Any other error means that such locks are not available here.
        return code == EAGAIN || code == EACCES ? EWOULDBLOCK : code == EINTR ? EINTR : 0
    }
}
