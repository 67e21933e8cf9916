internal import Glibc
internal import KCByteStreams

/// The files of a keychain: the database, its journal and its lock.
///
/// The keychain file is never opened here: closing any descriptor of it would release the locks that SQLite holds
/// through another one (sqlite.org/howtocorrupt.html, 2.2).
struct KeychainPath {
    /// The path in a form that SQLite can only take as a file name (not as a URI or `:memory:`).
    let path: String

    init(_ path: String) {
        self.path = path.exact.hasPrefix("/") ? path : "./" + path
    }

    /// Checks that the file and its folder are private, and that no file next to it would mislead SQLite.
    func examine() throws(KeychainStoreError) {
        guard let status = try status("") else { throw .notFound(path) }
        try requirePrivateFolder()
        try require(status, "")
        if status.st_nlink != 1, try !isLastNameLeft() { throw .severalNames(path) }
        // This program never creates write-ahead logs; an interrupted change leaves a journal, with the file's mode.
        for suffix in ["-wal", "-shm"] where try self.status(suffix) != nil { throw .foreignJournal(path + suffix) }
        guard let journal = try self.status("-journal") else { return }
        try require(journal, "-journal")
        guard journal.st_nlink == 1, try JournalCheck.isHarmless(path + "-journal") else {
            throw .foreignJournal(path + "-journal")
        }
    }

    /// Checks that no other user can add a journal next to the file, or replace the file.
    func requirePrivateFolder() throws(KeychainStoreError) {
        try failing(as: KeychainStoreError.file, PrivateFolder.require(Path.split(path).folder))
    }

    /// Removes a second name, left by a process that was killed while naming the file.
    private func isLastNameLeft() throws(KeychainStoreError) -> Bool {
        _ = try failing(as: KeychainStoreError.file, StaleFiles.remove(in: Path.split(path).folder))
        return try status("")?.st_nlink == 1
    }

    /// The device and inode of the file, to distinguish it from another with the same name; nil if it does not exist.
    func identity() throws(KeychainStoreError) -> Identity? {
        try status("").map { Identity(device: UInt64($0.st_dev), number: UInt64($0.st_ino)) }
    }

    /// See `identity()`.
    struct Identity: Hashable {
        let device: UInt64
        let number: UInt64
    }

    func requireNothingBeside() throws(KeychainStoreError) {
        for suffix in ["-journal", "-wal", "-shm"] where try status(suffix) != nil {
            throw .file(FileFailure(path + suffix, .exists))
        }
    }

    private func status(_ suffix: String) throws(KeychainStoreError) -> stat? {
        var status = stat()
        if unsafe lstat(path + suffix, &status) == 0 {
            // A file without names was removed between finding and examining it, as a journal is at the end of a change.
            return status.st_nlink == 0 ? nil : status
        }
        let code = errno
        if code == ENOENT || code == ENOTDIR { return nil }
        throw .file(FileFailure(path + suffix, .system(code, doing: "examining")))
    }

    private func require(_ status: stat, _ suffix: String) throws(KeychainStoreError) {
        let problem: FileFailure.Problem? =
            if status.st_mode & S_IFMT != S_IFREG {
                .notRegular
            } else if status.st_uid != geteuid() {
                .foreignOwner
            } else if status.st_mode & 0o077 != 0 {
                .exposed(mode: status.st_mode & 0o777)
            } else {
                nil
            }
        if let problem { throw .file(FileFailure(path + suffix, problem)) }
    }
}

extension KeychainPath {
    /// Waits until no process is changing the keychain, if one ever has.
    func awaitChange(atMost limit: Duration) throws(KeychainStoreError) {
        do throws(KeychainStoreError) {
            guard try status(".lock") != nil else { return }
            _ = try ChangeLock(for: self, waitingAtMost: limit)
        } catch {
            if error == .busy || error == .interrupted { throw error }
            // Whatever else is wrong with the lock is said where the change is made.
        }
    }
}

/// An exclusive lock for changing a keychain, held until the object is released; the kernel releases it if the process
/// dies.
final class ChangeLock {
    private let lock: FileLock

    /// Waits at most `limit` for the current holder.
    init(for keychain: KeychainPath, waitingAtMost limit: Duration) throws(KeychainStoreError) {
        do throws(FileFailure) {
            lock = try FileLock(keychain.path + ".lock", waitingAtMost: limit)
        } catch {
            if case .system = error.problem, Interruption.isRequested { throw .interrupted }
            throw error.problem == .busy ? .busy : .file(error)
        }
    }
}
