internal import Glibc

/// A file that has no name until it is whole: made in the folder where it will live, 0600, gone if dropped.
///
/// `publish` is the only way to a name: fsync, `linkat` (which fails if the name is taken, so nothing is ever
/// overwritten), fsync of the folder. Where the file system has no `O_TMPFILE`, a random name made with `O_EXCL`
/// stands in, and is removed in every case.
public final class UnnamedFile {
    /// The open file; write to it in order.
    public let file: OpenFile
    private let folder: OpenFile
    private var stopgapName: String?

    // O_TMPFILE of <fcntl.h>; the macro is too complex to be imported.
    private static let temporaryFile: Int32 = 0o20000000 | O_DIRECTORY

    /// Makes the file in `folderPath`.
    ///
    /// - Throws: `FileFailure` (`notFound` when the folder is missing, `system`).
    public init(inFolder folderPath: String) throws(FileFailure) {
        let folderDescriptor = System.retrying { unsafe open(folderPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard folderDescriptor >= 0 else { throw .opening(folderPath, errno) }
        folder = OpenFile(owning: folderDescriptor, path: folderPath)

        var name: String?
        var descriptor = System.retrying {
            unsafe openat(folderDescriptor, ".", Self.temporaryFile | O_RDWR | O_CLOEXEC, 0o600)
        }
        if descriptor < 0, [EOPNOTSUPP, EISDIR, EINVAL, ENOENT].contains(errno) {
            let random = String((0..<4).reduce(UInt64.random(in: .min ... .max)) { $0 ^ UInt64($1) }, radix: 36)
            let stopgap = ".kcbackup-\(random).tmp"
            descriptor = System.retrying {
                unsafe openat(folderDescriptor, stopgap, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0o600)
            }
            name = stopgap
        }
        guard descriptor >= 0 else { throw FileFailure(folderPath, .system(errno, doing: "creating a file in")) }
        stopgapName = name
        file = OpenFile(owning: descriptor, path: folderPath)
    }

    deinit {
        if let stopgapName { unsafe unlinkat(folder.descriptor, stopgapName, 0) }
    }

    /// Makes the contents durable without giving them a name.
    public func synchronize() throws(StreamFailure) {
        try file.synchronize()
    }

    /// Gives the file its name, durably; an existing name of any type is left alone.
    ///
    /// - Throws: `FileFailure` (`exists`, `system`).
    public func publish(as name: String) throws(FileFailure) {
        let path = folder.path == "." ? name : folder.path + "/" + name
        guard fsync(file.descriptor) == 0 else { throw FileFailure(path, .system(errno, doing: "writing")) }
        let linked: Int32
        if let stopgapName {
            linked = unsafe linkat(folder.descriptor, stopgapName, folder.descriptor, name, 0)
        } else {
            linked = unsafe linkat(
                AT_FDCWD, "/proc/self/fd/\(file.descriptor)", folder.descriptor, name, AT_SYMLINK_FOLLOW)
        }
        guard linked == 0 else {
            throw errno == EEXIST
                ? FileFailure(path, .exists) : FileFailure(path, .system(errno, doing: "naming"))
        }
        guard fsync(folder.descriptor) == 0 else {
            let code = errno
            unsafe unlinkat(folder.descriptor, name, 0)
            throw FileFailure(path, .system(code, doing: "making durable"))
        }
    }
}

/// A sink that writes to an unnamed file and hands it over when finished.
public struct UnnamedFileSink: ByteSink, ~Copyable {
    private let target: UnnamedFile
    private var buffer: SecretBytes
    /// How many bytes were written so far.
    public private(set) var length: UInt64 = 0

    // Large enough that system calls do not count, small enough to stay in the cache.
    private static let bufferSize = 262_144

    /// Starts at the beginning of `target`.
    public init(_ target: UnnamedFile) {
        self.target = target
        buffer = SecretBytes(capacity: Self.bufferSize)
    }

    /// Takes all of `bytes`.
    public mutating func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        length += UInt64(bytes.count)
        if bytes.count >= Self.bufferSize {
            try flush()
            try target.file.write(bytes)
            return
        }
        if buffer.count + bytes.count > Self.bufferSize { try flush() }
        buffer.append(bytes)
    }

    /// Writes what is held back and returns the file with its length.
    public consuming func finish() throws(StreamFailure) -> SpooledFile {
        try flush()
        return SpooledFile(file: target.file, length: length)
    }

    private mutating func flush() throws(StreamFailure) {
        let target = self.target
        try buffer.withBytes { bytes throws(StreamFailure) in try target.file.write(bytes) }
        buffer.removeAll()
    }
}

/// A finished file without a name, kept open for reading back.
public struct SpooledFile: Sendable {
    /// The file; it disappears with its last user.
    public let file: OpenFile
    /// Its length in bytes.
    public let length: UInt64

    /// All of it, as a source.
    public var source: FileSlice { FileSlice(file, offset: 0, length: length) }
}
