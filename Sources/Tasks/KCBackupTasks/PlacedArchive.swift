internal import KCBackupArchive
package import KCBackupCatalogue
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
package import KCRemotes
internal import KCStoreTasks

/// An archive at a place.
package struct PlacedArchive {
    /// Where its bytes are.
    enum Source {
        /// In a file or pipe that was named itself.
        case input
        /// In a regular file at an absolute path.
        case file(String)
        case remote(RemoteFolder, RemoteEntry)
        case nowhere
    }

    /// The archive here of which this one is to be a copy.
    package struct Original {
        /// The archive as it is named.
        package let path: String
        /// True if the remote lists the hash of the original, which is then read in place of the copy.
        package var isListedAlike: Bool
    }

    /// The archive as it is named, and as `restore` takes it.
    package let path: String
    let source: Source
    /// True if its folder was named, not the archive itself.
    package var isOfFolder = false
    /// The folder in whose catalogue it is, and its entry there; nil if it is in no catalogue.
    package var known: (folder: String, entry: CatalogueEntry)?
    package var original: Original?
    /// Why there is nothing to read.
    package var problem: (any Error)?

    /// The last part of its path.
    package var name: String {
        if case .remote(_, let entry) = source { return entry.name }
        return RemoteLocation(path)?.name ?? Path.split(path).name
    }

    /// The archive on a remote; nil if it is here.
    package var copy: (folder: RemoteFolder, entry: RemoteEntry)? {
        if case .remote(let folder, let entry) = source { (folder, entry) } else { nil }
    }

    /// Opens the bytes, of which nothing is proved; pipes and files of a remote are first copied to an unnamed file, since
    /// archives are not read sequentially.
    ///
    /// - Throws: `problem`, also `ArchivePlaceProblem`; `CatalogueFailure.missing`, `FileFailure`, `StreamFailure`,
    ///   `RemoteFailure`.
    func open(on machine: Machine) throws -> OpenFile {
        if let problem { throw problem }
        switch source {
        case .nowhere: throw FileFailure(path, .notFound)
        case .input: return try machine.openInput(path)
        case .file(let absolute):
            if known != nil, try !Path.exists(absolute) { throw CatalogueFailure.missing(name: path) }
            // A pipe is refused, for whose writer `openInput` would wait.
            return try OpenFile.reading(absolute)
        case .remote(let folder, let entry):
            return try machine.blamingTemporaryFolder {
                var sink = UnnamedFileSink(try UnnamedFile(inFolder: machine.temporaryFolder))
                try folder.read(entry) { bytes in try sink.write(bytes) }
                return try sink.finish().file
            }
        }
    }

    /// Calls `look`, again with the current entry if that fails since another run has changed the file and the catalogue.
    ///
    /// - Returns: nil if another run has removed the archive in the meantime.
    /// - Throws: what `look` throws.
    func judged<Found>(on machine: Machine, _ look: (PlacedArchive) throws -> Found) throws -> Found? {
        guard let known else { return try look(self) }
        return try machine.judging(known.entry, of: known.folder) { entry in
            var archive = self
            archive.known = (known.folder, entry)
            return try look(archive)
        }
    }
}

extension Machine {
    /// Opens a file, or copies a pipe to an unnamed one.
    fileprivate func openInput(_ path: String) throws -> OpenFile {
        switch try InputFile.open(resolveInput(path)) {
        case .file(let file): return file
        case .pipe(let pipe):
            return try blamingTemporaryFolder {
                var source = PipeSource(pipe: pipe)
                var sink = UnnamedFileSink(try UnnamedFile(inFolder: temporaryFolder))
                try source.forEachPiece { bytes throws(StreamFailure) in try sink.write(bytes) }
                return try sink.finish().file
            }
        }
    }
}

extension OpenFile {
    /// The archive in the file.
    ///
    /// - Parameter path: the path in errors.
    /// - Throws: `ArchivePlaceProblem.empty`, `ArchiveFailure`, `FileFailure`.
    func archive(at path: String) throws -> ArchiveFile {
        if try size() == 0 { throw ArchivePlaceProblem.empty(path: path) }
        return try ArchiveFile(self)
    }
}
