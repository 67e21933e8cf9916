package import KCByteStreams
package import KCCryptography
package import KCRemotes

/// Files that are written to a remote in few calls, and read back in few.
///
/// A file that this does not show to be there is to be copied by itself, which says why.
///
/// ```swift
/// var batch = CopyBatch(to: folder, there: sizes)
/// try batch.add(OpenFile.reading("/home/ada/backups/login.kcb"))
/// try batch.run()
/// print(batch.copy(named: "login.kcb")?.outcome)
/// ```
package struct CopyBatch {
    private let folder: RemoteFolder
    private let there: [ExactText: UInt64]
    private var wanted: [ExactText: RemoteFolder.Copy] = [:]
    private var paths: [ExactText: String] = [:]
    /// The names that several files have, of which none is copied here.
    private var shared: Set<ExactText> = []
    private var digests: [ExactText: SHA256Digest] = [:]

    /// - Parameter there: the files that are there, with their sizes in bytes.
    package init(to folder: RemoteFolder, there: [ExactText: UInt64]) {
        (self.folder, self.there) = (folder, there)
    }

    /// Adds a file, opened by its absolute path, that is to be there; without an effect where each file is written by itself.
    ///
    /// Of several files of one name, none is copied.
    ///
    /// - Throws: `RemoteFailure.unusableName`, `FileFailure`, `StreamFailure`, `CryptographyFailure`.
    package mutating func add(_ file: OpenFile) throws {
        let name = Path.split(file.path).name.exact
        guard folder.writesTogether, !shared.contains(name) else { return }
        if wanted.removeValue(forKey: name) != nil {
            paths[name] = nil
            shared.insert(name)
            return
        }
        let copy = try folder.whole(file, there[name] == nil ? .copied : .present)
        // A file of another size is another one, and need not be read.
        if let size = there[name], size != copy.size { return }
        wanted[name] = copy
        if copy.outcome == .copied { paths[name] = file.path }
    }

    /// Writes the files that are not there, and reads all that were added, and others.
    ///
    /// - Parameter others: files to read, with the sizes that they should have.
    /// - Throws: as the runner, but no `RemoteFailure`.
    package mutating func run(reading others: [RemoteEntry] = []) throws {
        for paths in Dictionary(
            grouping: paths.values.sorted { $0.exact < $1.exact }, by: { Path.split($0).folder.exact }
        ).values {
            try folder.writeTogether(paths)
        }
        let added = wanted.sorted { $0.key < $1.key }.map { RemoteEntry(name: $0.key.string, size: $0.value.size) }
        digests = added.isEmpty && others.isEmpty ? [:] : try folder.digests(of: added + others)
    }

    /// The copy of a file that was added; nil if it is not shown to be there.
    package func copy(named name: ExactText) -> RemoteFolder.Copy? {
        guard let copy = wanted[name], digests[name] == copy.digest else { return nil }
        return copy
    }

    /// The SHA-256 of a file that was read; nil if it was not.
    package func digest(of name: ExactText) -> SHA256Digest? { digests[name] }
}
