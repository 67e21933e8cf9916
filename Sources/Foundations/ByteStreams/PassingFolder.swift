internal import Glibc

/// A folder in which a file is made that gets its name beside it when it is whole; gone if dropped, with all in it.
///
/// For files that have others beside them while they are written, such as a database with its journal and its lock. What a
/// process that was killed leaves is removed by the next one that makes such a folder.
package final class PassingFolder {
    /// Where it is.
    package let path: String
    private let parent: OpenFile
    private let folder: OpenFile

    private static let prefix = ".restoring-"

    /// Makes a folder, 0700, in a folder that exists.
    ///
    /// - Throws: `FileFailure` (`notFound`, `sharedFolder`, `foreignFolder`, `system`).
    package init(in parentPath: String) throws(FileFailure) {
        try PrivateFolder.require(parentPath)
        try Leftovers.sweep(parentPath)
        parent = try Self.open(parentPath)
        (path, folder) = try Self.make(in: parentPath)
    }

    deinit {
        Self.empty(path)
    }

    /// Moves a file of this folder to the folder around it, durably, unless the name is taken there.
    ///
    /// Whatever else is in this folder is removed with it.
    ///
    /// - Throws: `FileFailure` (`exists`, `notFound`, `noSafeNaming`, `system`); the file has no name there then.
    package func publish(_ name: String, as newName: String) throws(FileFailure) {
        let code = Naming.move(name, in: folder, to: newName, in: parent)
        guard code == 0 else { throw Naming.failure(parent.path + "/" + newName, code) }
        Path.settle(parent)
    }

    static func isPassingName(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.utf8.count <= 64
    }

    /// Removes a folder and the files in it; what cannot be removed stays.
    static func empty(_ path: String) {
        for name in (try? Path.names(in: path)) ?? [] { unsafe unlink(path + "/" + name) }
        unsafe rmdir(path)
    }

    private static func make(in parent: String) throws(FileFailure) -> (String, OpenFile) {
        while true {
            let path = parent + "/" + prefix + (try Naming.uniqueWord(for: parent))
            guard unsafe mkdir(path, 0o700) == 0 else {
                throw FileFailure(parent, .system(errno, doing: "creating a folder in"))
            }
            do throws(FileFailure) {
                let folder = try open(path)
                if folder.holdAgainstSweeping() { return (path, folder) }
            } catch {
                // Swept away before it could be held.
                guard error.problem == .notFound else {
                    unsafe rmdir(path)
                    throw error
                }
            }
        }
    }

    private static func open(_ path: String) throws(FileFailure) -> OpenFile {
        let descriptor = System.retrying { unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw .opening(path, errno) }
        return OpenFile(owning: descriptor, path: path)
    }
}
