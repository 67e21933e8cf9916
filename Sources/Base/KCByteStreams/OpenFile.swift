package import Glibc
internal import Synchronization

/// An open file descriptor, closed when its last owner releases it.
///
/// Reads pass an offset (`pread`), so several slices of one file can be read at the same time.
package final class OpenFile: Sendable {
    /// The descriptor, valid while this object lives.
    package let descriptor: Int32
    /// The path it was opened under, for messages.
    package let path: String
    private let readCount = Atomic<UInt64>(0)

    /// The number of bytes read so far, at any offset, for progress reports; set back by a reader that
    /// is ahead of the work that it reports.
    package var bytesRead: UInt64 {
        get { readCount.load(ordering: .relaxed) }
        set { readCount.store(newValue, ordering: .relaxed) }
    }

    /// Takes ownership of `descriptor`.
    package init(owning descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        close(descriptor)
    }

    /// Opens a regular file for reading; the last component must not be a symbolic link.
    package static func reading(_ path: String) throws(FileFailure) -> OpenFile {
        // O_NONBLOCK: opening a FIFO must not wait for a writer; it has no effect on regular files.
        let descriptor = System.retrying { unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { throw .opening(path, errno) }
        let file = OpenFile(owning: descriptor, path: path)
        let status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileFailure(path, .notRegular) }
        return file
    }

    /// The same file, opened for reading alone; as it is, if that is not possible.
    package var onlyRead: OpenFile {
        guard fcntl(descriptor, F_GETFL) & O_ACCMODE != O_RDONLY else { return self }
        let place = "/proc/self/fd/\(descriptor)"
        let reopened = System.retrying { unsafe open(place, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) }
        return reopened >= 0 ? OpenFile(owning: reopened, path: path) : self
    }

    /// The result of `fstat`.
    package func status() throws(FileFailure) -> stat {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw FileFailure(path, .system(errno, doing: "examining"))
        }
        return status
    }

    /// The size in bytes.
    package func size() throws(FileFailure) -> UInt64 {
        UInt64(max(0, try status().st_size))
    }

    /// Appends bytes from `offset` until `limit` or the end of the file is reached.
    ///
    /// `pread` may return fewer bytes than the file has, so a short read does not mean the end of the file, and neither
    /// does an error after one. This method reads on, so fewer bytes than `limit` and the free capacity allow do mean
    /// the end.
    package func read(
        at offset: UInt64, upTo limit: Int = .max, into output: inout OutputSpan<UInt8>
    ) throws(StreamFailure) {
        if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
        let descriptor = self.descriptor
        let before = output.count
        defer { readCount.add(UInt64(output.count - before), ordering: .relaxed) }
        let code: Int32 = unsafe output.withUnsafeMutableBufferPointer { buffer, count in
            let free = min(buffer.count - count, limit)
            guard free > 0, let start = buffer.baseAddress else { return 0 }
            var done = 0
            while done < free {
                let received = System.retrying {
                    unsafe pread(descriptor, start + count, free - done, off_t(offset) + off_t(done))
                }
                if received < 0 { return errno }
                if received == 0 { break }
                count += received
                done += received
            }
            return 0
        }
        if code != 0 { throw StreamFailure(.reading, errno: code, offset: offset) }
    }

    /// Writes all of `bytes` at the current position.
    package func write(_ bytes: borrowing Span<UInt8>) throws(StreamFailure) {
        if Interruption.isRequested { throw StreamFailure(.writing, .interrupted) }
        let descriptor = self.descriptor
        let code: Int32 = unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return 0 }
            var written = 0
            while written < buffer.count {
                let count = System.retrying { unsafe Glibc.write(descriptor, start + written, buffer.count - written) }
                // A zero-byte write would loop forever; POSIX does not promise an errno for it.
                if count == 0 { return EIO }
                if count < 0 { return errno }
                written += count
            }
            return 0
        }
        if code != 0 { throw StreamFailure(.writing, errno: code) }
    }

    /// Syncs the contents to disk; retried only after EINTR, since a second fsync does not report what the first one
    /// lost.
    package func synchronize() throws(StreamFailure) {
        guard System.retrying({ fsync(descriptor) }) == 0 else { throw StreamFailure(.writing, errno: errno) }
    }
}

/// Every system call that a signal can interrupt goes through here.
enum System {
    /// Repeats `call` while it fails with `EINTR`, unless the signal asks the process to stop.
    static func retrying<I: FixedWidthInteger & SignedInteger>(_ call: () -> I) -> I {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR || Interruption.isRequested { return result }
        }
    }
}
