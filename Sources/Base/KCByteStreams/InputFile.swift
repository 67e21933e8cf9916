// Fence: opens input files that the user names.
internal import Glibc

/// An input that the user names: a file, which can be read at any offset, or a pipe, which is read once and in order.
package enum InputFile {
    case file(OpenFile)
    case pipe(OpenFile)

    /// The name that means standard input.
    package static let standardInputName = "-"

    /// Opens a file, following symbolic links; a pipe such as `<(…)`; or, for `-`, standard input.
    ///
    /// - Parameter takesNothing: true if `/dev/null` is an empty pipe, and no device.
    /// - Throws: `FileFailure` (`notFound`, `notRegular` for a folder, a terminal or a device, `system`).
    package static func open(_ path: String, takesNothing: Bool = false) throws(FileFailure) -> InputFile {
        let descriptor =
            path == standardInputName
            ? System.retrying { fcntl(0, F_DUPFD_CLOEXEC, 3) }
            : System.retrying { unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) }
        guard descriptor >= 0 else { throw .opening(path, errno) }
        let file = OpenFile(owning: descriptor, path: path)
        let status = try file.status()
        switch status.st_mode & S_IFMT {
        // Major 1, minor 3: /dev/null, wherever its node is.
        case S_IFCHR where takesNothing && status.st_rdev == 0x0103: return .pipe(file)
        case S_IFREG: return .file(file)
        case S_IFIFO, S_IFSOCK: return .pipe(file)
        default: throw FileFailure(path, .notRegular)
        }
    }
}
