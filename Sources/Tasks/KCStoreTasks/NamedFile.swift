internal import KCBackupArchive
internal import KCBackupCatalogue
package import KCByteStreams
internal import KCItemSources
internal import KCItemStores

/// `file:PATH`: a file of items or another program's file; its items need not be in a keychain.
package struct NamedFile: NamedStore {
    package let path: String

    package init(path: String) { self.path = path }

    package var name: String { path }
    package var storeName: String { FileOfItems.name(path) }
    package var kind: StoreKind { .file }
    package var recorded: (kind: String, name: String) { (ArchiveSource.items, Path.split(path).name) }
    package var stem: String { ArchiveName.stem(ofFile: Path.split(path).name) }
    package var plainStem: String { "items" }

    package func absolute(in machine: Machine) -> NamedFile { NamedFile(path: machine.absolute(path)) }

    package func requirePlace(in machine: Machine) throws(FileFailure) {
        if try !Path.exists(machine.resolve(path)) { throw FileFailure(path, .notFound) }
    }

    package func opened(_ access: StoreAccess, for use: StoreUse, in context: TaskContext) throws -> OpenStore {
        try access.file.check(with: path)
        let (folder, name) = Path.split(context.machine.resolve(path))
        let identity = "\(Path.real(folder) ?? folder)/\(name)"
        var reader = ForeignReader(path, access.file, in: context)
        reader.isOneOfTwo = use == .comparing
        if !access.file.isGiven, try reader.isFileOfItems() {
            let lines = try FileOfItems.open(path, in: context)
            let items = try context.machine.blamingTemporaryFolder {
                try lines.collected(spoolingIn: context.machine.temporaryFolder)
            }
            return OpenStore(
                FileItems(ForeignContents(items: items, kind: "item", isPlaintext: true), identity: identity),
                .ofItemLines)
        }
        let reading = try reader.read()
        context.tell(ForeignEvent.read(reading, path: path, use))
        return OpenStore(FileItems(reading.contents, identity: identity), .ofFile(reading, path: path))
    }
}
