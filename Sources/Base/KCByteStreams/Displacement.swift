internal import CKCFiles
internal import Glibc

/// Takes a file out of its place only if it is the one that was read.
///
/// A look before a rename leaves a moment in which another program can put a newer version there, and the rename would
/// destroy it. So the file first gets a temporary name, in exchange for the new file if there is one, and is examined under
/// that name: it is removed if it is the one that was read, and put back if it is not (docs/decisions/0049).
///
/// Where the file system or a sandbox has no exchange of names, there is only the look before.
struct Displacement {
    private let name: String
    private let folder: OpenFile
    private let expected: EntryStatus
    /// Asked when the file is out of its place; false puts it back.
    var isWanted: () -> Bool = { true }
    /// Runs between the last look and the change of names, for tests.
    var meanwhile: () -> Void = {}
    /// Runs before each change of names that puts a file back, for tests.
    var whilePuttingBack: () -> Void = {}

    /// - Parameter expected: what the file was when it was read.
    init(of name: String, in folder: OpenFile, expecting expected: EntryStatus) {
        self.name = name
        self.folder = folder
        self.expected = expected
    }

    /// Gives the name to a file that has the name `passing`, which is free afterwards.
    ///
    /// - Returns: false if the file with the name is not as it was read, and keeps it.
    /// - Throws: `system`; the new file has no name then, and the other one is where it was unless it could not be put back.
    ///   `displaced` if several programs replaced the file meanwhile: each of their versions has a name then.
    ///   `remains` if what was displaced cannot be removed: the new file has the name then.
    func replace(by new: OpenFile, named passing: String) throws(FileFailure) -> Bool {
        guard let old = try hold() else {
            remove(passing)
            return false
        }
        defer { withExtendedLifetime(old) {} }
        meanwhile()
        guard exchange(passing) == 0 else {
            let code = errno
            // EINVAL: the file system has no exchange. EPERM: a sandbox blocks the call, or the folder is another's.
            if [EINVAL, ENOSYS, ENOTSUP, EPERM].contains(code) { return try replaceWithoutExchange(passing) }
            remove(passing)
            if code == ENOENT { return false }
            throw failure(code, "replacing")
        }
        if try isExpected(passing) {
            if let code = removeDisplaced(passing) { throw FileFailure(path(name), .remains(at: path(passing), code)) }
            return true
        }
        try putBack(from: passing, insteadOf: EntryStatus(new))
        return false
    }

    /// Removes the file.
    ///
    /// - Returns: false if the file with the name is not as it was read, and keeps it.
    /// - Throws: `FileFailure` (`system`, `displaced` if yet another program has taken the name of one that had to go back).
    func remove() throws(FileFailure) -> Bool {
        guard let old = try hold() else { return false }
        let passing = try UnnamedFile.temporaryName(in: folder.path)
        defer { withExtendedLifetime(old) {} }
        meanwhile()
        let code = Naming.move(name, in: folder, to: passing, in: folder)
        if code == ENOENT { return false }
        if code == ENOTSUP {
            guard try status(name) == expected else { return false }
            guard unsafe unlinkat(folder.descriptor, name, 0) == 0 else { throw failure(errno, "removing") }
            return true
        }
        guard code == 0 else { throw failure(code, "removing") }
        if try isExpected(passing) {
            if let code = removeDisplaced(passing) {
                throw FileFailure(path(passing), .system(code, doing: "removing"))
            }
            return true
        }
        whilePuttingBack()
        if Naming.move(passing, in: folder, to: name, in: folder) != 0 { throw try displaced(passing) }
        return false
    }

    /// Opens the file if it is as it was read, and locks it, so that no other process removes it as stale while it has a
    /// temporary name.
    private func hold() throws(FileFailure) -> OpenFile? {
        let descriptor = System.retrying {
            unsafe openat(folder.descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        }
        guard descriptor >= 0 else {
            if [ENOENT, ELOOP, ENXIO].contains(errno) { return nil }
            throw failure(errno, "opening")
        }
        let file = OpenFile(owning: descriptor, path: path(name))
        guard try EntryStatus(file) == expected, file.lockAsInUse() else { return nil }
        return file
    }

    /// True if the file with the name `passing` is the one that was read, and `isWanted` agrees.
    private func isExpected(_ passing: String) throws(FileFailure) -> Bool {
        try status(passing)?.isSame(as: expected) == true && isWanted()
    }

    private func replaceWithoutExchange(_ passing: String) throws(FileFailure) -> Bool {
        guard try status(name) == expected else {
            remove(passing)
            return false
        }
        guard unsafe renameat(folder.descriptor, passing, folder.descriptor, name) == 0 else {
            let code = errno
            remove(passing)
            throw failure(code, "replacing")
        }
        return true
    }

    /// Gives the name back to the file that has the name `passing`, or to one that has come after it.
    ///
    /// - Parameter new: the file that has the name, unless yet another program has replaced it.
    private func putBack(from passing: String, insteadOf new: EntryStatus) throws(FileFailure) {
        whilePuttingBack()
        guard exchange(passing) == 0 else {
            let code = errno
            // Another program has removed the new file, so the name is free.
            if code == ENOENT, Naming.move(passing, in: folder, to: name, in: folder) == 0 { return }
            throw try displaced(passing)
        }
        if try status(passing)?.isSameEntry(as: new) == true { return remove(passing) }
        // Another program has replaced the new file without having seen the one that was held here, and has its place.
        whilePuttingBack()
        _ = exchange(passing)
        throw try displaced(passing)
    }

    /// Moves another program's version to a name beside the file's: under its temporary name it would later be removed as
    /// stale.
    ///
    /// - Throws: `FileFailure` (`system`); it has its temporary name then.
    private func displaced(_ passing: String) throws(FileFailure) -> FileFailure {
        let beside = "\(name).\(try Naming.uniqueWord(for: folder.path))"
        let code = Naming.move(passing, in: folder, to: beside, in: folder)
        guard code == 0 else { throw Naming.failure(path(passing), code) }
        return FileFailure(path(name), .displaced(to: path(beside)))
    }

    private func exchange(_ passing: String) -> Int32 {
        System.retrying { unsafe cfiles_exchange_names(folder.descriptor, passing, name) }
    }

    /// Removes what was displaced, which may be the clear text of a file that is encrypted now, and must not be left silently.
    ///
    /// - Returns: why that failed, as an `errno`.
    private func removeDisplaced(_ passing: String) -> Int32? {
        unsafe unlinkat(folder.descriptor, passing, 0) == 0 || errno == ENOENT ? nil : errno
    }

    /// Removes a new file that is not wanted; if that fails, `StaleFiles` does it later.
    private func remove(_ passing: String) { unsafe unlinkat(folder.descriptor, passing, 0) }

    private func status(_ name: String) throws(FileFailure) -> EntryStatus? {
        var status = stat()
        if unsafe fstatat(folder.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return EntryStatus(status) }
        if errno == ENOENT { return nil }
        throw failure(errno, "examining")
    }

    private func path(_ name: String) -> String { folder.path == "." ? name : folder.path + "/" + name }

    private func failure(_ code: Int32, _ what: String) -> FileFailure {
        FileFailure(path(name), .system(code, doing: what))
    }
}
