internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCConsole
internal import KCItemSources
internal import KCKeychainModel
internal import KCReportText

/// The table of `item list`: measured in a first pass, printed row by row in a second.
///
/// It can list a million items without holding them in memory.
final class ItemListing {
    /// The number of items printed.
    private(set) var count = 0

    private let session: Session
    private let table: StreamedTable
    private var output: ResultBuffer
    /// The items whose seals are broken.
    var broken: Set<ItemUUID> = []

    /// - Throws: `UsageProblem.malformed` for an unknown column.
    init(_ session: Session, _ options: TableOptions) throws(UsageProblem) {
        self.session = session
        output = ResultBuffer(session)
        table = try options.table(ItemColumns.all + [Self.seal], usualOrder: ItemColumns.usualOrder, in: session)
    }

    /// The column that marks items whose attributes are not proved; it is shown if there are any, and never left out.
    private static let seal = Table.Column(title: "SEAL")

    private func cells(_ item: Item) -> [String] {
        ItemColumns.cells(item, session.calendar) + [broken.contains(item.uuid) ? "broken" : ""]
    }

    /// Measures an item for the column widths.
    func measure(_ item: Item) {
        if !session.style.isJSON { table.measure(cells(item)) }
    }

    /// Prints an item that was measured.
    func writeRow(_ item: Item) throws {
        if session.style.isJSON {
            output.bytes.append(utf8: (count == 0 ? "{\"items\":[" : ","))
            JSONValue.item(item).adding([SealCheck.member(isBroken: broken.contains(item.uuid))])
                .encode(into: &output.bytes)
        } else {
            if count == 0 { output.bytes.append(utf8: table.header) }
            if table.isSorted {
                table.hold(cells(item))
            } else {
                output.bytes.append(utf8: table.row(cells(item)))
            }
        }
        count += 1
        try output.flushIfLarge()
    }

    /// The text below the list: the number of items, and the columns that were left out.
    var summary: String {
        let items = counted(count, "item")
        return items + (count == 0 || table.leftOut.isEmpty ? "" : "; \(ItemColumns.left(out: table))")
            + (table.isTooLongToSort ? "; \(ItemColumns.notSorted)" : "")
    }

    /// Prints the end of the list.
    func end() throws {
        for row in table.sortedRows() { output.bytes.append(utf8: row) }
        if session.style.isJSON { output.bytes.append(utf8: (count == 0 ? "{\"items\":[]}\n" : "]}\n")) }
        try output.flush()
    }
}

/// The columns of items in `item list` and `inspect`.
///
/// The column that tells where an item restores is never cut or left out; of the others, the names are left out last.
enum ItemColumns {
    static let all: [Table.Column] = [
        Table.Column(title: "CLASS", yields: 7), Table.Column(title: "SERVICE", least: 24, fewest: 8),
        Table.Column(title: "ACCOUNT", least: 18, fewest: 7),
        Table.Column(title: "LABEL", least: 18, fewest: 8, yields: 8, repeats: "SERVICE"),
        Table.Column(title: "COLLECTION", least: 10, yields: 7),
        Table.Column(title: "GROUP", least: 8, yields: 4), Table.Column(title: "TRAVELS"),
        Table.Column(title: "ACCESSIBLE", yields: 0), Table.Column(title: "SYNC", yields: 3),
        Table.Column(title: "CREATED", yields: 2), Table.Column(title: "MODIFIED", yields: 1),
        Table.Column(title: "SIZE", alignment: .right, yields: 5),
        // Apple's codes for the class and the accessibility.
        Table.Column(title: "CODE", isForWide: true), Table.Column(title: "PDMN", isForWide: true),
    ]

    /// The default order: by service or server, then by account.
    static let usualOrder = ["service", "account"]

    /// The note if there are too many rows to sort by default.
    static let notSorted = "in the order of archives: '\(OptionName.sort.spelling) service,account' sorts them"

    /// Names the columns that a table has left out.
    static func left(out table: StreamedTable) -> String {
        "'\(OptionName.wide.spelling)' shows \(table.leftOut.joined(separator: ", ")) too"
    }

    /// - Parameter mode: the mode of the archive that contains the item; nil for an item in a keychain.
    static func cells(_ item: Item, _ calendar: LocalCalendar, in mode: ArchiveMode? = nil) -> [String] {
        let attributes = item.attributes
        return [
            item.itemClass.word, attributes.shown(.svce) ?? attributes.shown(.srvr) ?? "",
            attributes.shown(.acct) ?? "", attributes.shown(.labl) ?? "",
            item.collection ?? "", item.accessGroup,
            travels(item.accessibility, in: mode ?? .encrypted), item.accessibility.name,
            item.isSynchronizable ? "yes" : "", calendar.day(item.created), calendar.day(item.modified),
            item.secretSize.map { byteCount(UInt64($0)) } ?? "none", item.itemClass.rawValue,
            item.accessibility.rawValue,
        ]
    }

    /// Returns where an item restores, from the verdicts for the device that made the archive and for another device.
    private static func travels(_ accessibility: Accessibility, in mode: ArchiveMode) -> String {
        if Verdict.decide(accessibility, in: mode, onSameDevice: false) == .restores { return "anywhere" }
        return Verdict.decide(accessibility, in: mode, onSameDevice: true) == .restores ? "this device" : "nowhere"
    }
}
