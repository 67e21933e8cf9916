internal import ByteStreams
internal import Console
internal import KeychainModel

/// The table of `item list`: measured in a first pass, printed row by row in a second.
///
/// A million items are listed without holding them in memory.
final class ItemListing {
    /// The number of items printed.
    private(set) var count = 0

    private let session: Session
    private let table: StreamedTable
    private var output: ResultBuffer

    init(_ session: Session) {
        self.session = session
        output = ResultBuffer(session)
        table = StreamedTable(
            [
                Table.Column(title: "CLASS"), Table.Column(title: "SERVICE/SERVER", least: 10),
                Table.Column(title: "ACCOUNT", least: 8), Table.Column(title: "LABEL", least: 8, yields: 5),
                Table.Column(title: "GROUP", least: 8, yields: 3),
                Table.Column(title: "ACCESSIBLE", least: 12, yields: 4),
                Table.Column(title: "CREATED", yields: 2), Table.Column(title: "MODIFIED", yields: 1),
                Table.Column(title: "SECRET", alignment: .right, yields: 6),
            ], width: session.tableWidth)
    }

    /// Measures an item for the column widths.
    func measure(_ item: Item) {
        if !session.style.isJSON { table.measure(Self.cells(item)) }
    }

    /// Shows an item that was measured.
    func writeRow(_ item: Item) throws {
        if session.style.isJSON {
            output.bytes.append(utf8: (count == 0 ? "{\"items\":[" : ","))
            JSONValue.item(item).encode(into: &output.bytes)
        } else {
            if count == 0 { output.bytes.append(utf8: table.header) }
            output.bytes.append(utf8: table.row(Self.cells(item)))
        }
        count += 1
        try output.flushIfLarge()
    }

    /// What is said below the list: the number of items, and the columns that are not shown.
    var summary: String {
        let items = counted(count, "item")
        let missing = count == 0 ? [] : table.leftOut
        return missing.isEmpty ? items : "\(items); the terminal has no room for \(missing.joined(separator: ", "))"
    }

    /// Prints the end of the list.
    func end() throws {
        if session.style.isJSON { output.bytes.append(utf8: (count == 0 ? "{\"items\":[]}\n" : "]}\n")) }
        try output.flush()
    }

    private static func cells(_ item: Item) -> [String] {
        let attributes = item.attributes
        return [
            item.itemClass.rawValue, attributes.shown(.svce) ?? attributes.shown(.srvr) ?? "",
            attributes.shown(.acct) ?? "", attributes.shown(.labl) ?? "", item.accessGroup,
            item.accessibility.name + (item.isSynchronizable ? ", sync" : ""),
            item.created.day, item.modified.day, item.secretSize.map { byteCount(UInt64($0)) } ?? "none",
        ]
    }
}

extension Attributes {
    /// A value as text; bytes that are not text by their number.
    func shown(_ code: AttributeCode) -> String? {
        guard let value = self[code] else { return nil }
        return switch value {
        case .text(let text): text
        case .data(let bytes): text(code) ?? "(\(byteCount(UInt64(bytes.count))))"
        case .number(let number): String(number)
        case .date(let date): date.moment
        }
    }
}
