internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCConsole
internal import KCItemSources
package import KCKeychainModel
package import KCReportText

/// The table of `item list`: measured in a first pass, and printed row by row in a second if there are too many to hold.
///
/// A million items can be listed without holding them in memory.
package final class ItemListing {
    /// The number of items printed.
    package private(set) var count = 0

    private let session: Session
    private let table: StreamedTable
    private var output: ResultBuffer
    private var row = TableRow()
    private var held = HeldJSON()
    private var measured = 0
    /// The items whose seals are broken.
    package private(set) var broken: Set<ItemUUID> = []

    /// - Throws: `UsageProblem.malformed` for an unknown column.
    package init(_ session: Session, _ options: TableOptions) throws(UsageProblem) {
        self.session = session
        output = ResultBuffer(session)
        table = try options.table(ItemColumns.all + [Self.seal], usualOrder: ItemColumns.usualOrder, in: session)
    }

    /// The column that marks items whose attributes are not proved; it is shown if there are any, and never left out.
    private static let seal = Table.Column(title: "SEAL")

    /// Measures an item for the column widths, and notes whether its seal is broken.
    package func measure(_ item: Item, isBroken: Bool) throws {
        if isBroken { broken.insert(item.uuid) }
        measured += 1
        if session.style.isJSON {
            try held.append(json(item))
        } else {
            write(item)
            table.survey(row)
        }
    }

    /// True if all items that were measured are held, and `writeRow` is not needed; valid after the last one.
    package var isComplete: Bool { session.style.isJSON ? held.isWhole : table.isSorted }

    /// Prints an item that was measured.
    package func writeRow(_ item: Item) throws {
        if count == 0 { begin() }
        if session.style.isJSON {
            if count > 0 { output.bytes.append(UInt8(ascii: ",")) }
            try json(item).encode(into: &output.bytes)
        } else {
            write(item)
            table.append(row, to: &output.bytes)
        }
        count += 1
        try output.flushIfLarge()
    }

    /// The text below the list: the number of items, and the columns that were left out.
    package var summary: String {
        let items = counted(count, "item")
        return items + (count == 0 || table.leftOut.isEmpty ? "" : "; \(ItemColumns.left(out: table))")
            + (table.isTooLongToSort ? "; \(ItemColumns.notSorted)" : "")
    }

    /// Prints the items that are held, and the end of the list.
    package func end() throws {
        if isComplete {
            count = measured
            if count > 0 { begin() }
            output.bytes.append(held.bytes.span)
            try output.append(sortedRowsOf: table)
        }
        if session.style.isJSON { output.bytes.append(utf8: (count == 0 ? "{\"items\":[]}\n" : "]}\n")) }
        try output.flush()
    }

    private func begin() {
        output.bytes.append(utf8: session.style.isJSON ? "{\"items\":[" : table.header)
    }

    private func json(_ item: Item) -> JSONValue {
        .item(item).adding([SealCheck.member(isBroken: broken.contains(item.uuid))])
    }

    /// Replaces `row` with the cells of an item.
    private func write(_ item: Item) {
        ItemColumns.write(item, session.calendar, to: &row)
        row.append(broken.contains(item.uuid) ? "broken" : "")
    }
}

extension Session {
    /// The line below a table that names the columns which it has left out; none if there are none.
    package func left(outOf table: StreamedTable) -> [String] {
        table.leftOut.isEmpty ? [] : prose([ItemColumns.left(out: table) + "\n"])
    }
}

extension ItemColumns {
    /// The note if there are too many rows to sort by default.
    package static let notSorted = "in the order of archives: '\(OptionName.sort.spelling) service,account' sorts them"

    /// Names the columns that a table has left out.
    package static func left(out table: StreamedTable) -> String {
        "'\(OptionName.wide.spelling)' shows \(table.leftOut.joined(separator: ", ")) too"
    }
}
