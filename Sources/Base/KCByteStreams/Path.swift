internal import Glibc

/// Operations on paths other than opening a file.
package enum Path {
    /// Splits a path into its folder (`.` if it has none) and its last component.
    package static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        return (folder, String(path[path.utf8.index(after: slash)...]))
    }

    /// The type of a directory entry, without following symbolic links.
    package enum Kind: Hashable, Sendable {
        case folder
        case file
        case link
        case other

        init(mode: mode_t) {
            self =
                switch mode & S_IFMT {
                case S_IFDIR: .folder
                case S_IFREG: .file
                case S_IFLNK: .link
                default: .other
                }
        }
    }

    /// The type of the entry at `path`; nil if there is none.
    package static func kind(of path: String) throws(FileFailure) -> Kind? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw FileFailure(path, .system(errno, doing: "examining"))
        }
        return Kind(mode: status.st_mode)
    }

    /// True if a file is in a folder of the system, whose permissions are not the user's to change.
    package static func isOfSystem(_ path: String) -> Bool {
        let resolved: String = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) {
            buffer in
            guard let start = buffer.baseAddress, unsafe realpath(path, start) != nil else { return path }
            return unsafe String(cString: start)
        }
        let folders = ["bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys", "usr"]
        return folders.contains { resolved.exact.hasPrefix("/\($0)/") }
    }

    /// The target of a symbolic link, exactly as stored in it.
    package static func destination(of link: String) throws(FileFailure) -> String {
        let target: String? = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) {
            buffer in
            guard let start = buffer.baseAddress else { return nil }
            let length = unsafe readlink(link, start, Int(PATH_MAX))
            guard length >= 0 else { return nil }
            unsafe start[length] = 0
            return unsafe String(cString: start)
        }
        guard let target else { throw FileFailure(link, .system(errno, doing: "examining")) }
        return target
    }

    /// Creates a folder and its missing parents, each durable and with mode 0700; existing folders are left unchanged.
    ///
    /// - Throws: `FileFailure` (`notFolder` if the name belongs to something else, `sharedFolder`, `foreignFolder`,
    ///   `system`).
    package static func makeFolder(_ path: String) throws(FileFailure) {
        // Checked before anything is created in another user's folder.
        try PrivateFolder.require(path, mayBeMissing: true)
        try makeMissing(path)
        // In a world-writable folder, another user may have created it first.
        try PrivateFolder.require(path)
    }

    private static func makeMissing(_ path: String) throws(FileFailure) {
        if path.utf8.count > 1 && path.utf8.last == UInt8(ascii: "/") {
            return try makeMissing(path.exact.removingSuffix("/") ?? path)
        }
        if path.isEmpty || isFolder(path) { return }
        let parent = split(path).folder
        try makeMissing(parent)
        if unsafe mkdir(path, 0o700) != 0 {
            let code = errno
            // Another process may have created it in the meantime.
            if code == EEXIST && isFolder(path) { return }
            throw FileFailure(path, code == EEXIST ? .notFolder : .system(code, doing: "creating the folder"))
        }
        synchronizeFolder(parent)
    }

    /// Checks that a file could be made in a folder, which `makeFolder` makes if it is missing, as far as that can be known
    /// without doing it.
    ///
    /// - Throws: as `makeFolder`, and `system` if no file could be made in it.
    package static func requireRoom(inFolder path: String) throws(FileFailure) {
        try PrivateFolder.require(path, mayBeMissing: true)
        var folder = path
        var missing: String?
        while try !exists(folder) {
            missing = folder
            folder = split(folder).folder
        }
        guard isFolder(folder) else { throw FileFailure(folder, .notFolder) }
        guard unsafe faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0 else {
            let code = errno
            if let missing { throw FileFailure(missing, .system(code, doing: "creating the folder")) }
            throw FileFailure(folder, .system(code, doing: "creating a file in"))
        }
    }

    /// Checks that there is a folder in which a file can be made, as far as that can be known without making it.
    ///
    /// - Parameter given: the path as the user named it, for the failure.
    /// - Throws: `FileFailure`: `notFound`, `notFolder` for the part of the path that is something else, `system`.
    package static func requireFolder(_ path: String, named given: String) throws(FileFailure) {
        var status = stat()
        let code = unsafe stat(path, &status) == 0 ? 0 : errno
        switch code {
        case 0 where status.st_mode & S_IFMT == S_IFDIR:
            guard unsafe faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) != 0 else { return }
            throw FileFailure(given, .system(errno, doing: "creating a file in"))
        case 0: throw FileFailure(given, .notFolder)
        case ENOENT: throw FileFailure(given, .notFound)
        case ENOTDIR:
            let parent = split(path).folder
            try requireFolder(parent, named: given.exact.contains("/") ? split(given).folder : parent)
            // The path has changed since.
            throw FileFailure(given, .notFolder)
        default: throw FileFailure(given, .system(code, doing: "examining"))
        }
    }

    /// True if `path` is missing or a folder; false if it is anything else, such as a symbolic link to a folder.
    package static func isMissingOrOwnFolder(_ path: String) throws(FileFailure) -> Bool {
        var status = stat()
        if unsafe lstat(path, &status) == 0 { return status.st_mode & S_IFMT == S_IFDIR }
        if errno == ENOENT { return true }
        throw FileFailure(path, .system(errno, doing: "examining"))
    }

    /// True if there is a folder at `path`, following symbolic links; false if that cannot be determined.
    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// True if there is something else than a folder at `path`, following symbolic links; a dangling one leads to nothing.
    ///
    /// - Throws: `FileFailure` (`system`) if this cannot be determined.
    package static func isNoFolder(_ path: String) throws(FileFailure) -> Bool {
        var status = stat()
        if unsafe stat(path, &status) == 0 { return status.st_mode & S_IFMT != S_IFDIR }
        let code = errno
        if code == ENOENT || code == ENOTDIR { return false }
        throw FileFailure(path, .system(code, doing: "examining"))
    }

    /// True if there is a regular file at `path`, following symbolic links; false if that cannot be determined.
    ///
    /// Unlike opening, this consumes nothing from a pipe.
    package static func isFile(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// True if the name exists, including as a dangling symbolic link.
    ///
    /// - Throws: `FileFailure` (`system`) if this cannot be determined: a failing disk is not a missing file.
    package static func exists(_ path: String) throws(FileFailure) -> Bool {
        var status = stat()
        if unsafe lstat(path, &status) == 0 { return true }
        let code = errno
        if code == ENOENT || code == ENOTDIR { return false }
        throw FileFailure(path, .system(code, doing: "examining"))
    }

    /// The absolute path of a folder, with all links resolved; nil if that cannot be determined.
    package static func real(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(validatingCString: resolved)
    }

    /// Moves a file to another folder on the same file system, durably; an existing file of that name is left alone.
    package static func move(_ path: String, to newPath: String) throws(FileFailure) {
        let (from, to) = (split(path), split(newPath))
        let folder = try openFolder(from.folder)
        let newFolder = try openFolder(to.folder)
        let code = Naming.move(from.name, in: folder, to: to.name, in: newFolder)
        if code == ENOENT { throw FileFailure(path, .notFound) }
        guard code == 0 else { throw Naming.failure(newPath, code) }
        synchronizeFolder(newFolder)
        synchronizeFolder(folder)
    }

    /// Opens a folder; links that lead to it are followed.
    static func openFolder(_ path: String) throws(FileFailure) -> OpenFile {
        let descriptor = System.retrying { unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw .opening(path, errno) }
        return OpenFile(owning: descriptor, path: path)
    }

    /// The number of bytes this user can still write to the folder's file system; nil if that cannot be determined.
    package static func freeSpace(in folder: String) -> UInt64? {
        var status = statvfs()
        guard unsafe statvfs(folder, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    /// Removes a file if it exists.
    package static func remove(_ path: String) throws(FileFailure) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
            throw FileFailure(path, .system(errno, doing: "removing"))
        }
    }

    /// The names in a folder, without `.` and `..`, unordered; empty if the folder does not exist.
    ///
    /// Names that are not UTF-8 are skipped: this program never creates one.
    package static func names(in folder: String) throws(FileFailure) -> [String] {
        var unreadable: [String] = []
        return try names(in: folder, unreadable: &unreadable)
    }

    /// The same for a folder that another program may have filled; counts the names that are not UTF-8.
    package static func names(in folder: String, unreadable: inout Int) throws(FileFailure) -> [String] {
        var others: [String] = []
        let names = try names(in: folder, unreadable: &others)
        unreadable += others.count
        return names
    }

    /// The same; adds the names that are not UTF-8, with a sign in place of each part that is not.
    package static func names(in folder: String, unreadable: inout [String]) throws(FileFailure) -> [String] {
        guard let stream = unsafe opendir(folder) else {
            if errno == ENOENT { return [] }
            throw FileFailure(folder, .system(errno, doing: "listing"))
        }
        defer { unsafe closedir(stream) }
        return unsafe try names(of: stream, folder, unreadable: &unreadable)
    }

    /// The same for an open folder.
    static func names(
        of stream: OpaquePointer, _ folder: String, unreadable: inout [String]
    ) throws(FileFailure) -> [String] {
        var names: [String] = []
        while true {
            // Only errno distinguishes the end from a failure.
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe Array(bytes.prefix { $0 != 0 })
            }
            if let name = String(validating: bytes, as: UTF8.self) {
                if name != ".", name != ".." { names.append(name) }
            } else {
                unreadable.append(String(decoding: bytes, as: UTF8.self))
            }
        }
        guard errno == 0 else { throw FileFailure(folder, .system(errno, doing: "listing")) }
        return names
    }

    /// Syncs the entries of a folder to disk; a failure is recorded in `Durability` and does not undo anything.
    package static func synchronizeFolder(_ path: String) {
        let descriptor = System.retrying { unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { return Durability.doubt(.opening(path, errno)) }
        synchronizeFolder(OpenFile(owning: descriptor, path: path))
    }

    /// Syncs the entries of an open folder; see `synchronizeFolder(_:)` for paths.
    static func synchronizeFolder(_ folder: OpenFile) {
        guard System.retrying({ fsync(folder.descriptor) }) == 0 else {
            return Durability.doubt(FileFailure(folder.path, .system(errno, doing: "making durable")))
        }
    }
}

/// The device and inode of a file, to distinguish it from another one with the same name.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// The identity of the file at a path, or of a symbolic link itself; nil if there is none.
    package init?(of path: String) throws(FileFailure) {
        var status = stat()
        if unsafe lstat(path, &status) != 0 {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw FileFailure(path, .system(errno, doing: "examining"))
        }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}
