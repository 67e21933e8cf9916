internal import KCBackupArchive
internal import KCBackupEngine
internal import KCByteStreams
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCStoreTasks
internal import KCTerminal

/// The source of exported items: a keychain, the desktop keyring or an archive, opened in the order in which mistakes show earliest.
struct ExportSource {
    private enum Place {
        case live(any ReadableStore)
        case archive(ReadableArchive)
    }

    private let place: Place

    /// Opens the keychain or the desktop keyring, or verifies that the archive is genuine.
    init(
        _ archive: String?, _ reading: ArchiveReadingOptions, _ keychain: KeychainOptions, _ unlocking: UnlockOptions,
        _ fileKey: FileKeyOption, in session: Session
    ) throws {
        guard let archive else {
            let options = StoreOptions(keychain.passcode, unlocking, fileKey)
            place = .live(try session.store(keychain.keychain).open(options, in: session).items)
            return
        }
        place = .archive(try reading.open(archive, question: "Export from it anyway?", in: session))
    }

    /// The number of unreadable items that were named when the source was opened.
    func told() throws -> Int {
        switch place {
        case .live(let source): try source.unread.count
        case .archive: 0
        }
    }

    /// Makes the secrets of the selected items that may leave readable.
    ///
    /// - Throws: `KeychainStoreError.itemNotFound` if nothing matches, before a passcode is asked for; the errors of opening
    ///   the secrets.
    func unlock(_ filter: ItemFilter?, in session: Session) throws {
        switch place {
        case .live(let source):
            guard let filter else { return try source.open(.all) }
            let found = try source.find(filter)
            if found.isEmpty { throw KeychainStoreError.itemNotFound }
            let leaving = found.items.filter { Departure.decide($0) == .leaves }
            try source.open(.of(Set(leaving.map(\.protection))))
        case .archive(let found):
            try found.openSecrets(of: filter, in: session)
        }
    }

    /// Passes the items that may be exported to `writer`.
    func run(to writer: any ExportWriter, filter: ItemFilter?, in session: Session) throws -> ItemExport {
        switch place {
        case .live(let source):
            let progress = try Progress("exporting items", in: session, itemsOf: source.itemCount)
            defer { progress.finish() }
            var export = ItemExport(
                to: writer, filter: filter, spoolingIn: session.machine.temporaryFolder, step: progress.step)
            try source.visitItems(&export)
            try export.joinRecords()
            return export
        case .archive(let found):
            let proven = found.proven
            var options = found.options
            options.filter = filter
            // The archive is read once for the plan and once for writing.
            let progress = Progress("exporting items", in: session, reading: proven.opened, 2)
            defer { progress.finish() }
            let export = ItemExport(to: writer, filter: filter, spoolingIn: session.machine.temporaryFolder)
            if let others = export.others { _ = try proven.survey(others) }
            _ = try ExportBackup(proven, options: options).run(to: export, step: progress.step)
            try export.joinRecords()
            return export
        }
    }
}
