internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCByteStreams
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCRemotes
internal import KCStoreTasks

/// Copies archives to a folder of a remote, if they are genuine as far as can be told without a key.
struct ArchiveCopier {
    let folder: RemoteFolder
    /// True if unencrypted archives may be copied, which show the names of their items.
    let copiesReadable: Bool
    let session: Session

    /// - Throws: `Refusal.readableCopy`, `CatalogueFailure` (`replaced`, `missing`, `renamed`) if the file is not that of
    ///   `entry` or its name, `ArchiveFailure`, `FileFailure`, and as `RemoteFolder.put`.
    func copy(_ path: String, of entry: CatalogueEntry? = nil) throws -> RemoteFolder.Copy {
        let (folder, name) = Path.split(session.machine.absolute(path))
        guard let real = Path.real(folder) else { throw FileFailure(path, .notFound) }
        // A link is not followed: the copy has the name that was given.
        let file = try opened("\(real)/\(name)", of: entry)
        // An entry says more than the name.
        let archive = try NamedArchive(ArchiveFile(file), named: name, at: path) { if entry == nil { throw $0 } }
        if archive.file.header.mode == .unencrypted, !copiesReadable { throw Refusal.readableCopy(path: path) }
        let proven = try archive.proveOutside(local: LocalDevice(session.machine).identity())
        if let difference = entry?.difference(proven.outline, origin: proven.origin, fingerprint: nil) {
            throw CatalogueFailure.replaced(name: path, difference)
        }
        return try self.folder.copy(file)
    }

    private func opened(_ path: String, of entry: CatalogueEntry?) throws -> OpenFile {
        do throws(FileFailure) {
            return try OpenFile.reading(path)
        } catch {
            // The catalogue has it.
            if entry != nil, error.problem == .notFound { throw CatalogueFailure.missing(name: path) }
            throw error
        }
    }
}
