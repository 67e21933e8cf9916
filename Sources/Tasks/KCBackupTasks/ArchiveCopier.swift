internal import KCBackupArchive
package import KCBackupCatalogue
internal import KCBackupEngine
package import KCByteStreams
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

    /// Copies archives in few calls, where a call can write many.
    ///
    /// Without those that cannot be copied, and none at all if the folder may not be listed: copying each by itself says why.
    ///
    /// - Throws: as the runner, but no `RemoteFailure`.
    package func batch(of archives: some Sequence<PlacedArchive>) throws -> CopyBatch {
        var batch = CopyBatch(to: folder, there: [:])
        guard folder.writesTogether else { return batch }
        do {
            let files = try folder.filesIfAny().map { ($0.name.exact, $0.size) }
            batch = CopyBatch(to: folder, there: Dictionary(files) { first, _ in first })
        } catch is RemoteFailure {
            return batch
        }
        for archive in archives where archive.problem == nil {
            do {
                _ = try archive.judged(on: machine) { try batch.add(proved($0.path, of: $0.known?.entry)) }
            } catch {
                // Otherwise, copying it by itself says why.
                if Interruption.isRequested { throw error }
            }
        }
        try batch.run()
        return batch
    }

    /// Copies an archive, also with credentials that may only write.
    ///
    /// - Returns: nil if another run has removed the archive since its folder was read.
    /// - Throws: as `copy(_:of:)`, and the problem of the archive.
    package func copy(_ archive: PlacedArchive) throws -> RemoteFolder.Copy? {
        if let problem = archive.problem { throw problem }
        do {
            return try archive.judged(on: machine) { archive in
                let file = try proved(archive.path, of: archive.known?.entry)
                do {
                    return try folder.copy(file)
                } catch RemoteFailure.denied where folder.writesTogether {
                    return try folder.copyUnlisted(file, mayBeUnread: true)
                }
            }
        } catch let failure as FileFailure where archive.isOfFolder && failure.problem == .notFound {
            return nil
        }
    }

    /// - Throws: `CopyRefusal`, `ArchivePlaceProblem.empty`, `CatalogueFailure` (`replaced`, `missing`, `renamed`) if the file is not
    ///   that of `entry` or its name, `ArchiveFailure`, `FileFailure`, and as `RemoteFolder.copy`.
    package func copy(_ path: String, of entry: CatalogueEntry? = nil) throws -> RemoteFolder.Copy {
        try folder.copy(proved(path, of: entry))
    }

    /// Copies an archive to a folder that may not be listed.
    ///
    /// - Throws: as `copy`.
    package func copyUnlisted(
        _ path: String, of entry: CatalogueEntry, mayBeUnread: Bool
    ) throws -> RemoteFolder.Copy {
        try folder.copyUnlisted(proved(path, of: entry), mayBeUnread: mayBeUnread)
    }

    /// An archive that may be copied.
    ///
    /// - Throws: as `copy`, without what the remote fails with.
    package func proved(_ path: String, of entry: CatalogueEntry? = nil) throws -> OpenFile {
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
        return file
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
