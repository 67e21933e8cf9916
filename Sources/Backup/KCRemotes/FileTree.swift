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
        var listing = CSVRecord()
        // A name may have a line feed, which only this form tells from the end of a line.
        let ending = try call(["lsf", "--recursive", "--files-only", "--format", "sp", "--csv"], [folder.folderText]) {
            piece in
            for index in piece.indices {
                guard let fields = listing.take(piece[index]) else {
                    if listing.isMalformed { throw RemoteFailure.unclear(folder) }
                    continue
                }
                guard fields.count == 2, let size = UInt64(String(decoding: fields[0], as: UTF8.self)) else {
                    throw RemoteFailure.unclear(folder)
                }
                try visit(fields[1], size)
            }
        }
        if ending.status == Self.folderMissing { return }
        try require(ending, folder)
        if !listing.isEmpty { throw RemoteFailure.unclear(folder) }
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

/// A record of comma-separated values (RFC 4180), read byte by byte.
private struct CSVRecord {
    // In bytes: two paths, each of whose bytes is a quotation mark.
    private static let limit = 16_384

    private enum State { case start, plain, quoted, quote }
    private var state = State.start
    private var fields: [[UInt8]] = []
    private var field: [UInt8] = []
    /// True if what was read is no record.
    private(set) var isMalformed = false

    /// True between two records.
    var isEmpty: Bool { fields.isEmpty && field.isEmpty && state == .start }

    /// Takes in a byte, and returns the record that it ends.
    mutating func take(_ byte: UInt8) -> [[UInt8]]? {
        let mark = UInt8(ascii: "\"")
        switch (state, byte) {
        case (.quoted, mark): state = .quote
        case (.quoted, _): append(byte)
        case (.quote, mark):
            append(byte)
            state = .quoted
        case (.start, mark): state = .quoted
        case (_, UInt8(ascii: ",")): endField()
        case (_, UInt8(ascii: "\n")):
            endField()
            defer { fields = [] }
            return fields
        case (.quote, _), (.plain, mark): isMalformed = true
        default:
            append(byte)
            state = .plain
        }
        return nil
    }

    private mutating func append(_ byte: UInt8) {
        field.append(byte)
        if field.count > Self.limit { isMalformed = true }
    }

    private mutating func endField() {
        fields.append(field)
        field = []
        state = .start
        if fields.count > 2 { isMalformed = true }
    }
}
