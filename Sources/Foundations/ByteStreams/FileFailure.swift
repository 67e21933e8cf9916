/// Why a file could not be opened, trusted or made.
package struct FileFailure: Error, Hashable, Sendable {
    /// What one would act on.
    package enum Problem: Hashable, Sendable {
        case notFound
        case exists
        /// A directory, a socket, a FIFO, a device or a symbolic link stands where a regular file is needed.
        case notRegular
        /// Group or others may read or write a file that holds a secret; the value is its mode.
        case exposed(mode: UInt32)
        /// The file belongs to neither this user nor root.
        case foreignOwner
        /// Others can write to the folder, and so replace what is in it or plant something; the value is its mode.
        case sharedFolder(mode: UInt32)
        /// The folder belongs to neither this user nor root, but to the user with this number.
        case foreignFolder(owner: UInt32)
        /// Another process is changing what the file stands for.
        case busy
        /// The file system has no way to give a file a name that could not replace another file.
        case noSafeNaming
        /// The file is larger than its kind can be.
        case tooLarge(limit: Int)
        /// The operating system refused, with this `errno`, while doing this.
        case system(Int32, doing: String)
    }

    /// The path as the user gave it or as the program formed it.
    package let path: String
    /// What is wrong with it.
    package let problem: Problem

    /// Names the file and its problem.
    package init(_ path: String, _ problem: Problem) {
        self.path = path
        self.problem = problem
    }

    /// Turns an `errno` of opening `path` into the problem that it stands for.
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
