internal import Glibc

/// The few things that are done with paths besides opening them.
public enum Path {
    /// Splits a path into its folder (`.` when it names none) and its last component.
    public static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        return (folder, String(path[path.utf8.index(after: slash)...]))
    }

    /// Makes a folder and its missing parents, each 0700; existing ones are left as they are.
    ///
    /// - Throws: `FileFailure` (`system`).
    public static func makeFolder(_ path: String) throws(FileFailure) {
        if path.isEmpty || path == "/" || path == "." { return }
        if unsafe mkdir(path, 0o700) == 0 { return }
        switch errno {
        case EEXIST: return
        case ENOENT:
            try makeFolder(split(path).folder)
            guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
                throw FileFailure(path, .system(errno, doing: "creating the folder"))
            }
        default: throw FileFailure(path, .system(errno, doing: "creating the folder"))
        }
    }

    /// True when something, also a dangling symbolic link, has this name.
    public static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// Makes the entries of a folder durable.
    ///
    /// - Throws: `FileFailure` (`system`).
    public static func synchronizeFolder(_ path: String) throws(FileFailure) {
        let descriptor = System.retrying { unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw .opening(path, errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileFailure(path, .system(errno, doing: "making durable")) }
    }
}
