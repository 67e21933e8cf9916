internal import Glibc

/// A file that has no name until it is complete: created in its final folder with mode 0600, and gone if dropped.
///
/// `publish` or `replace` names it. `publish` syncs the file, calls `linkat` (which fails if the name is taken, so
/// nothing is overwritten) and syncs the folder. On a file system without `O_TMPFILE`, a temporary name created with
/// `O_EXCL` is used instead. The temporary name is always removed, by the next run if necessary: the file is renamed
/// without replacing (`renameat2`) or, if that is missing too, linked and unlinked.
package final class UnnamedFile {
    /// The open file; write to it sequentially.
    package let file: OpenFile
    private let folder: OpenFile
    private var temporaryName: String?

    // O_TMPFILE of <fcntl.h>; Swift cannot import the macro.
    private static let temporaryFile: Int32 = 0o20000000 | O_DIRECTORY

    /// The ways that a file system may support, best first.
    enum Way {
        case withoutName, renaming, linking
    }
    private let way: Way

    /// Creates the file in `folderPath`.
    ///
    /// - Throws: `FileFailure` (`notFound` if the folder is missing, `system`).
    package convenience init(inFolder folderPath: String) throws(FileFailure) {
        try self.init(inFolder: folderPath, way: Self.bestWay)
    }

    /// Creates the file in an open folder.
    ///
    /// - Parameter sweeps: false to leave what a killed process left in the folder, for the second file of a batch.
    convenience init(in folder: OpenFile, sweeps: Bool) throws(FileFailure) {
        try self.init(in: folder, way: Self.bestWay, sweeps: sweeps)
    }

    /// The best way that this process can use.
    private static var bestWay: Way {
        // Naming an O_TMPFILE file needs the descriptor's path in /proc, which some sandboxes lack.
        unsafe access("/proc/self/fd", X_OK) == 0 ? .withoutName : .renaming
    }

    /// Creates the file in the best supported way, starting with `way`.
    convenience init(inFolder folderPath: String, way: Way) throws(FileFailure) {
        let folderDescriptor = System.retrying { unsafe open(folderPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard folderDescriptor >= 0 else {
            let code = errno
            try Path.requireFolder(folderPath, named: folderPath)
            throw .opening(folderPath, code)
        }
        try self.init(in: OpenFile(owning: folderDescriptor, path: folderPath), way: way, sweeps: true)
    }

    private init(in folder: OpenFile, way: Way, sweeps: Bool) throws(FileFailure) {
        self.way = way
        self.folder = folder
        let (folderPath, folderDescriptor) = (folder.path, folder.descriptor)
        // Also where files have no names: a process that was killed in `replace` left one with a temporary name.
        if sweeps { Self.sweep(folder) }

        var descriptor: Int32 = -1
        if way == .withoutName {
            descriptor = System.retrying {
                unsafe openat(folderDescriptor, ".", Self.temporaryFile | O_RDWR | O_CLOEXEC, 0o600)
            }
        }
        if descriptor < 0 && (way != .withoutName || [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(errno)) {
            let passing = try Self.passingFile(in: folder)
            temporaryName = passing.name
            file = passing.file
            return
        }
        guard descriptor >= 0 else { throw FileFailure(folderPath, .system(errno, doing: "creating a file in")) }
        file = OpenFile(owning: descriptor, path: folderPath)
        // The lock protects the file between the two names of `PrivateFile.replace`.
        _ = file.lockAsInUse()
    }

    /// Removes what a killed process left; in a shared folder, where other users choose names, files of this user alone.
    ///
    /// - Returns: false if something cannot be removed, or the folder not listed.
    @discardableResult
    static func sweep(_ folder: OpenFile) -> Bool {
        do throws(FileFailure) {
            return try isPrivate(folder.path) ? StaleFiles.remove(in: folder.path) : StaleFiles.removeOwn(in: folder)
        } catch {
            // No name is taken, so that it stays for the next run.
            return false
        }
    }

    private static func isPrivate(_ folder: String) -> Bool {
        do throws(FileFailure) {
            try PrivateFolder.require(folder)
            return true
        } catch {
            return false
        }
    }

    private static func passingFile(in folder: OpenFile) throws(FileFailure) -> (name: String, file: OpenFile) {
        while true {
            let name = try temporaryName(in: folder.path)
            let descriptor = System.retrying {
                unsafe openat(folder.descriptor, name, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0o600)
            }
            guard descriptor >= 0 else {
                throw FileFailure(folder.path, .system(errno, doing: "creating a file in"))
            }
            let file = OpenFile(owning: descriptor, path: folder.path)
            if file.lockAsInUse() { return (name, file) }
        }
    }

    deinit {
        if let temporaryName { unsafe unlinkat(folder.descriptor, temporaryName, 0) }
    }

    /// A unique hidden name, which the next run of the program frees if this process is killed.
    static func temporaryName(in folder: String) throws(FileFailure) -> String {
        let name = temporaryName(of: try Naming.uniqueWord(for: folder))
        try UnsweptFolders.add(name, in: folder)
        return name
    }

    static func temporaryName(of word: String) -> String { ".kcbackup-\(word).tmp" }

    /// True for a name that only a temporary file has.
    package static func isTemporaryName(_ name: String) -> Bool {
        guard let word = name.exact.removingPrefix(".kcbackup-")?.exact.removingSuffix(".tmp") else { return false }
        return Naming.isUniqueWord(word.utf8)
    }

    /// Makes the contents durable without naming the file.
    package func synchronize() throws(StreamFailure) {
        try file.synchronize()
    }

    /// Gives the file a name, a single component, in its folder; an existing entry of any type is left alone.
    ///
    /// The contents are durable by then. If the folder cannot be synced afterwards, the file keeps its name, and the
    /// failure is recorded in `Durability`.
    ///
    /// - Parameter syncsFolder: false if the caller does, after a batch of files.
    /// - Throws: `FileFailure` (`exists`, `noSafeNaming`, `system`); the name then does not exist or belongs to another
    ///   file.
    package func publish(as name: String, syncsFolder: Bool = true) throws(FileFailure) {
        try publish(as: name, in: folder)
        if syncsFolder { Path.synchronizeFolder(folder) }
    }

    private func publish(as name: String, in target: OpenFile) throws(FileFailure) {
        precondition(!name.utf8.contains(UInt8(ascii: "/")), "a name is one component")
        let path = target.path == "." ? name : target.path + "/" + name
        guard System.retrying({ fsync(file.descriptor) }) == 0 else {
            throw FileFailure(path, .system(errno, doing: "writing"))
        }
        let code = link(as: name, in: target)
        guard code == 0 else { throw Naming.failure(path, code) }
    }

    /// Names the file, replacing any file of that name; readers see either the old file or the new one.
    ///
    /// The contents are durable by then; if the folder cannot be synced, the failure is recorded in `Durability`.
    ///
    /// - Parameter syncsFolder: false if the caller does, after a batch of files.
    /// - Throws: `FileFailure` (`noSafeNaming`, `system`); the name is then unchanged.
    package func replace(_ name: String, syncsFolder: Bool = true) throws(FileFailure) {
        precondition(!name.utf8.contains(UInt8(ascii: "/")), "a name is one component")
        // linkat cannot replace, so the complete file gets a temporary name first.
        let passing = try Self.temporaryName(in: folder.path)
        try publish(as: passing, syncsFolder: syncsFolder)
        guard unsafe renameat(folder.descriptor, passing, folder.descriptor, name) == 0 else {
            let code = errno
            unsafe unlinkat(folder.descriptor, passing, 0)
            throw FileFailure(
                folder.path == "." ? name : folder.path + "/" + name, .system(code, doing: "replacing"))
        }
        if syncsFolder { Path.synchronizeFolder(folder) }
    }

    /// Names the file in the place of one that is still as it was read; never takes the place of another one.
    ///
    /// The contents are durable by then; if the folder cannot be synced, the failure is recorded in `Durability`.
    ///
    /// - Parameters:
    ///   - expected: what the file to be replaced was when it was read.
    ///   - syncsFolder: false if the caller does, after a batch of files.
    ///   - isWanted: asked when the file is out of its place; false puts it back.
    /// - Returns: false if another file has the name, or if it was changed; it is then as the other program left it.
    /// - Throws: as `replace`; what is not the file that was read is there under a name of a hidden file at worst.
    package func replace(
        _ name: String, ifStill expected: EntryStatus, syncsFolder: Bool = true,
        isWanted: @escaping () -> Bool = { true }
    ) throws(FileFailure) -> Bool {
        precondition(!name.utf8.contains(UInt8(ascii: "/")), "a name is one component")
        let isReplaced = try displace(name, expected, isWanted)
        if syncsFolder { Path.synchronizeFolder(folder) }
        return isReplaced
    }

    private func displace(
        _ name: String, _ expected: EntryStatus, _ isWanted: @escaping () -> Bool
    ) throws(FileFailure) -> Bool {
        let place = try PassingFolder(in: folder)
        defer { withExtendedLifetime(place) {} }
        try publish(as: PassingFolder.fileName, in: place.folder)
        var displacement = Displacement(of: name, in: folder, expecting: expected)
        displacement.isWanted = isWanted
        return try displacement.replace(by: file, in: place)
    }

    /// Names the file; returns 0 or the `errno`.
    private func link(as name: String, in target: OpenFile) -> Int32 {
        guard let temporaryName else {
            let descriptorPath = "/proc/self/fd/\(file.descriptor)"
            let result = System.retrying {
                unsafe linkat(AT_FDCWD, descriptorPath, target.descriptor, name, AT_SYMLINK_FOLLOW)
            }
            return result == 0 ? 0 : errno
        }
        let code = Naming.move(
            temporaryName, in: folder, to: name, in: target, way: way == .linking ? .linking : .renaming)
        if code == 0 { self.temporaryName = nil }
        return code
    }
}
