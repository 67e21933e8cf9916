internal import ArgumentParser
internal import KCItemStores
internal import KCKeychainModel
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup item list`.
struct ItemListCommand: Verb {
    static let mainOptions: [OptionName] = [.keychain, .columns, .sort]

    static let otherOptions: [OptionName]? = [
        .service, .account, .server, .label, .class, .passcode, .wide, .json, .verbose,
    ]

    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List items in a table, without secrets.",
        discussion: """
            Rows are sorted by service or server, then account, or by --sort. A list of more than 24 MiB, \
            some 100,000 rows, is in archive order. TRAVELS says where an item restores: anywhere, on this device, or \
            nowhere. Columns that do not fit the terminal are left out; --wide shows them, and 'kcbackup item find' \
            shows all attributes. With --keychain file:PATH, the items of a file are listed.

            EXAMPLES:
              kcbackup item list
              kcbackup item list wi-fi
              kcbackup item list --class genp --account ada
              kcbackup item list --columns service,account,travels
              kcbackup item list --json | jq -r '.items[].uuid'
            """)

    @Argument(help: "Only items whose label, service, server, account or kind contains this text, in any case.")
    var text: String?

    @OptionGroup
    var conditions: QueryOptions

    @OptionGroup
    var table: TableOptions

    @OptionGroup
    var location: LocationOptions

    @OptionGroup
    var fileKey: FileKeyOption

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let filter = try conditions.filter(text) ?? ItemFilter()
        let listing = try ItemListing(session, table)
        let store = try location.open(fileKey, in: session).items
        try store.open(.withoutQuestion)
        let shortfall = try store.walk(
            filter, first: listing.measure, unless: { listing.isComplete }, listing.writeRow)
        try listing.end()
        session.note(listing.summary)
        return session.status(session.tell(shortfall), brokenSeals: listing.broken.count)
    }
}
