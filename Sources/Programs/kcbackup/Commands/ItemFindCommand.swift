internal import ArgumentParser
internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCConsole
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup item find`.
struct ItemFindCommand: Verb {
    static let mainOptions: [OptionName] = [.reveal, .code, .service]

    static let otherOptions: [OptionName]? = [
        .in, .keychain, .account, .server, .label, .class, .passcode, .unlock, .json,
    ]

    static let keyringUse = KeyringUse.direct

    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Show items with all their attributes and, with --reveal or --code, their secret or its code.",
        discussion: """
            This is the only command that prints secrets. If standard output is not a terminal, --reveal writes the \
            secret of the one matching item, byte for byte and nothing else. An item whose attributes were changed by \
            another program, or damaged, is marked, and its secret is not shown.

            With --in, the items of an archive are shown that a restore on this device would bring back; nothing is \
            restored. Items that would stay behind are named.

            --code computes the current code of one-time passwords, whose secret is an 'otpauth:' address, and shows for \
            how long it is valid. Of the items that match, it takes those of the kind "one-time password" if there are \
            any. It needs the same access as --reveal. Codes that depend on a counter are not made, because nothing is \
            written.

            EXAMPLES:
              kcbackup item find wi-fi
              kcbackup item find --service "Home Wi-Fi" --reveal
              kcbackup item find --class cert --label "Example CA" --reveal > ca.der
              kcbackup item find wi-fi --in laptop.kcb --reveal
              kcbackup item find forum --code
            """)

    @Argument(help: "Only items whose label, service, server, account or kind contains this text, in any case.")
    var text: String?

    @OptionGroup
    var conditions: QueryOptions

    @Flag(name: OptionName.reveal.name, help: "Print the secret as well.")
    var reveal = false

    @Flag(name: OptionName.code.name, help: "Print the current code of a one-time password.")
    var code = false

    @OptionGroup
    var inside: ArchiveLocationOptions

    @OptionGroup
    var location: LocationOptions

    @OptionGroup
    var fileKey: FileKeyOption

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        guard let filter = try conditions.filter(text) else { throw UsageProblem.noCondition }
        if reveal, code { throw UsageProblem.together(.reveal, .code) }
        try inside.check(location)
        if inside.archive != nil, let option = fileKey.firstGiven { throw UsageProblem.together(.in, option) }
        if let archive = try inside.open(in: session) { return try look(into: archive, filter, in: session) }
        let open = try location.open(fileKey, in: session)
        let search = try search(open.items, filter, in: session)
        if search.isEmpty { throw KeychainStoreError.itemNotFound }
        return try show(search, isEveryCollection: open.isEveryCollection, in: session)
    }

    private func look(into archive: ArchiveStore, _ filter: ItemFilter, in session: Session) throws -> ExitStatus {
        let search = try search(archive, filter, in: session)
        archive.tellMissing(session)
        guard search.isEmpty else { return try show(search, isEveryCollection: false, in: session) }
        if archive.stayingBehind.isEmpty {
            let path = inside.archive ?? "ARCHIVE"
            throw Refusal(
                .notFound, "no item of the archive matches",
                hint: "'kcbackup inspect \(shellWord(path))' lists what it holds")
        }
        throw Refusal(.refused, "what matches would stay behind in a restore, so nothing is shown")
    }

    private func search(_ store: any ReadableStore, _ filter: ItemFilter, in session: Session) throws -> ItemSearch {
        try ItemSearch(store, filter, reading: reveal ? .all : code ? .codes : .none, in: session)
    }

    private func show(_ search: ItemSearch, isEveryCollection: Bool, in session: Session) throws -> ExitStatus {
        try search.open()
        let status = session.tell(search.shortfall)
        if reveal || code, !style.json, !session.world.terminal.showsOutput, search.count > 0 {
            guard search.count == 1 else {
                throw UsageProblem.severalSecrets(search.count, ofEveryCollection: isEveryCollection)
            }
            let items = try search.items()
            // Another one may have been added in between.
            if items.count > 1 {
                throw UsageProblem.severalSecrets(items.count, ofEveryCollection: isEveryCollection)
            }
            try writeAlone(items, in: session)
            return status
        }
        let items = try search.items()
        let codes = code ? try ItemCodes(of: items, at: session.now) : nil
        if style.json {
            try printJSON(items, codes, in: session)
        } else {
            try printText(items, codes, in: session)
        }
        var broken = 0
        try items.forEach { _, number in if number == ListedSeal.broken.rawValue { broken += 1 } }
        return session.status(status, brokenSeals: broken)
    }

    /// Writes the secret or the code of an item, and nothing else.
    private func writeAlone(_ items: ListedItems, in session: Session) throws {
        if items.isEmpty { throw KeychainStoreError.itemNotFound }
        try items.forEachSecret { item, number, secret in
            if number == ListedSeal.broken.rawValue { throw KeychainStoreError.itemDamaged(item.uuid) }
            if code {
                guard case .code(let code) = try ItemCodes(of: items, at: session.now)[item] else { return }
                return try session.write(code.text)
            }
            if item.secretSize == nil { throw Refusal(.notFound, "the item has no secret") }
            try session.write(secret)
        }
    }

    // In bytes; large enough that the cost of writing is negligible.
    private static let pieceSize = 65_536

    private func printJSON(_ items: ListedItems, _ codes: ItemCodes?, in session: Session) throws {
        var line = SecretBytes(capacity: 4096)
        CanonicalJSON.literal("{\"items\":[", into: &line)
        var isFirst = true
        try items.forEachSecret { item, number, secret in
            if !isFirst { CanonicalJSON.literal(",", into: &line) }
            isFirst = false
            let isBroken = number == ListedSeal.broken.rawValue
            try JSONValue.item(item).adding([SealCheck.member(isBroken: isBroken)]).encode(into: &line)
            // Inserted before the closing brace of the object; the secret stays in wiped memory.
            if let shown = codes?[item] {
                line.removeLast(1)
                shown.append(to: &line)
                CanonicalJSON.literal("}", into: &line)
            }
            if reveal, !isBroken, item.secretSize != nil {
                line.removeLast(1)
                CanonicalJSON.literal(",\"secret\":", into: &line)
                appendSecretJSON(secret, to: &line)
                CanonicalJSON.literal("}", into: &line)
            }
            if line.count >= Self.pieceSize {
                try session.writeJSON(line, isLast: false)
                line.removeAll()
            }
        }
        CanonicalJSON.literal("]}", into: &line)
        try session.writeJSON(line)
    }

    /// Prints the items by their names or, if they are too many to hold, in archive order.
    private func printText(_ items: ListedItems, _ codes: ItemCodes?, in session: Session) throws {
        var held = SecretBytes(capacity: 4096)
        var places: [(order: ShownOrder, range: Range<Int>)] = []
        try items.forEachSecret { item, number, secret in
            let start = held.count
            append(item, isBroken: number == ListedSeal.broken.rawValue, secret, codes, session.calendar, to: &held)
            if items.isHeld { return places.append((ShownOrder(item), start..<held.count)) }
            held.append(UInt8(ascii: "\n"))
            try session.write(held)
            held.removeAll()
        }
        places.sort { $0.order.precedes($1.order) }
        for (index, place) in places.enumerated() {
            if index > 0 { try session.write([UInt8(ascii: "\n")].span) }
            try held.withBytes { try session.write($0.extracting(place.range)) }
        }
    }

    private func append(
        _ item: Item, isBroken: Bool, _ secret: borrowing Span<UInt8>, _ codes: ItemCodes?, _ calendar: LocalCalendar,
        to text: inout SecretBytes
    ) {
        for line in details(of: item, calendar) { text.append(line.utf8.span) }
        if isBroken {
            text.append(detail("seal", "broken").utf8.span)
            if reveal { text.append(detail("secret", "not shown: the seal is broken").utf8.span) }
            if code { text.append(detail("code", "not shown: the seal is broken").utf8.span) }
        } else if let shown = codes?[item] {
            text.append("code             ".utf8.span)
            shown.appendText(to: &text)
            text.append(UInt8(ascii: "\n"))
        } else if reveal, item.secretSize != nil {
            text.append("secret           ".utf8.span)
            appendShown(secret, to: &text)
            text.append(UInt8(ascii: "\n"))
        }
    }
}

/// Where an item comes among others: by its service or server and its account, those without both last.
private struct ShownOrder {
    private let names: [String]
    private let isNameless: Bool

    init(_ item: Item) {
        let named = item.shortened().attributes
        names = [named.shown(.svce) ?? named.shown(.srvr) ?? "", named.shown(.acct) ?? ""].map { $0.lowercased() }
        isNameless = names.allSatisfy(\.isEmpty)
    }

    func precedes(_ other: ShownOrder) -> Bool {
        if isNameless != other.isNameless { return other.isNameless }
        return names.lexicographicallyPrecedes(other.names)
    }
}

private func detail(_ title: String, _ value: String) -> String {
    title + String(repeating: " ", count: max(1, 17 - title.count)) + displayed(value) + "\n"
}

/// Returns all attributes of an item, one per line, without its secret.
private func details(of item: Item, _ calendar: LocalCalendar) -> [String] {
    var lines = [detail("item", item.itemClass.name), detail("uuid", item.uuid.description)]
    for entry in item.attributes.entries {
        let value = entry.code == .pdmn ? item.accessibility.name : characters(of: entry.code, in: item.attributes)
        lines.append(detail(entry.code.word, value ?? item.attributes.shown(entry.code, calendar) ?? ""))
    }
    for attribute in item.extra { lines.append(detail("extra", "\(attribute.name) = \(attribute.value)")) }
    lines.append(detail("secret size", item.secretSize.map { byteCount(UInt64($0)) } ?? "no secret"))
    return lines
}

/// The four characters of a number, as options take them, with the usual name of a protocol; nil if it has none.
private func characters(of code: AttributeCode, in attributes: Attributes) -> String? {
    guard let characters = attributes.fourCharacters(code) else { return nil }
    guard code == .ptcl, let number = attributes.number(code), let scheme = WebAddress.scheme(ofProtocolCode: number),
        !characters.exact.hasPrefix(scheme)
    else { return characters }
    return "\(characters) (\(scheme))"
}
