internal import Glibc

/// Folders in which no other user can add, replace or remove a file: the only places for keychains and keys.
///
/// SQLite trusts the journal next to a database, and opening a path yields whatever file was put there. So the folder
/// itself, and every folder and symbolic link on the way to it, must belong to this user or root. The folder must not
/// be writable by group or others; a folder on the way may be if it is sticky, so that others cannot rename our files.
/// `sshd` requires the same for its files (sshd_config(5), `StrictModes`).
package enum PrivateFolder {
    // The kernel's own limit (path_resolution(7)).
    private static let linkLimit = 40

    /// Checks that no other user can change what a folder contains.
    ///
    /// - Parameter mayBeMissing: true for a folder that is yet to be created; the path is checked as far as it exists.
    /// - Throws: `FileFailure` for the offending folder: `sharedFolder`, `foreignFolder`, `notFound`, `system`.
    package static func require(_ path: String, mayBeMissing: Bool = false) throws(FileFailure) {
        // The remaining components, the next one at the end.
        var rest = Array(components(try absolute(path)).reversed())
        var current = "/"
        var status = try examine(current)
        try requireSafeWay(current, status)
        var links = 0
        while let name = rest.popLast() {
            if name.exact == ".." {
                // All links so far are resolved, so the parent is the path without its last component.
                current = Path.split(current).folder
                status = try examine(current)
                continue
            }
            let next = current == "/" ? "/" + name : current + "/" + name
            do throws(FileFailure) {
                status = try examine(next)
            } catch {
                if mayBeMissing, error.problem == .notFound { return }
                throw error.problem == .notFound ? FileFailure(path, .notFound) : error
            }
            try requireSafeWay(next, status)
            switch status.st_mode & S_IFMT {
            case S_IFDIR: current = next
            case S_IFLNK:
                links += 1
                guard links <= linkLimit else { throw FileFailure(path, .system(ELOOP, doing: "examining")) }
                let target = try Path.destination(of: next)
                if target.exact.hasPrefix("/") { current = "/" }
                rest += components(target).reversed()
                status = try examine(current)
            // Creating the missing folders fails with the same error and reports it.
            default:
                if mayBeMissing { return }
                throw FileFailure(path, .notFound)
            }
        }
        // Even in a sticky folder, others could add files next to ours.
        guard status.st_mode & 0o022 == 0 else { throw shared(current, status) }
    }

    private static func requireSafeWay(_ path: String, _ status: stat) throws(FileFailure) {
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw FileFailure(path, .foreignFolder(owner: status.st_uid))
        }
        // The mode of a symbolic link has no meaning.
        if status.st_mode & S_IFMT != S_IFDIR { return }
        guard status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0 else { throw shared(path, status) }
    }

    private static func shared(_ path: String, _ status: stat) -> FileFailure {
        FileFailure(path, .sharedFolder(mode: status.st_mode & 0o7777))
    }

    private static func components(_ path: String) -> [String] {
        path.exact.split(separator: "/").filter { $0.exact != "." }
    }

    private static func absolute(_ path: String) throws(FileFailure) -> String {
        if path.exact.hasPrefix("/") { return path }
        guard let working = unsafe getcwd(nil, 0) else { throw .opening(path, errno) }
        defer { unsafe free(working) }
        return unsafe String(cString: working) + "/" + path
    }

    private static func examine(_ path: String) throws(FileFailure) -> stat {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            let code = errno
            throw FileFailure(
                path, code == ENOENT || code == ENOTDIR ? .notFound : .system(code, doing: "examining"))
        }
        return status
    }
}
