internal import ArgumentParser
internal import KCByteStreams
internal import KCForeignFormats
internal import KCItemSources
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText

/// `kcbackup item import`.
struct ItemImportCommand: Verb {
    static let mainOptions: [OptionName] = [.keychain, .passcode, .noUndo]

    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add the items of a JSON lines file: all of them, or none.",
        discussion: """
            One JSON object per line, with its secret in the clear: make the file readable only by you, and delete it \
            afterwards. kcbackup-item(1) names the page that describes the format. 'kcbackup import' reads files of other \
            programs.

            EXAMPLES:
              kcbackup item import items.jsonl
            """)

    @Argument(help: "The file.", completion: .file(extensions: ["jsonl"]))
    var file: String

    @Flag(name: OptionName.noUndo.name, help: "Do not keep the state before the import.")
    var noUndo = false

    @OptionGroup
    var keychain: LocalKeychainOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        try refuseForeign(in: session)
        let lines = try FileOfItems.open(file, in: session)
        let store = try keychain.openUnlocked(in: session)
        let progress = Progress("importing items", in: session, reading: lines)
        let counts = try StateKeeper.changing(store, .itemImport, isKept: !noUndo, in: session) { writer in
            var counts = ItemCounts()
            try lines.forEach { number, line in
                do throws(KeychainStoreError) {
                    let item = try writer.add(line.draft, secret: line.secret, now: session.now)
                    if item.isSynchronizableInNameOnly { throw .item(.thisDeviceOnlySynchronizable) }
                } catch {
                    throw Failure.importLine(number, .store(error))
                }
                counts[line.draft.itemClass] += 1
                progress.step()
            }
            return counts
        }
        progress.finish()
        session.did("\(counted(counts.total, "item")) imported")
        session.noteUndo(keychain.keychain)
        if style.json { try session.result(["imported": .counts { counts[$0] }], []) }
        return .ok
    }

    /// Refuses another program's file, and names the command that reads it.
    private func refuseForeign(in session: Session) throws {
        let reader = ForeignReader(file, ForeignOptions(), in: session)
        guard let format = try reader.formatOfFile(), !(format is ItemLinesFormat) else { return }
        if let refused = format as? RefusedFormat { throw refused.failure }
        throw Refusal.foreignFile(path: file, title: format.title)
    }
}
