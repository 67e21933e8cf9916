package import KCByteStreams
package import KCCryptography

// Many files in few calls of the program that reads and writes a remote, and files of a folder that may not be listed.

extension RemoteFolder {
    // Of one call, whose arguments name each file.
    private static let callLimit = 200

    /// True if many files are written in one call, whatever is there.
    package var writesTogether: Bool { mover.sharesCalls && direct != nil }

    /// The copy of a file that is there whole.
    ///
    /// - Throws: `RemoteFailure.unusableName`, `FileFailure`, `StreamFailure`, `CryptographyFailure`.
    package func whole(_ file: OpenFile, _ outcome: Outcome) throws -> Copy { try wanted(file).copy(outcome) }

    /// Writes files of a folder here under their own names, and leaves those that are taken as they are.
    ///
    /// Nothing tells which files were written: `digests` shows what is there, and `copy` says why a file is not.
    ///
    /// - Parameter paths: the absolute paths of the files.
    /// - Throws: as the runner, but no `RemoteFailure`.
    package func writeTogether(_ paths: [String]) throws {
        guard mover.sharesCalls, let direct else { return }
        for start in stride(from: 0, to: paths.count, by: Self.callLimit) {
            do {
                try direct(Array(paths[start..<min(paths.count, start + Self.callLimit)]))
            } catch is RemoteFailure {
                // Each file that is not there is written again by itself.
            }
        }
    }

    /// The SHA-256 of files, from reading them to their ends; those that cannot be read, and where each is read by itself,
    /// are not among them.
    ///
    /// - Parameter files: with the sizes that they should have; nothing that is longer is read to its end.
    /// - Throws: as the runner.
    package func digests(of files: [RemoteEntry]) throws -> [ExactText: SHA256Digest] {
        var digests: [ExactText: SHA256Digest] = [:]
        guard mover.sharesCalls else { return [:] }
        for start in stride(from: 0, to: files.count, by: Self.callLimit) {
            let some = Array(files[start..<min(files.count, start + Self.callLimit)])
            digests.merge(try mover.digests(of: some, in: location)) { first, _ in first }
        }
        return digests
    }

    /// Copies a file to a folder that may not be listed, and reads the copy back if it may be read.
    ///
    /// A file that has the name already, and may not be read, counts as the copy: names are used once.
    ///
    /// - Parameter mayBeUnread: false if the credentials could read before; a refusal then means that the file is missing, which
    ///   S3 does not tell without the right to list.
    /// - Throws: as `copy`.
    package func copyUnlisted(_ file: OpenFile, mayBeUnread: Bool) throws -> Copy {
        guard writesTogether, let direct else { preconditionFailure("a file has to be looked for first") }
        let wanted = try wanted(file)
        var outcome = Outcome.copied
        do {
            try direct([file.path])
        } catch RemoteFailure.exists {
            outcome = .present
        }
        do {
            let digest = try digest(of: RemoteEntry(name: wanted.name, size: wanted.size))
            if digest != wanted.digest { throw RemoteFailure.differs(location.appending(wanted.name)) }
            return wanted.copy(outcome)
        } catch RemoteFailure.denied where mayBeUnread {
            return wanted.copy(outcome, isReadBack: false)
        } catch let failure as RemoteFailure where outcome == .present && failure.isOfAbsence {
            throw RemoteFailure.exists(location.appending(wanted.name))
        }
    }

    /// Writes a file again if what has its name is the beginning of it: a server that failed has kept as much as it had.
    func complete(_ entry: RemoteEntry, _ wanted: Wanted, from file: OpenFile) throws -> Outcome {
        if try isCopy(entry, of: wanted) { return .present }
        let target = location.appending(wanted.name)
        guard direct != nil, mover.sharesCalls, try isBeginning(entry, of: file, wanted) else {
            throw RemoteFailure.exists(target)
        }
        do {
            try mover.write(file.path, over: target)
        } catch RemoteFailure.denied {
            throw RemoteFailure.exists(target)
        }
        guard let entry = try self.file(named: wanted.name), try isCopy(entry, of: wanted) else {
            throw RemoteFailure.differs(target)
        }
        return .copied
    }

    private func isBeginning(_ entry: RemoteEntry, of file: OpenFile, _ wanted: Wanted) throws -> Bool {
        guard entry.size < wanted.size else { return false }
        return try digest(of: entry) == Self.digest(of: FileSlice(file, offset: 0, length: entry.size))
    }
}

extension Rclone {
    package var sharesCalls: Bool { true }

    /// Reads files to their ends, four at a time; on an object store, this takes one request for each file, and a listing.
    package func digests(of files: [RemoteEntry], in folder: RemoteLocation) throws -> [ExactText: SHA256Digest] {
        let wanted = Set(files.map(\.name.exact))
        let size = files.reduce(Self.slack) { $0 + $1.size }
        var found: [ExactText: SHA256Digest] = [:]
        var line: [UInt8] = []
        let arguments =
            [
                "hashsum", "SHA256", "--download", "--max-depth", "1", "--max-transfer", "\(size)B", "--cutoff-mode",
                "hard",
            ] + Self.including(files.map(\.name))
        // Files that cannot be read are not in the output, and make the status another one.
        _ = try call(arguments, [folder.folderText]) { piece in
            for index in piece.indices {
                if piece[index] != UInt8(ascii: "\n") {
                    // A longer line is no hash of a file with one of the names.
                    if line.count <= Self.lineLimit { line.append(piece[index]) }
                    continue
                }
                if let (name, digest) = Self.digest(of: line), wanted.contains(name) { found[name] = digest }
                line.removeAll(keepingCapacity: true)
            }
        }
        return found
    }

    // In bytes, which a request that is repeated reads twice.
    private static let slack: UInt64 = 1_048_576
    // In bytes: a hash, two spaces, and the longest name that file systems have, in any encoding.
    private static let lineLimit = 4_096

    /// Parses a line with a hash, two spaces and a name; nil for anything else.
    private static func digest(of line: [UInt8]) -> (name: ExactText, digest: SHA256Digest)? {
        guard line.count > 66, let digest = SHA256Digest(hex: String(decoding: line[..<64], as: UTF8.self)) else {
            return nil
        }
        return (String(decoding: line[66...], as: UTF8.self).exact, digest)
    }
}
