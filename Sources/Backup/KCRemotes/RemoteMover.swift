package import KCByteStreams
package import KCCryptography

/// A program that reads and writes the files of a remote: `Rclone`, or `Sftp`.
///
/// Files are copied only by the calls of this protocol, in the order that `RemoteFolder` decides.
package protocol RemoteMover {
    /// Looks at how the remote of a folder is configured.
    ///
    /// - Returns: what writes a file into the folder under its own name; nil if it could be seen there before it is
    ///   complete.
    /// - Throws: `RemoteFailure` (`unknownRemote`, `unpinnedHost`, `needsRclone`), and as the runner.
    func directWrite(to folder: RemoteLocation) throws -> DirectWrite?

    /// The files in a folder, without those in its folders.
    ///
    /// - Throws: `RemoteFailure` (`missing` for a missing folder of a remote that has folders), and as the runner.
    func files(in folder: RemoteLocation) throws -> [RemoteEntry]

    /// Passes on a file in pieces.
    ///
    /// - Parameter size: its size.
    /// - Throws: `RemoteFailure` (`changed` if it has another size), and what `receive` and the runner throw.
    func read(_ file: RemoteLocation, size: UInt64, _ receive: (borrowing Span<UInt8>) throws -> Void) throws

    /// Writes a file, also where there is one, and makes the folders on the way to it.
    ///
    /// - Parameter path: the absolute path of the file here.
    func write(_ path: String, over file: RemoteLocation) throws

    /// Renames a file; whether the name may be taken depends on the remote.
    func move(_ file: RemoteLocation, to name: RemoteLocation) throws

    /// Deletes a file.
    func delete(_ file: RemoteLocation) throws

    /// True if one call can write or read many files.
    var sharesCalls: Bool { get }

    /// The SHA-256 of files as they are read now, without those that cannot be read; none where a call reads one file.
    ///
    /// - Parameter files: with the sizes that they should have; more than all of them together is not read.
    /// - Throws: what the runner throws.
    func digests(of files: [RemoteEntry], in folder: RemoteLocation) throws -> [ExactText: SHA256Digest]

    /// The names of the files for which the remote lists the same hash as that of the file of that name in a folder here.
    ///
    /// - Parameter path: the absolute path of the folder here.
    func listedAlike(_ path: String, in folder: RemoteLocation) throws -> Set<ExactText>

    /// The bucket of a folder, whose earlier versions of files can be seen; nil for other remotes.
    func bucket(of folder: RemoteLocation) throws -> RemoteBucket?
}

extension RemoteMover {
    package var sharesCalls: Bool { false }

    package func digests(of files: [RemoteEntry], in folder: RemoteLocation) throws -> [ExactText: SHA256Digest] { [:] }

    /// Removes what was written of a file before a failure, such as that of a full disk.
    ///
    /// - Returns: the failure, or `leaving` if that fails, too.
    /// - Throws: what the runner throws.
    func removing(_ file: RemoteLocation, after failure: RemoteFailure) throws -> RemoteFailure {
        do {
            try delete(file)
            return failure
        } catch RemoteFailure.missing {
            return failure
        } catch is RemoteFailure {
            return isThere(file) ? .leaving(file, after: failure) : failure
        }
    }

    /// True if a file is in the listing of its folder; false also where there is none.
    private func isThere(_ file: RemoteLocation) -> Bool {
        do {
            return try file.folder.map(files)?.contains { $0.name.exact == file.name.exact } == true
        } catch {
            return false
        }
    }
}

/// Writes files of one folder under their own names, where each appears only when it is complete, and none is replaced.
///
/// - Parameter paths: the absolute paths of the files.
/// - Throws: `RemoteFailure` (`exists` if a name is taken by another file), and as the runner; others may have been written.
package typealias DirectWrite = (_ paths: [String]) throws -> Void

/// A file of a remote.
package struct RemoteEntry: Hashable, Sendable {
    /// The name within its folder.
    package let name: String
    /// The size in bytes.
    package let size: UInt64

    /// Creates a description of a file.
    package init(name: String, size: UInt64) {
        self.name = name
        self.size = size
    }
}

/// How a call of a program ended.
package struct ProgramEnding {
    /// The exit status; 128 and above indicate a signal, or the failure of ssh.
    let status: Int32
    /// The output to standard error, or the end of it.
    let messages: String

    /// Creates an ending.
    package init(status: Int32, messages: String) {
        self.status = status
        self.messages = messages
    }
}

/// Lines of a listing, from the pieces in which it is printed.
struct ListingLines {
    private var line: [UInt8] = []

    /// Passes on the lines that a piece completes.
    mutating func take(_ piece: borrowing Span<UInt8>, _ receive: ([UInt8]) throws -> Void) rethrows {
        for index in piece.indices {
            if piece[index] != UInt8(ascii: "\n") {
                line.append(piece[index])
                continue
            }
            try receive(line)
            line.removeAll(keepingCapacity: true)
        }
    }

    /// True if the last line has its end.
    var isComplete: Bool { line.isEmpty }
}
