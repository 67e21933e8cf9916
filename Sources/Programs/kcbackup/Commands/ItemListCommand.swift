internal import ArgumentParser
internal import KCKeychainModel
internal import KCKeychainStore

/// `kcbackup item list`.
struct ItemListCommand: Verb {
    static let mainOptions: [OptionName] = [.keychain, .columns, .sort]

    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List items in a table, without secrets.",
        discussion: """
            Rows are sorted by service or server, then account, or by --sort. More than 20,000 are listed in archive \
            order. TRAVELS says where an item restores: anywhere, on this device, or nowhere. Columns that do not fit \
            the terminal are left out; --wide shows them, and 'kcbackup item find' shows all attributes.

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
    var keychain: KeychainOptions

    @OptionGroup
    var unlocking: UnlockOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let search = try QueryOptions.search(text)
        let listing = try ItemListing(session, table)
        if let keyring = try session.desktopKeyring(keychain.keychain) {
            let client = try keyring.connect(unlocking, passcode: keychain.passcode, in: session)
            let found = try DesktopItems(keyring, client, conditions.filter(text), in: session)
            for item in found.items { listing.measure(item) }
            for item in found.items { try listing.writeRow(item) }
            try listing.end()
            session.note(listing.summary)
            return found.isComplete ? .ok : .incomplete
        }
        if unlocking.unlock { throw UsageProblem.needsDesktop(.unlock) }
        let store = try keychain.open(in: session)
        let query = try conditions.query()
        try session.world.unlocked.resume(store)
        listing.broken = try SealCheck.broken(in: store) { query.means($0) && search.matches($0) }
        let damaged = try store.walk(query, where: search.matches, first: listing.measure, listing.writeRow)
        try listing.end()
        session.note(listing.summary)
        return session.status(session.status(ofDamaged: damaged), brokenSeals: listing.broken.count)
    }
}

extension Session {
    /// Reports rows that are not valid items, which lists leave out.
    func status(ofDamaged count: Int) -> ExitStatus {
        if count == 0 { return .ok }
        warn("\(counted(count, "item")) cannot be read: the keychain is damaged")
        return .incomplete
    }
}
