internal import ArgumentParser
internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCConsole
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCReportText

/// `kcbackup item find`.
struct ItemFindCommand: Verb {
    static let mainOptions: [OptionName] = [.reveal, .code, .service]

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
        if inside.archive != nil, fileKey.keyFile != nil { throw UsageProblem.together(.in, .keyFile) }
        if let archive = try inside.open(in: session) { return try look(into: archive, filter, in: session) }
        let open = try location.open(fileKey, in: session)
        return try show(open.items, open.items.find(filter), isEveryCollection: open.isEveryCollection, in: session)
    }

    private func look(into archive: ArchiveStore, _ filter: ItemFilter, in session: Session) throws -> ExitStatus {
        let found = try archive.find(filter)
        archive.tellMissing(session)
        guard found.isEmpty else { return try show(archive, found, isEveryCollection: false, in: session) }
        if archive.stayingBehind.isEmpty {
            let path = inside.archive ?? "ARCHIVE"
            throw Refusal(
                .notFound, "no item of the archive matches",
                hint: "'kcbackup inspect \(shellWord(path))' lists what it holds")
        }
        throw Refusal(.refused, "what matches would stay behind in a restore, so nothing is shown")
    }

    private func show(
        _ store: any ReadableStore, _ found: FoundItems, isEveryCollection: Bool, in session: Session
    ) throws -> ExitStatus {
        if found.isEmpty { throw KeychainStoreError.itemNotFound }
        let items = code ? ItemCodes.candidates(among: found.items) : found.items
        try store.open(reveal || code ? .of(Set(items.map(\.protection))) : .withoutQuestion)
        let broken = try store.brokenSeals(among: items)
        let status = session.tell(found.shortfall)
        try tell(items, isEveryCollection, broken, in: session) { try store.secret(of: $0) }
        return session.status(status, brokenSeals: broken.count)
    }

    /// - Parameter broken: the items whose seals are broken; their secrets are not shown.
    private func tell(
        _ items: [Item], _ isEveryCollection: Bool, _ broken: Set<ItemUUID>, in session: Session,
        _ secret: (Item) throws -> SecretBytes?
    ) throws {
        if reveal || code, !style.json, !session.world.terminal.showsOutput, !items.isEmpty {
            guard items.count == 1, let item = items.first else {
                throw UsageProblem.severalSecrets(items.count, ofEveryCollection: isEveryCollection)
            }
            return try writeAlone(item, secret, in: session)
        }
        let codes =
            code
            ? try ItemCodes(of: items.filter { !broken.contains($0.uuid) }, at: session.now, secret) : nil
        if style.json {
            try printJSON(items, broken, codes, secret, in: session)
        } else {
            try printText(items.sorted { $0.isShown(before: $1) }, broken, codes, secret, in: session)
        }
    }

    /// Writes the secret or the code of an item, and nothing else.
    private func writeAlone(
        _ item: Item, _ secretOf: (Item) throws -> SecretBytes?, in session: Session
    ) throws {
        if code {
            guard case .code(let code) = try ItemCodes(of: [item], at: session.now, secretOf)[item] else { return }
            try session.write(code.text)
        } else {
            guard let secret = try secretOf(item) else { throw Refusal(.notFound, "the item has no secret") }
            try session.write(secret)
        }
    }

    private func printJSON(
        _ items: [Item], _ broken: Set<ItemUUID>, _ codes: ItemCodes?, _ secretOf: (Item) throws -> SecretBytes?,
        in session: Session
    ) throws {
        var line = SecretBytes(capacity: 4096)
        CanonicalJSON.literal("{\"items\":[", into: &line)
        for (index, item) in items.enumerated() {
            if index > 0 { CanonicalJSON.literal(",", into: &line) }
            let isBroken = broken.contains(item.uuid)
            JSONValue.item(item).adding([SealCheck.member(isBroken: isBroken)]).encode(into: &line)
            // Inserted before the closing brace of the object; the secret stays in wiped memory.
            if let shown = codes?[item] {
                line.removeLast(1)
                shown.append(to: &line)
                CanonicalJSON.literal("}", into: &line)
            }
            guard reveal, !isBroken, let secret = try secretOf(item) else { continue }
            line.removeLast(1)
            CanonicalJSON.literal(",\"secret\":", into: &line)
            secret.withBytes { appendSecretJSON($0, to: &line) }
            CanonicalJSON.literal("}", into: &line)
        }
        CanonicalJSON.literal("]}", into: &line)
        try session.writeJSON(line)
    }

    private func printText(
        _ items: [Item], _ broken: Set<ItemUUID>, _ codes: ItemCodes?, _ secretOf: (Item) throws -> SecretBytes?,
        in session: Session
    ) throws {
        for (index, item) in items.enumerated() {
            var text = SecretBytes(capacity: 4096)
            if index > 0 { text.append(UInt8(ascii: "\n")) }
            for line in details(of: item, session.calendar) { text.append(line.utf8.span) }
            if broken.contains(item.uuid) {
                text.append(detail("seal", "broken").utf8.span)
                if reveal { text.append(detail("secret", "not shown: the seal is broken").utf8.span) }
                if code { text.append(detail("code", "not shown: the seal is broken").utf8.span) }
            } else if let shown = codes?[item] {
                text.append("code             ".utf8.span)
                shown.appendText(to: &text)
                text.append(UInt8(ascii: "\n"))
            } else if reveal, let secret = try secretOf(item) {
                text.append("secret           ".utf8.span)
                secret.withBytes { appendShown($0, to: &text) }
                text.append(UInt8(ascii: "\n"))
            }
            try session.write(text)
        }
    }
}

extension Item {
    /// True if this item comes before `other` in a table.
    fileprivate func isShown(before other: Item) -> Bool {
        let (left, right) = (place, other.place)
        if left.isNameless != right.isNameless { return right.isNameless }
        return left.names.lexicographicallyPrecedes(right.names)
    }

    private var place: (names: [String], isNameless: Bool) {
        let service = attributes.shown(.svce) ?? attributes.shown(.srvr) ?? ""
        let names = [service, attributes.shown(.acct) ?? ""].map { $0.lowercased() }
        return (names, names.allSatisfy(\.isEmpty))
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
