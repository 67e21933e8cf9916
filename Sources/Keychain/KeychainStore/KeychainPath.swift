internal import ByteStreams
internal import Glibc

/// What is done with the names of a keychain: the file itself, its journal, its lock.
///
/// The keychain file is never opened here: closing any descriptor of it would release the locks that SQLite holds
/// through another one (sqlite.org/howtocorrupt.html, 2.2).
struct KeychainPath {
    /// The path in a form that SQLite takes for nothing but a file name (not a URI, not `:memory:`).
    let path: String

    init(_ path: String) {
        self.path = path.hasPrefix("/") ? path : "./" + path
    }

    /// Makes sure that the file is ours alone, in a folder that is, and that nothing lies beside it that SQLite would
    /// believe.
    ///
    /// - Throws: `notFound`, `file`, `severalNames`, `foreignJournal`.
    func examine() throws(KeychainStoreError) {
        guard let status = try status("") else { throw .notFound(path) }
        try requirePrivateFolder()
        try require(status, "")
        if status.st_nlink != 1, try !isLastNameLeft() { throw .severalNames(path) }
        // Of write-ahead logs this program makes none; an interrupted change leaves a journal, with the file's mode.
        for suffix in ["-wal", "-shm"] where try self.status(suffix) != nil { throw .foreignJournal(path + suffix) }
        guard let journal = try self.status("-journal") else { return }
        try require(journal, "-journal")
        guard journal.st_nlink == 1, try JournalCheck.isHarmless(path + "-journal") else {
            throw .foreignJournal(path + "-journal")
        }
    }

    /// Makes sure that nobody else can put a journal beside the file, or another file in its place.
    ///
    /// - Throws: `file`.
    func requirePrivateFolder() throws(KeychainStoreError) {
        do throws(FileFailure) {
            try PrivateFolder.require(Path.split(path).folder)
        } catch {
            throw .file(error)
        }
    }

    /// Removes the second name that a process left that was killed while it gave the file its name.
    private func isLastNameLeft() throws(KeychainStoreError) -> Bool {
        do throws(FileFailure) {
            try StaleFiles.remove(in: Path.split(path).folder)
        } catch {
            throw .file(error)
        }
        return try status("")?.st_nlink == 1
    }

    /// What tells the file from another one under the same name: device and number; nil where there is none.
    ///
    /// - Throws: `file`.
    func identity() throws(KeychainStoreError) -> Identity? {
        try status("").map { Identity(device: UInt64($0.st_dev), number: UInt64($0.st_ino)) }
    }

    /// See `identity()`.
    struct Identity: Hashable {
        let device: UInt64
        let number: UInt64
    }

    /// - Throws: `file` (`exists`).
    func requireNothingBeside() throws(KeychainStoreError) {
        for suffix in ["-journal", "-wal", "-shm"] where try status(suffix) != nil {
            throw .file(FileFailure(path + suffix, .exists))
        }
    }

    private func status(_ suffix: String) throws(KeychainStoreError) -> stat? {
        var status = stat()
        if unsafe lstat(path + suffix, &status) == 0 { return status }
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

/// The exclusive right to change a keychain, held until the object is released; the kernel frees it if we die.
final class ChangeLock {
    private let lock: FileLock

    /// Waits at most `limit` for whoever holds it.
    ///
    /// - Throws: `busy`, `file`, `interrupted`.
    init(for keychain: KeychainPath, waitingAtMost limit: Duration) throws(KeychainStoreError) {
        do throws(FileFailure) {
            lock = try FileLock(keychain.path + ".lock", waitingAtMost: limit)
        } catch {
            if case .system = error.problem, Interruption.isRequested { throw .interrupted }
            throw error.problem == .busy ? .busy : .file(error)
        }
    }
}
