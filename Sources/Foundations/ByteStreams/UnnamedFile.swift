internal import Glibc

/// A file that has no name until it is whole: made in the folder where it will live, 0600, gone if dropped.
///
/// `publish` is the only way to a name: fsync, `linkat` (which fails if the name is taken, so nothing is ever
/// overwritten), fsync of the folder. Where the file system has no `O_TMPFILE`, a passing name made with `O_EXCL`
/// stands in, which is removed in every case, by the next run if this one is killed; it is renamed without replacing
/// (`renameat2`), or, where that is missing too, linked and unlinked.
package final class UnnamedFile {
    /// The open file; write to it in order.
    package let file: OpenFile
    private let folder: OpenFile
    private var passingName: String?

    // O_TMPFILE of <fcntl.h>; the macro is too complex to be imported.
    private static let temporaryFile: Int32 = 0o20000000 | O_DIRECTORY

    /// What the file system can do, from best to least.
    enum Way {
        case withoutName, renaming, linking
    }
    private let way: Way

    /// Makes the file in `folderPath`.
    ///
    /// - Throws: `FileFailure` (`notFound` when the folder is missing, `system`).
    package convenience init(inFolder folderPath: String) throws(FileFailure) {
        // Naming a file of O_TMPFILE takes the descriptor's path in /proc, which some sandboxes lack.
        let hasDescriptorPaths = unsafe access("/proc/self/fd", X_OK) == 0
        try self.init(inFolder: folderPath, way: hasDescriptorPaths ? .withoutName : .renaming)
    }

    /// Makes the file in the best way from `way` on that works.
    init(inFolder folderPath: String, way: Way) throws(FileFailure) {
        self.way = way
        let folderDescriptor = System.retrying { unsafe open(folderPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard folderDescriptor >= 0 else { throw .opening(folderPath, errno) }
        folder = OpenFile(owning: folderDescriptor, path: folderPath)

        var descriptor: Int32 = -1
        if way == .withoutName {
            descriptor = System.retrying {
                unsafe openat(folderDescriptor, ".", Self.temporaryFile | O_RDWR | O_CLOEXEC, 0o600)
            }
        }
        if descriptor < 0 && (way != .withoutName || [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(errno)) {
            try Self.sweep(folderPath)
            let passing = try Self.passingFile(in: folder)
            passingName = passing.name
            file = passing.file
            return
        }
        guard descriptor >= 0 else { throw FileFailure(folderPath, .system(errno, doing: "creating a file in")) }
        file = OpenFile(owning: descriptor, path: folderPath)
        // For the time between two names of `PrivateFile.replace`.
        _ = file.holdAgainstSweeping()
    }

    /// Removes what a killed process left, but not in a shared folder: there others choose what has such a name.
    private static func sweep(_ folder: String) throws(FileFailure) {
        do throws(FileFailure) {
            try PrivateFolder.require(folder)
        } catch {
            return
        }
        try Leftovers.sweep(folder)
    }

    private static func passingFile(in folder: OpenFile) throws(FileFailure) -> (name: String, file: OpenFile) {
        while true {
            let name = try passingName(in: folder.path)
            let descriptor = System.retrying {
                unsafe openat(folder.descriptor, name, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0o600)
            }
            guard descriptor >= 0 else {
                throw FileFailure(folder.path, .system(errno, doing: "creating a file in"))
            }
            let file = OpenFile(owning: descriptor, path: folder.path)
            if file.holdAgainstSweeping() { return (name, file) }
        }
    }

    deinit {
        if let passingName { unsafe unlinkat(folder.descriptor, passingName, 0) }
    }

    /// A hidden name that no other process has.
    ///
    /// - Throws: `FileFailure` (`system`).
    static func passingName(in folder: String) throws(FileFailure) -> String {
        ".kcbackup-\(try Naming.uniqueWord(for: folder)).tmp"
    }

    static func isPassingName(_ name: String) -> Bool {
        name.hasPrefix(".kcbackup-") && name.hasSuffix(".tmp") && name.utf8.count <= 64
    }

    /// Makes the contents durable without giving them a name.
    package func synchronize() throws(StreamFailure) {
        try file.synchronize()
    }

    /// Gives the file its name, one component in the folder; an existing name of any type is left alone.
    ///
    /// The contents are durable before. Should the folder's entries not become so afterwards, the file keeps its name, and
    /// `Durability` knows.
    ///
    /// - Throws: `FileFailure` (`exists`, `noSafeNaming`, `system`); the name then does not exist or is not ours.
    package func publish(as name: String) throws(FileFailure) {
        precondition(!name.utf8.contains(UInt8(ascii: "/")), "a name is one component")
        let path = folder.path == "." ? name : folder.path + "/" + name
        guard System.retrying({ fsync(file.descriptor) }) == 0 else {
            throw FileFailure(path, .system(errno, doing: "writing"))
        }
        let code = link(as: name)
        guard code == 0 else { throw Naming.failure(path, code) }
        Path.settle(folder)
    }

    /// Names the file and returns 0, or the `errno` that prevented it.
    private func link(as name: String) -> Int32 {
        guard let passingName else {
            let descriptorPath = "/proc/self/fd/\(file.descriptor)"
            let result = System.retrying {
                unsafe linkat(AT_FDCWD, descriptorPath, folder.descriptor, name, AT_SYMLINK_FOLLOW)
            }
            return result == 0 ? 0 : errno
        }
        let code = Naming.move(
            passingName, in: folder, to: name, in: folder, way: way == .linking ? .linking : .renaming)
        if code == 0 { self.passingName = nil }
        return code
    }
}
