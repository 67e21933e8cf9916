package import BackupArchive
internal import ByteStreams

/// Where a finished archive goes.
package protocol ArchiveDestination {
    /// The folder in which the archive is written; it has no name there.
    var workFolder: String { get }

    /// Takes the archive, which is whole, durable and proved.
    ///
    /// When this throws, nothing that the destination holds may look like an archive.
    ///
    /// - Parameter report: what is in it and what is not.
    func receive(_ archive: FinishedArchive, _ report: CreateReport) throws
}

/// A folder, where the archive gets its name.
package struct FolderDestination: ArchiveDestination {
    package let workFolder: String
    private let name: (Int) -> String
    private let isNumbered: Bool

    /// Names an archive that is to be in `folder`.
    package init(folder: String, name: String) {
        workFolder = folder
        self.name = { _ in name }
        isNumbered = false
    }

    /// Names an archive that is to be in `folder` by the first name that is free.
    ///
    /// - Parameter name: the name to try next, from 1 on, a different one for each number; the last one that was asked
    ///   for is the name that the archive got.
    package init(folder: String, firstFree name: @escaping (Int) -> String) {
        workFolder = folder
        self.name = name
        isNumbered = true
    }

    /// Gives the archive its name; an existing name is left alone.
    ///
    /// - Throws: `FileFailure` (`exists`, `system`).
    package func receive(_ archive: FinishedArchive, _ report: CreateReport) throws {
        var number = 1
        while true {
            do throws(FileFailure) {
                return try archive.publish(as: name(number))
            } catch {
                // Another run may take a name at any time, so nothing is looked up before.
                guard isNumbered, error.problem == .exists else { throw error }
                number += 1
            }
        }
    }
}

/// A pipe or another stream: the bytes are written once the archive is whole.
package struct StreamDestination: ArchiveDestination {
    package let workFolder: String
    private let write: (borrowing Span<UInt8>) throws -> Void

    /// Sends an archive to `write`, in pieces.
    ///
    /// - Parameter workFolder: where it is written first; nothing stays there.
    package init(workFolder: String, write: @escaping (borrowing Span<UInt8>) throws -> Void) {
        self.workFolder = workFolder
        self.write = write
    }

    /// Writes the archive.
    ///
    /// - Throws: `StreamFailure` for the archive, and what `write` throws.
    package func receive(_ archive: FinishedArchive, _ report: CreateReport) throws {
        try archive.forEachPiece(write)
    }
}
