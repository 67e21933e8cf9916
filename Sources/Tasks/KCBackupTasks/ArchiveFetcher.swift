internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCByteStreams
internal import KCCryptography
internal import KCLocalKeychains
package import KCRemotes
package import KCStoreTasks

/// Copies archives of a remote to a folder here, if they are genuine as far as can be told without a key.
package struct ArchiveFetcher {
    let folder: String
    let machine: Machine

    /// - Parameter folder: the absolute path of the folder, which exists.
    package init(to folder: String, on machine: Machine) {
        (self.folder, self.machine) = (folder, machine)
    }

    /// Copies an archive of a remote, unless it is there.
    ///
    /// - Returns: false if the same file is there already.
    /// - Throws: the problem of the archive, `FileFailure.notFound` for one that is on no remote, and as `fetch(_:from:)`.
    package func fetch(_ archive: PlacedArchive) throws -> Bool {
        if let problem = archive.problem { throw problem }
        guard let copy = archive.copy else { throw FileFailure(archive.path, .notFound) }
        return try fetch(copy.entry, from: copy.folder)
    }

    /// Copies an archive, unless it is there.
    ///
    /// - Returns: false if the same file is there already.
    /// - Throws: `FileFailure` (`exists` if the name is taken by another file), `RemoteFailure`, `ArchiveFailure`,
    ///   `CatalogueFailure.renamed`, `StreamFailure`.
    package func fetch(_ entry: RemoteEntry, from remote: RemoteFolder) throws -> Bool {
        // Names come from the other machine, and must not lead out of the folder.
        guard !entry.name.exact.contains("/"), !entry.name.exact.hasControlCharacter else {
            throw RemoteFailure.unusableName(entry.name)
        }
        let target = try UnnamedFile(inFolder: folder)
        var hash = SHA256()
        var sink = UnnamedFileSink(target)
        try remote.read(entry) { bytes in
            hash.update(bytes)
            try sink.write(bytes)
        }
        let file = try sink.finish().file
        let path = "\(folder)/\(entry.name)"
        let isThere = try Path.exists(path)
        if isThere, try Self.digest(of: OpenFile.reading(path)) != hash.finalize() { throw FileFailure(path, .exists) }
        let source = remote.location.appending(entry.name).text
        _ = try NamedArchive(file.archive(at: source), named: entry.name, at: source)
            .proveOutside(local: LocalDevice(machine).identity())
        if isThere { return false }
        try target.publish(as: entry.name)
        return true
    }

    private static func digest(of file: OpenFile) throws -> SHA256Digest {
        var hash = SHA256()
        var slice = try FileSlice(whole: file)
        try slice.forEachPiece { bytes throws(StreamFailure) in hash.update(bytes) }
        return hash.finalize()
    }
}
