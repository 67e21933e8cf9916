internal import CKCFiles
internal import Glibc

/// An open folder, in which names are looked up without following a symbolic link.
///
/// A path is walked name by name. A link that is put in place of a folder on the way is met, and not followed.
///
/// ```swift
/// let home = try OpenFolder("/home/ada")
/// let file = try home.folder(".ssh").file("config")
/// ```
package final class OpenFolder: Sendable {
    private let file: OpenFile

    /// The path that it was opened under, for messages.
    package var path: String { file.path }

    /// The descriptor, valid while this object lives.
    package var descriptor: Int32 { file.descriptor }

    init(_ file: OpenFile) { self.file = file }

    /// Opens a folder that the user means; links that lead to it are followed.
    package convenience init(_ path: String) throws(FileFailure) {
        let descriptor = System.retrying { unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw .opening(path, errno) }
        self.init(OpenFile(owning: descriptor, path: path))
    }

    /// Opens a folder in it.
    ///
    /// - Throws: `FileFailure` (`notFound` also for what is no folder, such as a symbolic link to one).
    package func folder(_ name: String) throws(FileFailure) -> OpenFolder {
        OpenFolder(try opening(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
    }

    /// Opens a regular file in it for reading.
    package func file(_ name: String) throws(FileFailure) -> OpenFile {
        // O_NONBLOCK: opening a FIFO must not wait for a writer.
        let file = try opening(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        guard try file.status().st_mode & S_IFMT == S_IFREG else { throw FileFailure(file.path, .notRegular) }
        return file
    }

    private func opening(_ name: String, _ flags: Int32) throws(FileFailure) -> OpenFile {
        let path = try self.path(of: name)
        let folder = file.descriptor
        let descriptor = System.retrying { unsafe openat(folder, name, flags | O_CLOEXEC) }
        guard descriptor >= 0 else { throw .opening(path, errno) }
        return OpenFile(owning: descriptor, path: path)
    }

    /// The path of a name in it.
    private func path(of name: String) throws(FileFailure) -> String {
        precondition(!name.utf8.contains(UInt8(ascii: "/")) && name != "..", "a name is one component")
        return path == "/" ? "/" + name : path + "/" + name
    }

    /// Returns the status of the entry with a name; nil if there is none.
    package func status(of name: String) throws(FileFailure) -> EntryStatus? {
        var status = stat()
        if unsafe fstatat(file.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return EntryStatus(status) }
        if errno == ENOENT { return nil }
        throw FileFailure(try path(of: name), .system(errno, doing: "examining"))
    }

    /// Returns the status of the folder itself.
    package func status() throws(FileFailure) -> EntryStatus { EntryStatus(try file.status()) }

    /// The names in it, without `.` and `..`, unordered.
    ///
    /// - Parameter unreadable: receives the names that are not UTF-8, with a sign in place of each part that is not.
    package func names(unreadable: inout [String]) throws(FileFailure) -> [String] {
        // A descriptor of its own: the position in a list belongs to the open file.
        let folder = file.descriptor
        let descriptor = System.retrying { unsafe openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0, let stream = unsafe fdopendir(descriptor) else {
            let code = errno
            if descriptor >= 0 { close(descriptor) }
            throw FileFailure(path, .system(code, doing: "listing"))
        }
        defer { unsafe closedir(stream) }
        return unsafe try Path.names(of: stream, path, unreadable: &unreadable)
    }

    /// Creates a folder in it with mode 0700, and opens it; `synchronize` makes it durable.
    package func makeFolder(_ name: String) throws(FileFailure) -> OpenFolder {
        guard unsafe mkdirat(file.descriptor, name, 0o700) == 0 else {
            let path = try path(of: name)
            throw errno == EEXIST
                ? FileFailure(path, .exists) : FileFailure(path, .system(errno, doing: "creating the folder"))
        }
        return try folder(name)
    }

    /// Creates a file in it that has no name yet.
    ///
    /// - Parameter sweeps: true to remove first what a killed process left in it, for which all of its names are read.
    package func unnamedFile(sweeps: Bool) throws(FileFailure) -> UnnamedFile {
        try UnnamedFile(in: file, sweeps: sweeps)
    }

    /// Removes a file in it if it is still the one that was read; `synchronize` makes that durable.
    ///
    /// - Parameter expected: what it was when it was read.
    /// - Returns: false if another one has the name, or if it was changed; nothing is removed then.
    /// - Throws: `FileFailure`; what is not the file that was read is there under a name of a hidden file at worst.
    package func remove(_ name: String, ifStill expected: EntryStatus) throws(FileFailure) -> Bool {
        try Displacement(of: name, in: file, expecting: expected).remove()
    }

    /// Checks that a file in it could be made, replaced or removed, as far as that can be known without doing it.
    ///
    /// - Parameter status: what has the name now; nil for nothing.
    /// - Throws: `system` if it could not.
    package func requireReplaceable(_ name: String, _ status: EntryStatus?) throws(FileFailure) {
        guard unsafe faccessat(file.descriptor, ".", W_OK | X_OK, AT_EACCESS) == 0 else {
            throw FileFailure(path, .system(errno, doing: "writing to the folder"))
        }
        guard let status else { return }
        // With the sticky bit, only the owners of folder and file can.
        let folder = try self.status()
        let user = geteuid()
        if folder.permissions & 0o1000 != 0, user != 0, folder.owner != user, status.owner != user {
            throw FileFailure(try path(of: name), .system(EPERM, doing: "replacing"))
        }
        // A folder that takes no change but new names keeps all that it has.
        for kept in ["", name] where unsafe cfiles_is_kept_from_changes(file.descriptor, kept) != 0 {
            throw FileFailure(
                kept.isEmpty ? path : try path(of: kept),
                .system(EPERM, doing: kept.isEmpty ? "replacing a file in" : "replacing"))
        }
    }

    /// Checks that the content of a file in it could be changed, as far as that can be known without doing it.
    ///
    /// - Throws: `system` if it could not, or if there is none.
    package func requireWritable(_ name: String) throws(FileFailure) {
        guard unsafe faccessat(file.descriptor, name, W_OK, AT_EACCESS) == 0 else {
            let code = errno
            throw FileFailure(try path(of: name), .system(code, doing: "writing"))
        }
    }

    /// Gives a file in it another name, if that is free; `synchronize` makes that durable.
    ///
    /// - Throws: `FileFailure` (`exists`, `noSafeNaming`, `system`); the file then has its old name.
    package func move(_ name: String, to newName: String) throws(FileFailure) {
        let code = Naming.move(name, in: file, to: newName, in: file)
        guard code == 0 else { throw Naming.failure(try path(of: newName), code) }
    }

    /// Removes a file in it, if it exists; `synchronize` makes that durable.
    package func remove(_ name: String) throws(FileFailure) {
        guard unsafe unlinkat(file.descriptor, name, 0) == 0 || errno == ENOENT else {
            throw FileFailure(try path(of: name), .system(errno, doing: "removing"))
        }
    }

    /// Removes a folder in it, if it is one and empty but for what a killed process left; `synchronize` makes that durable.
    package func removeEmptyFolder(_ name: String) throws(FileFailure) {
        if unsafe unlinkat(file.descriptor, name, AT_REMOVEDIR) == 0 { return }
        if [ENOTEMPTY, EEXIST].contains(errno) { try StaleFiles.remove(in: path(of: name)) }
        if unsafe unlinkat(file.descriptor, name, AT_REMOVEDIR) == 0 { return }
        // A folder that is mounted there is in use.
        guard [ENOTEMPTY, EEXIST, ENOENT, ENOTDIR, EBUSY].contains(errno) else {
            throw FileFailure(try path(of: name), .system(errno, doing: "removing"))
        }
    }

    /// Makes the names in it durable; a failure is recorded in `Durability`.
    package func synchronize() { Path.synchronizeFolder(file) }

    /// Gives the folder to a user, as root.
    package func setOwner(user: UInt32, group: UInt32) throws(FileFailure) {
        try file.setOwner(user: user, group: group)
    }
}

/// The status of an entry of a folder; equal for an entry that has not changed.
package struct EntryStatus: Hashable, Sendable {
    package let kind: Path.Kind
    /// In bytes.
    package let size: UInt64
    /// The lowest twelve bits of its mode.
    package let permissions: UInt32
    /// The IDs of its user and its group.
    package let owner: UInt32
    package let group: UInt32
    /// How many names it has, in whatever folders.
    package let names: Int
    private let device: UInt64
    private let number: UInt64
    private let modifiedAt: Moment
    private let changedAt: Moment

    private struct Moment: Hashable {
        let seconds: Int64
        let nanoseconds: Int64

        init(_ time: timespec) {
            seconds = Int64(time.tv_sec)
            nanoseconds = Int64(time.tv_nsec)
        }
    }

    package init(_ file: OpenFile) throws(FileFailure) { self.init(try file.status()) }

    /// Examines what is at a path, following links, without opening it; nil if there is nothing.
    package init?(at path: String) throws(FileFailure) {
        var status = stat()
        if unsafe stat(path, &status) != 0 {
            let code = errno
            if code == ENOENT || code == ENOTDIR { return nil }
            throw FileFailure(path, .system(code, doing: "examining"))
        }
        self.init(status)
    }

    init(_ status: stat) {
        kind = Path.Kind(mode: status.st_mode)
        size = UInt64(max(0, status.st_size))
        permissions = status.st_mode & 0o7777
        owner = status.st_uid
        group = status.st_gid
        names = Int(status.st_nlink)
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
        modifiedAt = Moment(status.st_mtim)
        changedAt = Moment(status.st_ctim)
    }

    /// True for the same entry with the same contents and attributes, under whatever name.
    func isSame(as other: EntryStatus) -> Bool {
        // A new name changes the time of the last change, and nothing else.
        isSameEntry(as: other) && modifiedAt == other.modifiedAt && size == other.size
            && permissions == other.permissions && owner == other.owner && group == other.group && names == other.names
    }

    /// True for the same entry, whatever has become of it.
    func isSameEntry(as other: EntryStatus) -> Bool {
        device == other.device && number == other.number && kind == other.kind
    }

    /// When its content was last changed, in microseconds since 1970; nil if that is out of the range of the type.
    package var modifiedInMicroseconds: Int64? { Self.microseconds(modifiedAt) }

    /// When its content or anything else about it was last changed, which no program can set.
    package var changedInMicroseconds: Int64? { Self.microseconds(changedAt) }

    /// A text that differs after each change.
    package var mark: String { "\(size) \(changedAt.seconds).\(changedAt.nanoseconds)" }

    private static func microseconds(_ moment: Moment) -> Int64? {
        let (whole, isTooLarge) = moment.seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, overflow) = whole.addingReportingOverflow(moment.nanoseconds / 1_000)
        return isTooLarge || overflow ? nil : sum
    }
}

extension OpenFile {
    /// Sets the lowest twelve bits of the mode.
    package func setPermissions(_ permissions: UInt32) throws(FileFailure) {
        guard fchmod(descriptor, permissions) == 0 else {
            throw FileFailure(path, .system(errno, doing: "setting the permissions of"))
        }
    }

    /// Sets the time when its content was last changed.
    package func setModified(microseconds: Int64) throws(FileFailure) {
        let second: Int64 = 1_000_000
        let fraction = (microseconds % second + second) % second
        let time = timespec(tv_sec: Int((microseconds - fraction) / second), tv_nsec: Int(fraction * 1_000))
        let times = [time, time]
        guard unsafe futimens(descriptor, times) == 0 else {
            throw FileFailure(path, .system(errno, doing: "setting the time of"))
        }
    }

    /// Gives the file to a user, as root.
    package func setOwner(user: UInt32, group: UInt32) throws(FileFailure) {
        guard fchown(descriptor, user, group) == 0 else {
            throw FileFailure(path, .system(errno, doing: "setting the owner of"))
        }
    }
}
