internal import ArgumentParser
internal import KeychainModel
internal import KeychainStore

/// `kcbackup item list`.
struct ItemListCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List items in a table, without secrets.",
        discussion: """
            EXAMPLES:
              kcbackup item list
              kcbackup item list --class genp --account ada
              kcbackup item list --json | jq -r '.items[].uuid'
            """)

    @OptionGroup
    var conditions: QueryOptions

    @OptionGroup
    var keychain: KeychainOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let matches = try keychain.open(in: session).find(conditions.query())
        var table = ItemTable()
        if !style.json { for item in matches.items { table.append(item) } }
        try session.result(
            ["items": .list(matches.items.map { .item($0) })], table.lines(width: session.tableWidth))
        session.note(counted(matches.items.count, "item"))
        return session.status(ofDamaged: matches.damaged)
    }
}

extension Session {
    /// Tells of rows that make no item, which are in no list.
    func status(ofDamaged count: Int) -> ExitStatus {
        if count == 0 { return .ok }
        warn("\(counted(count, "item")) cannot be read: the keychain is damaged")
        return .incomplete
    }
}
