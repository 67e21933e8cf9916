internal import KCByteStreams

// Calls for a folder with many small files, of which each is written once.

extension Rclone {
    /// A file of a remote, and when it was written.
    package struct DatedEntry: Hashable, Sendable {
        /// The name within its folder.
        package let name: String
        /// The size in bytes.
        package let size: UInt64
        /// When it was written, in UTC, as `2026-11-24 03:15:02`.
        package let modified: String

        /// Creates a description of a file.
        package init(name: String, size: UInt64, modified: String) {
            self.name = name
            self.size = size
            self.modified = modified
        }
    }

    /// The capabilities of a remote for files that are written once.
    package struct Traits: Hashable, Sendable {
        /// True if files appear under their names only when they are complete.
        package let isAtomic: Bool
        /// True if the times of `datedFiles` are those of the server, and not chosen by whoever wrote the file.
        package let hasServerTimes: Bool
    }

    /// Looks at how a remote is configured.
    ///
    /// - Throws: `RemoteFailure` (`unknownRemote`), and what the runner throws.
    package func traits(of location: RemoteLocation) throws -> Traits {
        var place = location
        var seen: Set<ExactText> = []
        while seen.insert(place.remote.exact).inserted {
            let options = try self.options(of: place)
            if let writing = options.writing {
                // Swift and S3 alone are asked for their own times by `--use-server-modtime`.
                let isDated = ["s3", "swift"].contains { options.kind?.exact == ExactText($0) }
                return Traits(isAtomic: writing != .parts, hasServerTimes: isDated)
            }
            place = options.inner[0]
        }
        return Traits(isAtomic: false, hasServerTimes: false)
    }

    /// The files in a folder with their times; none for a missing folder.
    ///
    /// On an object store, this takes one request for each 1,000 files.
    ///
    /// - Throws: `RemoteFailure`, and what the runner throws.
    package func datedFiles(in folder: RemoteLocation) throws -> [DatedEntry] {
        var entries: [DatedEntry] = []
        let ending = try list(folder.folderText, of: folder, format: "tsp", ["--use-server-modtime"]) { fields in
            guard let entry = DatedEntry(fields) else { throw RemoteFailure.unclear(folder) }
            entries.append(entry)
            if entries.count > Self.entryLimit { throw RemoteFailure.tooMany(folder, limit: Self.entryLimit) }
        }
        if ending.status == Self.folderMissing { return [] }
        try require(ending, folder)
        return entries
    }

    /// Copies the small files of a folder into an empty one here, many at a time.
    ///
    /// On an object store, this takes one request for each file, and those of a listing.
    ///
    /// - Parameters:
    ///   - ending: what the names of the files end with, without characters of a pattern.
    ///   - limit: the size of the largest files that are copied, in bytes.
    ///   - path: the absolute path of a folder.
    /// - Throws: `RemoteFailure`; some files may have been copied. And what the runner throws.
    package func download(
        _ folder: RemoteLocation, endingWith ending: String, limit: Int, to path: String
    ) throws {
        let arguments = [
            "copy", "--include", "/*\(ending)", "--max-depth", "1", "--max-size", "\(limit)B", "--no-check-dest",
            "--use-server-modtime", "--transfers", "32", "--checkers", "32", "--buffer-size", "0",
        ]
        try require(call(arguments, [folder.folderText, path]) { _ in }, folder)
    }

    /// Writes a small file under a name that no other file ever has, without listing its folder, and reads it back if these
    /// credentials may read.
    ///
    /// - Parameters:
    ///   - path: the absolute path of the file.
    ///   - bytes: what is in it.
    /// - Throws: `RemoteFailure` (`differs` if something else is read back), and what the runner throws.
    package func create(_ file: RemoteLocation, from path: String, _ bytes: [UInt8]) throws {
        let isAtomic = try traits(of: file).isAtomic
        let first = isAtomic ? file : RemoteLocation(file.text + ".part")
        guard let first else { throw RemoteFailure.unusableName(file.name) }
        do {
            try write(path, over: first)
            if !isAtomic { try move(first, to: file) }
        } catch let failure as RemoteFailure {
            // Only the answer may have failed.
            if try isThere(file, bytes) { return }
            throw isAtomic ? failure : try removing(first, after: failure)
        }
        do {
            if try !holds(file, bytes) { throw RemoteFailure.differs(file) }
        } catch RemoteFailure.denied where isAtomic {
            // Whoever judges it reads it.
        }
    }

    private func isThere(_ file: RemoteLocation, _ bytes: [UInt8]) throws -> Bool {
        do {
            return try holds(file, bytes)
        } catch is RemoteFailure {
            return false
        }
    }

    private func holds(_ file: RemoteLocation, _ bytes: [UInt8]) throws -> Bool {
        var isSame = true
        var count = 0
        try read(file, size: UInt64(bytes.count)) { piece in
            for index in piece.indices where count + index >= bytes.count || bytes[count + index] != piece[index] {
                isSame = false
            }
            count += piece.count
        }
        return isSame && count == bytes.count
    }
}

extension Rclone.DatedEntry {
    /// - Parameter fields: time, size, name.
    fileprivate init?(_ fields: [[UInt8]]) {
        guard fields[0].count == 19, !fields[2].isEmpty, let size = UInt64(String(decoding: fields[1], as: UTF8.self))
        else { return nil }
        self.init(
            name: String(decoding: fields[2], as: UTF8.self), size: size,
            modified: String(decoding: fields[0], as: UTF8.self))
    }
}
