internal import KCBackupArchive
package import KCBackupCatalogue
internal import KCBackupEngine
internal import KCByteStreams
internal import KCKeychainModel
internal import KCLocalKeychains
package import KCRemotes
package import KCStoreTasks

/// Why an archive is not copied.
package enum CopyRefusal: Error, Hashable, Sendable {
    /// Unencrypted, so that anyone who can read the remote could read the names in it.
    case readable(path: String)
}

/// Copies archives to a folder of a remote, if they are genuine as far as can be told without a key.
package struct ArchiveCopier {
    let folder: RemoteFolder
    let copiesReadable: Bool
    let machine: Machine

    /// - Parameter copiesReadable: true if unencrypted archives may be copied, which show the names of their items.
    package init(to folder: RemoteFolder, copiesReadable: Bool, on machine: Machine) {
        (self.folder, self.copiesReadable, self.machine) = (folder, copiesReadable, machine)
    }

    /// - Returns: nil if another run has removed the archive since its folder was read.
    /// - Throws: as `copy(_:of:)`, and the problem of the archive.
    package func copy(_ archive: PlacedArchive) throws -> RemoteFolder.Copy? {
        if let problem = archive.problem { throw problem }
        do {
            return try archive.judged(on: machine) { try copy($0.path, of: $0.known?.entry) }
        } catch let failure as FileFailure where archive.isOfFolder && failure.problem == .notFound {
            return nil
        }
    }

    /// - Throws: `CopyRefusal`, `ArchivePlaceProblem.empty`, `CatalogueFailure` (`replaced`, `missing`, `renamed`) if the file is not
    ///   that of `entry` or its name, `ArchiveFailure`, `FileFailure`, and as `RemoteFolder.put`.
    package func copy(_ path: String, of entry: CatalogueEntry? = nil) throws -> RemoteFolder.Copy {
        let (folder, name) = Path.split(machine.absolute(path))
        guard let real = Path.real(folder) else { throw FileFailure(path, .notFound) }
        // A link is not followed: the copy has the name that was given.
        let file = try opened("\(real)/\(name)", of: entry, named: path)
        // An entry says more than the name.
        let archive = try NamedArchive(file.archive(at: path), named: name, at: path) { if entry == nil { throw $0 } }
        if archive.file.header.mode == .unencrypted, !copiesReadable { throw CopyRefusal.readable(path: path) }
        let proven = try archive.proveOutside(local: LocalDevice(machine).identity())
        if let difference = entry?.difference(proven.outline, origin: proven.origin, fingerprint: nil) {
            throw CatalogueFailure.replaced(name: path, difference)
        }
        return try self.folder.copy(file)
    }

    private func opened(_ path: String, of entry: CatalogueEntry?, named given: String) throws -> OpenFile {
        do throws(FileFailure) {
            return try OpenFile.reading(path)
        } catch {
            // The catalogue has it.
            if entry != nil, error.problem == .notFound { throw CatalogueFailure.missing(name: given) }
            throw error
        }
    }
}
