internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCItemSources
internal import KCItemStores
internal import KCReportText
internal import KCStoreTasks

/// `file:PATH`: a file of items or another program's file; its items need not be in a keychain.
struct NamedFile: NamedStore {
    let path: String

    var name: String { path }
    var words: String { quoted(path) }
    var kind: StoreKind { .file }
    var recorded: (kind: String, name: String) { (ArchiveSource.items, Path.split(path).name) }
    var stem: String { ArchiveName.stem(ofFile: Path.split(path).name) }
    var plainStem: String { "items" }

    func requirePlace(in session: Session) throws(FileFailure) {
        if try !Path.exists(session.machine.resolve(path)) { throw FileFailure(path, .notFound) }
    }

    func opened(_ options: StoreOptions, in session: Session) throws -> OpenStore {
        session.subject.store = FileOfItems.name(path)
        let (folder, name) = Path.split(session.machine.resolve(path))
        let identity = "\(Path.real(folder) ?? folder)/\(name)"
        let (access, passwordField) = options.ofFile
        try access.check(with: path)
        var reader = ForeignReader(path, access, passwordField, in: session)
        reader.isOneOfTwo = options.isOneOfTwo
        if access.firstGiven == nil, try reader.isFileOfItems() {
            let lines = try FileOfItems.open(path, in: session)
            let items = try session.machine.blamingTemporaryFolder {
                try lines.collected(spoolingIn: session.machine.temporaryFolder)
            }
            return OpenStore(
                items: FileItems(
                    ForeignContents(items: items, kind: "item", isPlaintext: true), identity: identity))
        }
        let text = ImportText(
            path: path, reading: try reader.read(), use: options.isForArchive ? .taking : .source, session: session)
        try text.tellContents()
        return text.store(identity: identity)
    }
}

extension ImportText {
    /// The file as a store of items.
    func store(identity: String) -> OpenStore {
        let holds = reading.contents.json
        return OpenStore(
            items: FileItems(reading.contents, identity: identity), title: contentLines,
            members: [("file", .text(path)), ("format", .text(reading.format.name)), ("holds", holds)], holds: holds)
    }
}
