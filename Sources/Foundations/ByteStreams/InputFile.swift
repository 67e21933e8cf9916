// Fence: opens what a user names, which may be a link or a pipe.
internal import Glibc

extension OpenFile {
    /// The name of standard input.
    package static let standardInputName = "-"

    /// Opens what a user names to be read: a file, also by way of a symbolic link; a pipe such as `<(…)`; or `-`, standard
    /// input.
    ///
    /// What is no regular file is read to its end into a file without a name, so that it can be read at any place.
    ///
    /// - Parameter folder: where such a file is made.
    /// - Throws: `FileFailure` (`notFound`, `notRegular` for a folder, a terminal or a device, `system`), `StreamFailure`.
    package static func input(_ path: String, spoolingIn folder: String) throws -> OpenFile {
        let file: OpenFile
        if path == standardInputName {
            let descriptor = System.retrying { fcntl(0, F_DUPFD_CLOEXEC, 3) }
            guard descriptor >= 0 else { throw FileFailure.opening(path, errno) }
            file = OpenFile(owning: descriptor, path: path)
        } else {
            let descriptor = System.retrying { unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) }
            guard descriptor >= 0 else { throw FileFailure.opening(path, errno) }
            file = OpenFile(owning: descriptor, path: path)
        }
        switch try file.status().st_mode & S_IFMT {
        case S_IFREG: return file
        case S_IFIFO, S_IFSOCK: return try file.spooled(in: folder)
        default: throw FileFailure(path, .notRegular)
        }
    }

    /// Reads a pipe to its end.
    private func spooled(in folder: String) throws -> OpenFile {
        let spool = try UnnamedFile(inFolder: folder)
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
            let descriptor = self.descriptor
            let count = unsafe piece.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                throw StreamFailure(.reading, .system(errno))
            }
            if count == 0 { return spool.file }
            try spool.file.write(piece.span.extracting(0..<count))
        }
    }
}
