/// Why a file could not be opened, trusted or created.
package struct FileFailure: Error, Hashable, Sendable {
    /// The cases a caller can act on.
    package enum Problem: Hashable, Sendable {
        case notFound
        case exists
        /// The path is to be, or to have, a folder that files are made in, and is something else.
        case notFolder
        /// The path is a directory, socket, FIFO, device or symbolic link where a regular file is required.
        case notRegular
        /// Group or others can access a file that holds a secret; the value is its mode.
        case exposed(mode: UInt32)
        /// The file belongs to neither this user nor root.
        case foreignOwner
        /// Others can write to the folder, and so replace or add files; the value is its mode.
        case sharedFolder(mode: UInt32)
        /// The folder belongs to neither this user nor root; the value is the owner's user ID.
        case foreignFolder(owner: UInt32)
        /// Another process is changing what the lock file protects.
        case busy
        /// Another program has changed or replaced the file since it was read.
        case changed
        /// Several programs have replaced the file at once, and the version of one of them is at this path now.
        case displaced(to: String)
        /// The file is replaced, but what it was before could not be removed, and is at this path.
        case remains(at: String, Int32)
        /// The file system has no way to name a file without the risk of replacing another one.
        case noSafeNaming
        /// The file is larger than the limit for its kind.
        case tooLarge(limit: Int)
        /// A system call failed with this `errno` during this operation.
        case system(Int32, doing: String)
    }

    /// The path, as given by the user or built by the program.
    package let path: String
    /// The problem with the path.
    package let problem: Problem

    /// Creates a failure for a path.
    package init(_ path: String, _ problem: Problem) {
        self.path = path
        self.problem = problem
    }

    /// Converts an `errno` of opening `path`.
    static func opening(_ path: String, _ code: Int32) -> FileFailure {
        switch code {
        case ENOENT, ENOTDIR: FileFailure(path, .notFound)
        case EEXIST: FileFailure(path, .exists)
        // ELOOP: a symbolic link under O_NOFOLLOW; ENXIO: a socket.
        case ELOOP, ENXIO: FileFailure(path, .notRegular)
        default: FileFailure(path, .system(code, doing: "opening"))
        }
    }
}

internal import Glibc
