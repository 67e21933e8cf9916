internal import ArgumentParser
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup keychain list`.
struct KeychainListCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the keychains of this device.",
        discussion: """
            EXAMPLES:
              kcbackup keychain list
            """)

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        var table = Table([
            Table.Column(title: "NAME", least: 8), Table.Column(title: "ITEMS", alignment: .right),
            Table.Column(title: "PASSCODE"), Table.Column(title: "CREATED"),
        ])
        var json: [JSONValue] = []
        var status = ExitStatus.ok
        for name in try LocalKeychain.names(in: session.machine.dataFolder) {
            let local = try LocalKeychain(name, in: session.machine)
            do {
                let found = try local.naming { try local.open(in: session.machine).information() }
                table.append([
                    name, String(found.total), found.cost == nil ? "none" : "set", session.calendar.day(found.created),
                ])
                json.append(.keychain(local, found))
            } catch {
                // A keychain that cannot be opened must neither hide the others nor be hidden.
                session.warn(session.failure(of: error).explanation.message)
                table.append([name, "?", "?", "?"])
                json.append(["name": .text(name), "path": .text(local.path)])
                status = .incomplete
            }
        }
        if json.isEmpty { session.note("there is no keychain; 'kcbackup keychain create' makes one") }
        try session.result(
            ["keychains": .list(json)], table.isEmpty ? [] : table.lines(width: session.tableWidth))
        return status
    }
}

extension KeychainInformation {
    /// The number of live items.
    var total: Int { itemCounts.values.reduce(0, +) }
}

extension JSONValue {
    /// Returns the keychain object described in docs/json.md ("Parts").
    static func keychain(_ local: LocalKeychain, _ found: KeychainInformation) -> JSONValue {
        .members([
            ("name", .text(local.name)), ("path", .text(local.path)),
            ("store", .text(Hexadecimal.encode(found.storeID))), ("device", .text(found.device.description)),
            ("created", .text(found.created.description)), ("passcode", .flag(found.cost != nil)),
            ("counter", found.counter.map { .text($0.name.rawValue) }),
            ("generation", .number(found.generation)),
            ("counts", .counts { found.itemCounts[$0] ?? 0 }), ("tombstones", .number(found.tombstoneCount)),
            (
                "escrow",
                found.escrow.map {
                    ["since": .text($0.since.description), "key": .text($0.key.description)]
                }
            ),
            ("tokens", found.tokens.isEmpty ? nil : .tokens(found.tokens)),
        ])
    }
}
