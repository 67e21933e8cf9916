internal import ArgumentParser
internal import KCConsole
internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCTerminal

/// `kcbackup item delete`.
struct ItemDeleteCommand: Verb {
    static let mainOptions: [OptionName] = [.service, .account, .yes]

    static let otherOptions: [OptionName]? = [
        .keychain, .server, .label, .class, .uuid, .passcode, .unlock, .noUndo, .json,
    ]

    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete items.",
        discussion: """
            All matching items are deleted; if there are several, they are listed, and you are asked first. A keychain \
            needs no passcode for that; the desktop keyring must be open. 'kcbackup undo' takes it back.

            EXAMPLES:
              kcbackup item delete --service "Home Wi-Fi"
              kcbackup item delete --group com.example.old --yes
            """)

    @OptionGroup
    var conditions: QueryOptions

    @OptionGroup
    var change: ChangeOptions

    @OptionGroup
    var location: LocationOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        guard let filter = try conditions.filter() else { throw UsageProblem.noCondition }
        let (store, place) = try location.openForChange(in: session)
        let found = try store.find(filter)
        if found.isEmpty { throw KeychainStoreError.itemNotFound }
        let status = found.shortfall.unread == 0 ? ExitStatus.ok : .incomplete
        let damaged = found.shortfall.damaged
        let count = found.items.count + damaged
        if count > 1 {
            if !change.yes, session.world.terminal.isAttended {
                session.list(found.items) { _ in Remark("to be deleted") }
            }
            try session.confirm("Delete \(count) items?", isGiven: change.yes)
        }
        let earlier = change.noUndo ? try store.countOfStates() : 0
        if count > 0 { try store.delete(found, filter, now: session.now, keepsState: !change.noUndo) }
        let deleted = place.deed("deleted", "from")
        session.done = "\(counted(count, "item")) \(deleted)"
        session.note(each: wordsApart(found.items)) { _ in Remark(deleted) }
        if damaged > 0 { session.note("\(deleted): \(counted(damaged, "damaged item"))") }
        session.noteUndo(place.option)
        if earlier > 0 {
            session.note(
                "\(counted(earlier, "earlier state")) may still have what was deleted: "
                    + "\(session.undoCommand(place.option).dropLast()) --list' names their files")
        }
        if style.json { try session.result(["items": .list(found.items.map { .item($0) })], []) }
        return status
    }
}
