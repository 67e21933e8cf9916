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

extension ItemColumns {
    /// The note if there are too many rows to sort by default.
    static let notSorted = "in the order of archives: '\(OptionName.sort.spelling) service,account' sorts them"

    /// Names the columns that a table has left out.
    static func left(out table: StreamedTable) -> String {
        "'\(OptionName.wide.spelling)' shows \(table.leftOut.joined(separator: ", ")) too"
    }
}
