package import KCByteStreams
internal import KCCryptography

/// A folder of a remote, in which no file is ever replaced.
///
/// ```swift
/// let folder = try RemoteFolder(location, rclone)
/// let outcome = try folder.put(OpenFile.reading("/home/ada/login.kcb"))
/// ```
package struct RemoteFolder {
    /// Where it is.
    package let location: RemoteLocation
    private let rclone: Rclone
    /// True if files appear under their names only when they are complete.
    private let isAtomic: Bool

    /// What became of a file.
    package enum Outcome: Hashable, Sendable {
        case copied
        /// The same file is there already.
        case present
    }

    /// Looks at how the remote is configured.
    ///
    /// - Throws: `RemoteFailure` (`unknownRemote`, `unpinnedHost`), and as the runner.
    package init(_ location: RemoteLocation, _ rclone: Rclone) throws {
        self.location = location
        self.rclone = rclone
        var isAtomic = true
        // A remote may pass everything on to another one, such as an encrypting one.
        var left = [location]
        var seen: Set<ExactText> = []
        while let place = left.popLast() {
            if !seen.insert(place.remote.exact).inserted { continue }
            let options = try rclone.options(of: place)
            if !options.isPinned { throw RemoteFailure.unpinnedHost(remote: place.remote) }
            let inner = options.inner
            if !options.isAtomic, !(options.isPassing && inner.count == 1) { isAtomic = false }
            left += inner
        }
        self.isAtomic = isAtomic
    }

    /// Its files.
    ///
    /// - Throws: `RemoteFailure`, and as the runner.
    package func files() throws -> [Rclone.Entry] { try rclone.files(in: location) }

    /// The file with this name; nil if there is none.
    ///
    /// - Throws: `RemoteFailure`, and as the runner.
    package func file(named name: String) throws -> Rclone.Entry? {
        try filesIfAny().first { $0.name.exact == name.exact }
    }

    /// Its files; none if it does not exist yet.
    private func filesIfAny() throws -> [Rclone.Entry] {
        do {
            return try files()
        } catch RemoteFailure.missing {
            return []
        }
    }

    /// Passes on a file in pieces.
    ///
    /// - Throws: `RemoteFailure`, and as `receive` and the runner.
    package func read(_ file: Rclone.Entry, _ receive: (borrowing Span<UInt8>) throws -> Void) throws {
        try rclone.read(location.appending(file.name), size: file.size, receive)
    }

    /// Copies a file, unless it is there, and reads the copy back.
    ///
    /// Where a file could be seen before it is complete, it is written and compared under another name first. If this is
    /// broken off, doing it again completes it and leaves nothing else.
    ///
    /// - Parameter file: the file, opened by its absolute path; the copy gets its name.
    /// - Throws: `RemoteFailure` (`unusableName` and others), `FileFailure`, `StreamFailure`, and as the runner.
    package func put(_ file: OpenFile) throws -> Outcome {
        let name = Path.split(file.path).name
        let (size, digest) = (try file.size(), try Self.digest(of: file))
        let target = location.appending(name)
        // One name with a line break would make every later listing of the folder unclear.
        guard RemoteLocation(target.text) == target else { throw RemoteFailure.unusableName(name) }
        let before = try filesIfAny()
        if let entry = before.first(where: { $0.name.exact == name.exact }) {
            guard entry.size == size, try self.digest(of: entry) == digest else { throw RemoteFailure.exists(target) }
            return .present
        }
        // Two machines that write different files under one name do not write into the same one.
        let first = "\(name).\(digest.hex.prefix(16)).part"
        // What a run that was broken off has left may be incomplete.
        if before.contains(where: { $0.name.exact == first.exact }) { try rclone.delete(location.appending(first)) }
        if isAtomic {
            try rclone.upload(file.path, into: location)
            try compare(name, size, digest)
            return .copied
        }
        try rclone.write(file.path, over: location.appending(first))
        try compare(first, size, digest)
        guard try self.file(named: name) == nil else {
            try rclone.delete(location.appending(first))
            throw RemoteFailure.exists(target)
        }
        try rclone.move(location.appending(first), to: target)
        try compare(name, size, digest)
        return .copied
    }

    /// Requires that a file of the remote has this content.
    private func compare(_ name: String, _ size: UInt64, _ digest: SHA256Digest) throws {
        guard let entry = try self.file(named: name), entry.size == size, try self.digest(of: entry) == digest else {
            throw RemoteFailure.differs(location.appending(name))
        }
    }

    private func digest(of entry: Rclone.Entry) throws -> SHA256Digest {
        var hash = SHA256()
        try read(entry) { hash.update($0) }
        return hash.finalize()
    }

    private static func digest(of file: OpenFile) throws -> SHA256Digest {
        var hash = SHA256()
        var slice = try FileSlice(whole: file)
        try slice.forEachPiece { bytes throws(StreamFailure) in hash.update(bytes) }
        return hash.finalize()
    }
}
