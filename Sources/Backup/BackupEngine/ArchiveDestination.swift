package import BackupArchive

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
    private let name: String

    /// Names an archive that is to be in `folder`.
    package init(folder: String, name: String) {
        workFolder = folder
        self.name = name
    }

    /// Gives the archive its name; an existing name is left alone.
    ///
    /// - Throws: `FileFailure` (`exists`, `system`).
    package func receive(_ archive: FinishedArchive, _ report: CreateReport) throws {
        try archive.publish(as: name)
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
