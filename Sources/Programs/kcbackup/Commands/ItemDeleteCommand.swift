internal import ArgumentParser
internal import KCConsole
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains

/// `kcbackup item delete`.
struct ItemDeleteCommand: Verb {
    static let mainOptions: [OptionName] = [.service, .account, .yes]

    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete items.",
        discussion: """
            All matching items are deleted, in one transaction; if there are several, they are listed, and you are \
            asked first. No passcode is needed. 'kcbackup undo' takes it back.

            EXAMPLES:
              kcbackup item delete --service "Home Wi-Fi"
              kcbackup item delete --group com.example.old --yes
            """)

    @OptionGroup
    var conditions: QueryOptions

    @Flag(name: OptionName.yes.name, help: "Do not ask.")
    var yes = false

    @Flag(name: OptionName.noUndo.name, help: "Do not keep the state before the change.")
    var noUndo = false

    @OptionGroup
    var keychain: LocalKeychainOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let query = try conditions.condition()
        let store = try keychain.open(in: session)
        let matches = try store.find(query)
        let count = matches.items.count + matches.damaged
        if count == 0 { throw KeychainStoreError.itemNotFound }
        if count > 1 {
            if !yes, session.world.terminal.isAttended {
                session.list(matches.items) { _, words in "to be deleted: \(words)" }
            }
            try session.confirm("Delete \(count) items?", isGiven: yes)
        }
        try StateKeeper.changing(store, .itemDelete, isKept: !noUndo, in: session) { writer in
            // Delete exactly the items that were counted and confirmed; damaged ones can only be selected by the query.
            for item in matches.items { try writer.delete(matching: ItemQuery(item), now: session.now) }
            if matches.damaged > 0 { try writer.delete(matching: query, now: session.now) }
        }
        session.done = "\(counted(count, "item")) deleted"
        for words in wordsApart(matches.items) { session.note("deleted: \(words)") }
        if matches.damaged > 0 { session.note("deleted: \(counted(matches.damaged, "damaged item"))") }
        session.noteUndo(keychain.keychain)
        if style.json { try session.result(["items": .list(matches.items.map { .item($0) })], []) }
        return .ok
    }
}
