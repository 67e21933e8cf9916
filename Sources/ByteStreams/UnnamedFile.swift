internal import Glibc

/// A file that has no name until it is whole: made in the folder where it will live, 0600, gone if dropped.
///
/// `publish` is the only way to a name: fsync, `linkat` (which fails if the name is taken, so nothing is ever
/// overwritten), fsync of the folder. Where the file system has no `O_TMPFILE`, a passing name made with `O_EXCL`
/// stands in, and is removed in every case; where it has no links either, that name is renamed.
public final class UnnamedFile {
    /// The open file; write to it in order.
    public let file: OpenFile
    private let folder: OpenFile
    private var passingName: String?

    // O_TMPFILE of <fcntl.h>; the macro is too complex to be imported.
    private static let temporaryFile: Int32 = 0o20000000 | O_DIRECTORY

    /// What the file system can do, from best to least.
    enum Way {
        case withoutName, linking, renaming
    }
    private let way: Way

    /// Makes the file in `folderPath`.
    ///
    /// - Throws: `FileFailure` (`notFound` when the folder is missing, `system`).
    public convenience init(inFolder folderPath: String) throws(FileFailure) {
        // Naming a file of O_TMPFILE takes the descriptor's path in /proc, which some sandboxes lack.
        let hasDescriptorPaths = unsafe access("/proc/self/fd", X_OK) == 0
        try self.init(inFolder: folderPath, way: hasDescriptorPaths ? .withoutName : .linking)
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
            let name = Self.passingName()
            descriptor = System.retrying {
                unsafe openat(folderDescriptor, name, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0o600)
            }
            if descriptor >= 0 { passingName = name }
        }
        guard descriptor >= 0 else { throw FileFailure(folderPath, .system(errno, doing: "creating a file in")) }
        file = OpenFile(owning: descriptor, path: folderPath)
    }

    deinit {
        if let passingName { unsafe unlinkat(folder.descriptor, passingName, 0) }
    }

    /// A hidden name that nobody else has.
    static func passingName() -> String {
        ".kcbackup-\(String(UInt64.random(in: .min ... .max), radix: 36)).tmp"
    }

    /// Makes the contents durable without giving them a name.
    public func synchronize() throws(StreamFailure) {
        try file.synchronize()
    }

    /// Gives the file its name, one component in the folder, durably; an existing name of any type is left alone.
    ///
    /// - Throws: `FileFailure` (`exists`, `system`); the name then does not exist or is not ours.
    public func publish(as name: String) throws(FileFailure) {
        precondition(!name.utf8.contains(UInt8(ascii: "/")), "a name is one component")
        let path = folder.path == "." ? name : folder.path + "/" + name
        guard fsync(file.descriptor) == 0 else { throw FileFailure(path, .system(errno, doing: "writing")) }
        let code = link(as: name)
        guard code == 0 else {
            throw code == EEXIST ? FileFailure(path, .exists) : FileFailure(path, .system(code, doing: "naming"))
        }
        guard fsync(folder.descriptor) == 0 else {
            let code = errno
            unsafe unlinkat(folder.descriptor, name, 0)
            throw FileFailure(path, .system(code, doing: "making durable"))
        }
    }

    /// Names the file and returns 0, or the `errno` that prevented it.
    private func link(as name: String) -> Int32 {
        guard let passingName else {
            let descriptorPath = "/proc/self/fd/\(file.descriptor)"
            return unsafe linkat(AT_FDCWD, descriptorPath, folder.descriptor, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno
        }
        var code = EPERM
        if way != .renaming {
            code = unsafe linkat(folder.descriptor, passingName, folder.descriptor, name, 0) == 0 ? 0 : errno
            if code == 0 { unsafe unlinkat(folder.descriptor, passingName, 0) }
        }
        // FAT, as sticks have it, knows no links.
        if [EPERM, EOPNOTSUPP, ENOSYS].contains(code) { code = renameOverPlaceholder(passingName, name) }
        if code == 0 { self.passingName = nil }
        return code
    }

    /// Reserves the name with an empty file of ours, so that renaming replaces nothing else.
    private func renameOverPlaceholder(_ passingName: String, _ name: String) -> Int32 {
        let placeholder = System.retrying {
            unsafe openat(folder.descriptor, name, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0o600)
        }
        guard placeholder >= 0 else { return errno }
        close(placeholder)
        if unsafe renameat(folder.descriptor, passingName, folder.descriptor, name) == 0 { return 0 }
        let code = errno
        unsafe unlinkat(folder.descriptor, name, 0)
        return code
    }
}
