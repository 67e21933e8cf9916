internal import KCAgeEncryption
internal import KCByteStreams
internal import KCItemSources

/// The keys of the files of a store; a plugin is run once for all of them.
struct PassageKeys {
    private var keys: [ExactText: FileKey] = [:]

    /// Unwraps the keys of `files`.
    ///
    /// A file that is damaged has none: reading it says what is wrong.
    ///
    /// - Throws: `AgeFailure` (`plugin`, `stream`, `cryptography`), `StreamFailure`.
    init(of files: [String], in folder: ForeignFolder, _ identities: IdentityFile) throws {
        if identities.plugins.isEmpty { return }
        var closed: [(file: String, header: AgeHeader)] = []
        for file in files {
            let source: ForeignFile
            do {
                source = try folder.read(file)
            } catch is FileFailure {
                // Reading the file itself says what is wrong with it.
                continue
            }
            do throws(AgeFailure) {
                let header = try AgeHeader.read(from: ForeignFileSource(file: source))
                if try FileKey.unwrap([header], with: identities.held)[0] == nil { closed.append((file, header)) }
            } catch {
                switch error {
                case .cryptography: throw error
                default: continue
                }
            }
        }
        let found = try FileKey.unwrap(closed.map(\.header), with: identities.plugins)
        for (closed, key) in zip(closed, found) { keys[closed.file.exact] = key }
    }

    /// The key of a file that a plugin opens.
    subscript(_ file: String) -> FileKey? { keys[file.exact] }
}
