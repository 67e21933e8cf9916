package import KCBackupArchive
package import KCBackupEngine
internal import KCKeychainModel

/// An archive and the name that it was found under.
///
/// A name of the form of `ArchiveName` claims a device, a time and a keychain, and whoever can write to a folder can give
/// an old archive a later name. Each claim is therefore compared with what the device has signed. A name of another form
/// claims nothing.
package struct NamedArchive {
    package let file: ArchiveFile
    private let path: String
    private let claim: ArchiveName?
    private let ifRenamed: (CatalogueFailure) throws -> Void

    /// Compares the name with the device and the time of the archive.
    ///
    /// - Parameters:
    ///   - name: the last component of its path.
    ///   - path: what errors call it.
    ///   - ifRenamed: receives `CatalogueFailure.renamed` if the archive is another one than its name says, once.
    /// - Throws: what `ifRenamed` throws.
    package init(
        _ file: ArchiveFile, named name: String, at path: String,
        ifRenamed: @escaping (CatalogueFailure) throws -> Void = { throw $0 }
    ) throws {
        let name = ArchiveName(name)
        let isName = name?.isName(of: file.header) ?? true
        if !isName { try ifRenamed(.renamed(path: path)) }
        (self.file, self.path, claim, self.ifRenamed) = (file, path, isName ? name : nil, ifRenamed)
    }

    /// Compares the name with what the archive was made from, which `source` reads if there is a claim.
    ///
    /// - Throws: what `source` and `ifRenamed` throw.
    package func requireSeries(of source: () throws -> ArchiveSource) throws {
        if let claim, try !claim.isSeries(of: source()) { try ifRenamed(.renamed(path: path)) }
    }

    /// Verifies everything that needs no key.
    ///
    /// - Throws: `ArchiveFailure`, and what `ifRenamed` throws.
    package func proveOutside(local: LocalIdentity?) throws -> ProvenOutside {
        let proven = try ProvenOutside(file, local: local)
        if file.header.mode == .unencrypted { try requireSeries { try file.prove().open().source() } }
        return proven
    }
}
