internal import KCByteStreams

// Small files, of which each is written once.

extension Rclone {
    /// The capabilities of a remote for files that are written once.
    package struct Traits: Hashable, Sendable {
        /// True if files appear under their names only when they are complete.
        package let isAtomic: Bool
        /// True if the times of a listing are those of the server, and not chosen by whoever wrote the file.
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
            // The person who watches the fleet reads the receipt.
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
