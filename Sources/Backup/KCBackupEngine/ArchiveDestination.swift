package import KCBackupArchive
internal import KCByteStreams

/// Where a finished archive goes.
package protocol ArchiveDestination {
    /// The folder in which the archive is written, as a file without a name.
    var workFolder: String { get }

    /// Takes the archive, which is complete, durable and verified.
    ///
    /// If this throws, the destination must not contain anything that looks like an archive.
    ///
    /// - Parameter report: what the archive contains and what it leaves out.
    func receive(_ archive: FinishedArchive, _ report: CreateReport) throws
}

/// A folder in which the archive is given its name.
package struct FolderDestination: ArchiveDestination {
    package let workFolder: String
    private let name: (Int) -> String
    private let isNumbered: Bool

    /// Creates a destination with a fixed file name in `folder`.
    package init(folder: String, name: String) {
        workFolder = folder
        self.name = { _ in name }
        isNumbered = false
    }

    /// Creates a destination with the first free name in `folder`.
    ///
    /// - Parameter name: returns the name to try next, for numbers from 1 on, each time a different one. The last name
    ///   that it returned is the name of the archive.
    package init(folder: String, firstFree name: @escaping (Int) -> String) {
        workFolder = folder
        self.name = name
        isNumbered = true
    }

    /// Names the archive; never replaces an existing file.
    ///
    /// - Throws: `FileFailure` (`exists`, `system`).
    package func receive(_ archive: FinishedArchive, _ report: CreateReport) throws {
        var number = 1
        while true {
            do throws(FileFailure) {
                return try archive.publish(as: name(number))
            } catch {
                // Another run may take a name at any time, so do not check for free names beforehand.
                guard isNumbered, error.problem == .exists else { throw error }
                number += 1
            }
        }
    }
}

/// A pipe or another stream, to which the archive is written once it is complete.
package struct StreamDestination: ArchiveDestination {
    package let workFolder: String
    private let write: (borrowing Span<UInt8>) throws -> Void

    /// Creates a destination that passes the archive to `write`, in pieces.
    ///
    /// - Parameter workFolder: where the archive is written first; nothing is left there.
    package init(workFolder: String, write: @escaping (borrowing Span<UInt8>) throws -> Void) {
        self.workFolder = workFolder
        self.write = write
    }

    /// Writes the archive.
    ///
    /// - Throws: `StreamFailure` if the archive cannot be read, and what `write` throws.
    package func receive(_ archive: FinishedArchive, _ report: CreateReport) throws {
        try archive.forEachPiece(write)
    }
}
