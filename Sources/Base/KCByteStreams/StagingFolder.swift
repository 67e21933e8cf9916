internal import Glibc

/// A temporary folder in which a file is built before it moves to the parent folder; removed with its contents on
/// release.
///
/// The folder serves files that need others beside them while being written, such as a database with its journal and
/// lock. If the process is killed, the next process that creates such a folder removes what is left.
package final class StagingFolder {
    /// The folder's path.
    package let path: String
    private let parent: OpenFile
    private let folder: OpenFile

    private static let prefix = ".restoring-"

    /// Creates the folder, mode 0700, in an existing folder.
    package init(in parentPath: String) throws(FileFailure) {
        try PrivateFolder.require(parentPath)
        try StaleFiles.remove(in: parentPath)
        parent = try Path.openFolder(parentPath)
        folder = try Self.make(in: parent, isListed: false).folder
        path = folder.path
    }

    /// Creates the folder, mode 0700, in a folder for temporary files, where others may have theirs.
    ///
    /// - Throws: `FileFailure`, also if another user could rename it or a folder on the way to it.
    package init(inTemporaryFolder parentPath: String) throws(FileFailure) {
        try StaleFiles.remove(in: parentPath)
        parent = try Path.openFolder(parentPath)
        folder = try Self.make(in: parent, isListed: false).folder
        path = folder.path
        try PrivateFolder.require(path)
    }

    deinit {
        Self.empty(path)
    }

    /// Gives a file elsewhere another name in this folder, by a symbolic link.
    package func link(_ name: String, to target: String) throws(FileFailure) {
        guard unsafe symlink(target, "\(path)/\(name)") == 0 else {
            throw FileFailure("\(path)/\(name)", .system(errno, doing: "creating"))
        }
    }

    /// Moves a file from this folder to the parent folder, durably, unless the name is taken.
    ///
    /// Everything else in this folder is removed.
    ///
    /// - Throws: `FileFailure` (`exists`, `notFound`, `noSafeNaming`, `system`); the new name then does not exist.
    package func publish(_ name: String, as newName: String) throws(FileFailure) {
        let code = Naming.move(name, in: folder, to: newName, in: parent)
        guard code == 0 else { throw Naming.failure(parent.path + "/" + newName, code) }
        Path.synchronizeFolder(parent)
    }

    static func isTemporaryName(_ name: String) -> Bool {
        name.exact.removingPrefix(prefix).map { Naming.isUniqueWord($0.utf8) } ?? false
    }

    /// Removes a folder with all that is in it; anything that cannot be removed is left.
    ///
    /// - Returns: false if something is left.
    @discardableResult
    static func empty(_ path: String) -> Bool {
        empty(Array(path.utf8) + [0])
    }

    /// Removes a folder whose path ends with a zero byte; names need not be UTF-8.
    private static func empty(_ path: [UInt8]) -> Bool {
        for name in names(in: path) {
            let entry = path.dropLast() + [UInt8(ascii: "/")] + name + [0]
            // A link is removed, and not followed.
            let name = entry.map { CChar(bitPattern: $0) }
            if unsafe unlink(name) != 0, errno == EISDIR { _ = empty(Array(entry)) }
        }
        return unsafe rmdir(path.map { CChar(bitPattern: $0) }) == 0 || errno == ENOENT
    }

    private static func names(in path: [UInt8]) -> [[UInt8]] {
        guard let stream = unsafe opendir(path.map { CChar(bitPattern: $0) }) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [[UInt8]] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe Array(bytes.prefix { $0 != 0 })
            }
            if name != [UInt8(ascii: ".")], name != Array("..".utf8) { names.append(name) }
        }
        return names
    }

    /// Creates a folder, mode 0700, with a temporary name, and locks it.
    ///
    /// - Parameter isListed: true to have the next run of the program remove it if this process is killed.
    static func make(
        in parent: OpenFile, isListed: Bool
    ) throws(FileFailure) -> (name: String, folder: OpenFile) {
        while true {
            let name = prefix + (try Naming.uniqueWord(for: parent.path))
            if isListed { try UnsweptFolders.add(name, in: parent.path) }
            guard unsafe mkdirat(parent.descriptor, name, 0o700) == 0 else {
                throw FileFailure(parent.path, .system(errno, doing: "creating a folder in"))
            }
            let path = parent.path == "." ? name : parent.path + "/" + name
            let descriptor = System.retrying {
                unsafe openat(parent.descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            }
            guard descriptor >= 0 else {
                // Another process removed it before it could be locked.
                if errno == ENOENT { continue }
                let failure = FileFailure.opening(path, errno)
                unsafe unlinkat(parent.descriptor, name, AT_REMOVEDIR)
                throw failure
            }
            let folder = OpenFile(owning: descriptor, path: path)
            if folder.lockAsInUse() { return (name, folder) }
        }
    }
}
