internal import Glibc

/// An exclusive lock, held until the object is released; the kernel releases it if the process dies.
package final class FileLock {
    private let file: OpenFile

    /// How long to wait for another process by default.
    package static let defaultWait = Duration.seconds(10)

    // Long enough to cost nothing, short enough not to be noticed.
    private static let pause = timespec(tv_sec: 0, tv_nsec: 20_000_000)

    /// Waits at most `limit` for the current holder; creates the file with mode 0600 if it is missing.
    ///
    /// - Throws: `FileFailure`: `busy`; `notRegular`, `foreignOwner` or `exposed` for a file that is not private, since
    ///   another user could hold its lock forever; `notFound` if the folder is missing; `system`, with `EINTR` if a
    ///   signal asks the process to stop.
    package init(_ path: String, waitingAtMost limit: Duration = defaultWait) throws(FileFailure) {
        file = try Self.acquire(path, ContinuousClock.now + limit)
    }

    /// Locks a folder's contents through the file `.lock` in it.
    ///
    /// - Throws: as `init(_:waitingAtMost:)`, and `sharedFolder`, `foreignFolder`.
    package static func ofFolder(_ folder: String, waitingAtMost limit: Duration = defaultWait) throws(FileFailure)
        -> FileLock
    {
        try PrivateFolder.require(folder)
        return try FileLock(folder + "/.lock", waitingAtMost: limit)
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

    private static func wait(for file: OpenFile, _ deadline: ContinuousClock.Instant) throws(FileFailure) {
        while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if Interruption.isRequested { throw FileFailure(file.path, .system(EINTR, doing: "locking")) }
            guard code == EWOULDBLOCK || code == EINTR else {
                throw FileFailure(file.path, .system(code, doing: "locking"))
            }
            guard ContinuousClock.now < deadline else { throw FileFailure(file.path, .busy) }
            var pause = pause
            unsafe nanosleep(&pause, nil)
        }
    }
}
