internal import CKCFiles
internal import Glibc

/// Takes a file out of its place only if it is the one that was read.
///
/// A look before a rename leaves a moment in which another program can put a newer version there, and the rename would
/// destroy it. So the file first gets a name in a `PassingFolder`, in exchange for the new file if there is one, and is
/// examined there: it is removed if it is the one that was read, and put back if it is not (docs/decisions/0049).
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

    /// Gives the name to the file that is in a folder of its own.
    ///
    /// - Returns: false if the file with the name is not as it was read, and keeps it.
    /// - Throws: `system`; the new file has no name then, and the other one is where it was unless it could not be put back.
    ///   `displaced` if several programs replaced the file meanwhile: each of their versions has a name then.
    ///   `remains` if what was displaced cannot be removed: the new file has the name then.
    func replace(by new: OpenFile, in place: PassingFolder) throws(FileFailure) -> Bool {
        guard try isAsRead else {
            remove(from: place)
            return false
        }
        meanwhile()
        guard exchange(with: place) == 0 else {
            let code = errno
            if Self.isUnsupported(code) { return try replaceWithoutExchange(place) }
            remove(from: place)
            if code == ENOENT { return false }
            throw failure(code, "replacing")
        }
        if try isExpected(in: place) {
            if let code = removeDisplaced(from: place) {
                throw FileFailure(path(name), .remains(at: Self.path(in: place), code))
            }
            return true
        }
        try putBack(from: place, insteadOf: EntryStatus(new))
        return false
    }

    /// Removes the file.
    ///
    /// - Returns: false if the file with the name is not as it was read, and keeps it.
    /// - Throws: `FileFailure` (`system`, `displaced` if yet another program has taken the name of one that had to go back).
    func remove() throws(FileFailure) -> Bool {
        guard try isAsRead else { return false }
        let place = try PassingFolder(in: folder)
        defer { withExtendedLifetime(place) {} }
        meanwhile()
        let code = Naming.move(name, in: folder, to: PassingFolder.fileName, in: place.folder)
        if code == ENOENT { return false }
        if Self.isUnsupported(code) {
            guard try isAsRead else { return false }
            guard unsafe unlinkat(folder.descriptor, name, 0) == 0 else { throw failure(errno, "removing") }
            return true
        }
        guard code == 0 else { throw failure(code, "removing") }
        if try isExpected(in: place) {
            if let code = removeDisplaced(from: place) {
                throw FileFailure(Self.path(in: place), .system(code, doing: "removing"))
            }
            return true
        }
        whilePuttingBack()
        if moveBack(from: place) != 0 { throw try displaced(in: place) }
        return false
    }

    /// True if a file cannot be moved to a folder and looked at there.
    ///
    /// EINVAL: the file system has no exchange. EPERM: a sandbox blocks the call, or the folder is another's. EXDEV: the
    /// folders have different quotas or keys, or the sandbox keeps files in theirs.
    private static func isUnsupported(_ code: Int32) -> Bool {
        [EINVAL, ENOSYS, ENOTSUP, EPERM, EXDEV].contains(code)
    }

    private var isAsRead: Bool { get throws(FileFailure) { try status(of: name, in: folder) == expected } }

    /// True if the file in the folder is the one that was read, and `isWanted` agrees.
    private func isExpected(in place: PassingFolder) throws(FileFailure) -> Bool {
        try status(in: place)?.isSame(as: expected) == true && isWanted()
    }

    private func replaceWithoutExchange(_ place: PassingFolder) throws(FileFailure) -> Bool {
        guard try isAsRead else {
            remove(from: place)
            return false
        }
        guard unsafe renameat(place.folder.descriptor, PassingFolder.fileName, folder.descriptor, name) == 0 else {
            let code = errno
            remove(from: place)
            throw failure(code, "replacing")
        }
        return true
    }

    /// Gives the name back to the file that is in the folder, or to one that has come after it.
    ///
    /// - Parameter new: the file that has the name, unless yet another program has replaced it.
    private func putBack(from place: PassingFolder, insteadOf new: EntryStatus) throws(FileFailure) {
        whilePuttingBack()
        guard exchange(with: place) == 0 else {
            let code = errno
            // Another program has removed the new file, so the name is free.
            if code == ENOENT, moveBack(from: place) == 0 { return }
            throw try displaced(in: place)
        }
        if try status(in: place)?.isSameEntry(as: new) == true { return remove(from: place) }
        // Another program has replaced the new file without having seen the one that was held here, and has its place.
        whilePuttingBack()
        _ = exchange(with: place)
        throw try displaced(in: place)
    }

    /// Moves another program's version to a name beside the file's: in the folder it would later be removed as stale.
    ///
    /// - Throws: `FileFailure` (`system`); it is still in the folder then.
    private func displaced(in place: PassingFolder) throws(FileFailure) -> FileFailure {
        let beside = "\(name).\(try Naming.uniqueWord(for: folder.path))"
        let code = Naming.move(PassingFolder.fileName, in: place.folder, to: beside, in: folder)
        guard code == 0 else { throw Naming.failure(Self.path(in: place), code) }
        return FileFailure(path(name), .displaced(to: path(beside)))
    }

    private func exchange(with place: PassingFolder) -> Int32 {
        System.retrying {
            unsafe cfiles_exchange_names(place.folder.descriptor, PassingFolder.fileName, folder.descriptor, name)
        }
    }

    private func moveBack(from place: PassingFolder) -> Int32 {
        Naming.move(PassingFolder.fileName, in: place.folder, to: name, in: folder)
    }

    /// Removes what was displaced, which may be the clear text of a file that is encrypted now, and must not be left silently.
    ///
    /// - Returns: why that failed, as an `errno`.
    private func removeDisplaced(from place: PassingFolder) -> Int32? {
        unsafe unlinkat(place.folder.descriptor, PassingFolder.fileName, 0) == 0 || errno == ENOENT ? nil : errno
    }

    /// Removes a new file that is not wanted; if that fails, `StaleFiles` does it later.
    private func remove(from place: PassingFolder) { _ = removeDisplaced(from: place) }

    private func status(in place: PassingFolder) throws(FileFailure) -> EntryStatus? {
        try status(of: PassingFolder.fileName, in: place.folder)
    }

    private func status(of name: String, in folder: OpenFile) throws(FileFailure) -> EntryStatus? {
        var status = stat()
        if unsafe fstatat(folder.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return EntryStatus(status) }
        if errno == ENOENT { return nil }
        throw failure(errno, "examining")
    }

    private static func path(in place: PassingFolder) -> String { "\(place.folder.path)/\(PassingFolder.fileName)" }

    private func path(_ name: String) -> String { folder.path == "." ? name : folder.path + "/" + name }

    private func failure(_ code: Int32, _ what: String) -> FileFailure {
        FileFailure(path(name), .system(code, doing: what))
    }
}
