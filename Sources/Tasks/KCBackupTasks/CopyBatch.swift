package import KCByteStreams
package import KCCryptography
package import KCRemotes

/// Files that are written to a remote in few calls, and read back in few.
///
/// A file that this does not show to be there is to be copied by itself, which says why.
///
/// ```swift
/// var batch = CopyBatch(to: folder, there: names)
/// try batch.add(OpenFile.reading("/home/ada/backups/login.kcb"))
/// try batch.run()
/// print(batch.copy(named: "login.kcb")?.outcome)
/// ```
package struct CopyBatch {
    private let folder: RemoteFolder
    private let there: Set<ExactText>
    private var wanted: [ExactText: RemoteFolder.Copy] = [:]
    private var paths: [ExactText: String] = [:]
    /// The names that several files have, of which none is copied here.
    private var shared: Set<ExactText> = []
    private var digests: [ExactText: SHA256Digest] = [:]

    /// - Parameter there: the names of the files that are there.
    package init(to folder: RemoteFolder, there: Set<ExactText>) {
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
        let isThere = there.contains(name)
        wanted[name] = try folder.whole(file, isThere ? .present : .copied)
        if !isThere { paths[name] = file.path }
    }

    /// Writes the files that are not there, and reads all that were added, and others.
    ///
    /// - Parameter others: the names of files to read.
    /// - Throws: as the runner, but no `RemoteFailure`.
    package mutating func run(reading others: [String] = []) throws {
        for paths in Dictionary(
            grouping: paths.values.sorted { $0.exact < $1.exact }, by: { Path.split($0).folder.exact }
        ).values {
            try folder.writeTogether(paths)
        }
        let names = wanted.keys.sorted().map(\.string) + others
        digests = names.isEmpty ? [:] : try folder.digests(of: names)
    }

    /// The copy of a file that was added; nil if it is not shown to be there.
    package func copy(named name: ExactText) -> RemoteFolder.Copy? {
        guard let copy = wanted[name], digests[name] == copy.digest else { return nil }
        return copy
    }

    /// The SHA-256 of a file that was read; nil if it was not.
    package func digest(of name: ExactText) -> SHA256Digest? { digests[name] }
}
