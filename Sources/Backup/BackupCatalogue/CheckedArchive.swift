package import BackupEngine
package import ByteStreams

/// An archive of a folder that was found to be what its catalogue says.
package struct CheckedArchive: Hashable, Sendable {
    package let archiveID: [UInt8]
    /// True when it was restored for a trial too.
    package let isDrilled: Bool

    /// Names an archive.
    package init(archiveID: [UInt8], isDrilled: Bool) {
        self.archiveID = archiveID
        self.isDrilled = isDrilled
    }
}

extension CatalogueEntry {
    /// How an archive under the name of an entry differs from the one that the catalogue knows.
    package enum Difference: Hashable, Sendable {
        /// Another archive of this device has the name.
        case archive
        /// Another device signed it.
        case origin
        /// It holds something else than was put into it.
        case content
    }

    /// What shows that a genuine archive is not the one of this entry; nil if nothing does.
    ///
    /// - Parameters:
    ///   - archiveID: the one in the archive's header.
    ///   - fingerprint: of what is in it; nil where that was not read.
    package func difference(archiveID: [UInt8], origin: Origin, fingerprint: [UInt8]?) -> Difference? {
        if origin != .thisDevice { return .origin }
        if archiveID != self.archiveID { return .archive }
        if let fingerprint, let content, content.fingerprint != fingerprint { return .content }
        return nil
    }
}

extension Catalogue {
    /// The archives that are in their place or about to get their name, and the names of others in the folder.
    ///
    /// - Throws: `FileFailure` (`system`, …) where the folder cannot be read.
    package func contents(of path: String) throws(FileFailure) -> (listed: [CatalogueEntry], unlisted: [String]) {
        let names = try Self.archiveNames(in: path)
        let listed = entries.filter { entry in
            entry.state == .complete || entry.state == .writing && names.contains(entry.name)
        }
        return (listed, names.subtracting(listed.map(\.name)).sorted())
    }

    /// The names of files in a folder that may be archives.
    ///
    /// - Throws: `FileFailure`.
    package static func archiveNames(in path: String) throws(FileFailure) -> Set<String> {
        Set(try Path.names(in: path).filter { $0.hasSuffix(ArchiveName.ending) })
    }
}
