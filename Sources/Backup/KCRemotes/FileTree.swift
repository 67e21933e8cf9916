internal import KCByteStreams

// Calls for a folder with many folders, each with many files.

extension Rclone {
    /// Passes on the path and the size of each file below a folder; nothing for a missing folder.
    ///
    /// On an object store, this takes one request for each 1,000 files, however many folders there are. A path has the
    /// bytes that the remote names, which need not be text.
    ///
    /// - Throws: `RemoteFailure`, what `visit` throws, and as the runner.
    package func visitTree(
        _ folder: RemoteLocation, _ visit: (_ path: [UInt8], _ size: UInt64) throws -> Void
    ) throws {
        let ending = try list(folder.folderText, of: folder, format: "sp", ["--recursive"]) { fields in
            guard let size = UInt64(String(decoding: fields[0], as: UTF8.self)) else {
                throw RemoteFailure.unclear(folder)
            }
            try visit(fields[1], size)
        }
        if ending.status != Self.folderMissing { try require(ending, folder) }
    }

    /// Copies some files below a folder to the same paths below a folder here, many at a time.
    ///
    /// On an object store, this takes two requests for each file, and none of a listing.
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
            "copy", "--files-from-raw", list, "--no-traverse", "--no-check-dest", "--max-transfer", "\(limit)B",
            "--transfers", "32", "--checkers", "32", "--buffer-size", "0",
        ]
        try require(call(arguments, [folder.folderText, path]) { _ in }, folder)
    }
}
