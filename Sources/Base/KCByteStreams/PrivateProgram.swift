internal import Glibc

/// Programs that no other user can replace: the only ones that are started with a secret, or to get to know one.
package enum PrivateProgram {
    /// Checks the way to a program, the program that a link leads to, and the way there.
    ///
    /// - Throws: `FileFailure`: `notFound`, `notRegular`, `foreignOwner`, `exposed` (group or others can write to it),
    ///   `sharedFolder`, `foreignFolder`, `system`.
    package static func require(_ path: String) throws(FileFailure) {
        try PrivateFolder.require(Path.split(path).folder)
        let status = try status(of: path)
        try PrivateFolder.require(Path.split(Path.real(path) ?? path).folder)
        guard status.owner == geteuid() || status.owner == 0 else { throw FileFailure(path, .foreignOwner) }
        guard status.permissions & 0o022 == 0 else {
            throw FileFailure(path, .exposed(mode: status.permissions & 0o777))
        }
    }

    /// Checks that a program belongs to this user, to root, or to the owner of another program.
    ///
    /// - Throws: `FileFailure`: `notFound`, `notRegular`, `foreignOwner`, `system`.
    package static func requireOwner(of path: String, orOf other: String) throws(FileFailure) {
        let owner = try status(of: path).owner
        if owner == geteuid() || owner == 0 { return }
        guard try owner == status(of: other).owner else { throw FileFailure(path, .foreignOwner) }
    }

    /// The status of the program that a path leads to.
    private static func status(of path: String) throws(FileFailure) -> EntryStatus {
        guard let target = Path.real(path) else { throw FileFailure(path, .notFound) }
        // The folder need not be one that can be listed.
        var status = stat()
        guard unsafe lstat(target, &status) == 0 else {
            throw FileFailure(path, errno == ENOENT ? .notFound : .system(errno, doing: "examining"))
        }
        let entry = EntryStatus(status)
        guard entry.kind == .file else { throw FileFailure(path, .notRegular) }
        return entry
    }
}
