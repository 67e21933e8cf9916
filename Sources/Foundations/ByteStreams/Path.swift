internal import Glibc

/// The few things that are done with paths besides opening them.
package enum Path {
    /// Splits a path into its folder (`.` when it names none) and its last component.
    package static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        return (folder, String(path[path.utf8.index(after: slash)...]))
    }

    /// Makes a folder and its missing parents, each 0700 and durable; existing ones are left as they are.
    ///
    /// - Throws: `FileFailure` (`exists` when something that is not a folder has the name, `sharedFolder`,
    ///   `foreignFolder`, `system`).
    package static func makeFolder(_ path: String) throws(FileFailure) {
        // Before anything is made in somebody else's folder.
        try PrivateFolder.require(path, mayBeMissing: true)
        try makeMissing(path)
        // Somebody else may have made it first, in a folder that is everybody's.
        try PrivateFolder.require(path)
    }

    private static func makeMissing(_ path: String) throws(FileFailure) {
        if path.utf8.count > 1 && path.utf8.last == UInt8(ascii: "/") {
            return try makeMissing(String(path.dropLast()))
        }
        if path.isEmpty || isFolder(path) { return }
        let parent = split(path).folder
        try makeMissing(parent)
        if unsafe mkdir(path, 0o700) != 0 {
            let code = errno
            // Another process may have made it meanwhile.
            if code == EEXIST && isFolder(path) { return }
            throw code == EEXIST
                ? FileFailure(path, .exists) : FileFailure(path, .system(code, doing: "creating the folder"))
        }
        synchronizeFolder(parent)
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// True when something, also a dangling symbolic link, has this name.
    ///
    /// - Throws: `FileFailure` (`system`) when that cannot be known: a disk that fails is no missing file.
    package static func exists(_ path: String) throws(FileFailure) -> Bool {
        var status = stat()
        if unsafe lstat(path, &status) == 0 { return true }
        let code = errno
        if code == ENOENT || code == ENOTDIR { return false }
        throw FileFailure(path, .system(code, doing: "examining"))
    }

    /// Removes a file, if it is there.
    ///
    /// - Throws: `FileFailure` (`system`).
    package static func remove(_ path: String) throws(FileFailure) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
            throw FileFailure(path, .system(errno, doing: "removing"))
        }
    }

    /// The names in a folder, without `.` and `..`, in no order; none when there is no such folder.
    ///
    /// Names that are not UTF-8 are left out: nothing that we make has one.
    ///
    /// - Throws: `FileFailure` (`system`).
    package static func names(in folder: String) throws(FileFailure) -> [String] {
        guard let stream = unsafe opendir(folder) else {
            if errno == ENOENT { return [] }
            throw FileFailure(folder, .system(errno, doing: "listing"))
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while true {
            // The end and a failure look alike but for errno.
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name, name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw FileFailure(folder, .system(errno, doing: "listing")) }
        return names
    }

    /// Makes the entries of a folder durable; where that fails, what was done stays done, and `Durability` knows.
    package static func synchronizeFolder(_ path: String) {
        let descriptor = System.retrying { unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { return Durability.doubt(.opening(path, errno)) }
        settle(OpenFile(owning: descriptor, path: path))
    }

    /// See `synchronizeFolder`.
    static func settle(_ folder: OpenFile) {
        guard System.retrying({ fsync(folder.descriptor) }) == 0 else {
            return Durability.doubt(FileFailure(folder.path, .system(errno, doing: "making durable")))
        }
    }
}
