internal import KCByteStreams

// Calls for a folder with many folders, each with many files.

extension Rclone {
    /// A file below a folder.
    package struct TreeEntry: Hashable, Sendable {
        /// The path from the folder, in the bytes that the remote names, which need not be text.
        package let path: [UInt8]
        /// The size in bytes.
        package let size: UInt64
        /// When it was written, in UTC, as `2026-11-24 03:15:02`; nil if that was not asked for.
        package let modified: String?

        /// True if it is being written, or a run that was broken off has left it.
        package var isPart: Bool { path.reversed().starts(with: ".part".utf8.reversed()) }
    }

    /// Passes on each file below a folder; nothing for a missing folder.
    ///
    /// On an object store, this takes one request for each 1,000 files, however many folders there are.
    ///
    /// - Parameter isDated: true to ask for the times, those of the server where it tells them.
    /// - Throws: `RemoteFailure`, what `visit` throws, and as the runner.
    package func visitTree(
        _ folder: RemoteLocation, isDated: Bool = false, _ visit: (TreeEntry) throws -> Void
    ) throws {
        let flags = ["--recursive"] + (isDated ? ["--use-server-modtime"] : [])
        let ending = try list(folder.folderText, of: folder, format: isDated ? "tsp" : "sp", flags) { fields in
            let (path, size) = (fields[fields.count - 1], fields[fields.count - 2])
            guard !path.isEmpty, let size = UInt64(String(decoding: size, as: UTF8.self)),
                !isDated || fields[0].count == Self.timeLength
            else { throw RemoteFailure.unclear(folder) }
            try visit(
                TreeEntry(
                    path: path, size: size, modified: isDated ? String(decoding: fields[0], as: UTF8.self) : nil))
        }
        if ending.status != Self.folderMissing { try require(ending, folder) }
    }

    // Of a time in a listing.
    private static let timeLength = "2026-11-24 03:15:02".utf8.count

    /// Copies some files below a folder to the same paths below a folder here, many at a time.
    ///
    /// On an object store, this takes one request for each file, and none of a listing.
    ///
    /// - Parameters:
    ///   - list: the absolute path of a file with a path on each line.
    ///   - limit: how many bytes may be copied, if files turn out to be larger than they were.
    ///   - path: the absolute path of the folder here.
    /// - Throws: `RemoteFailure`; some files may have been copied. And as the runner.
    package func download(
        filesIn list: String, below folder: RemoteLocation, limit: UInt64, to path: String
    ) throws {
        let arguments = [
            "copy", "--files-from-raw", list, "--no-traverse", "--no-check-dest", "--s3-no-head-object",
            "--max-transfer", "\(limit)B",
            "--transfers", "32", "--checkers", "32", "--buffer-size", "0",
        ]
        try require(call(arguments, [folder.folderText, path]) { _ in }, folder)
    }
}
