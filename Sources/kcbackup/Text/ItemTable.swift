internal import KeychainModel

/// The table of items that `item list` shows.
struct ItemTable {
    private var table: Table

    /// Starts without items.
    init() {
        table = Table(
            [
                Table.Column(title: "CLASS"), Table.Column(title: "SERVICE/SERVER", least: 10),
                Table.Column(title: "ACCOUNT", least: 8), Table.Column(title: "LABEL", least: 8),
                Table.Column(title: "GROUP", least: 8), Table.Column(title: "ACCESSIBLE", least: 12),
                Table.Column(title: "CREATED"), Table.Column(title: "MODIFIED"),
                Table.Column(title: "SECRET", alignment: .right),
            ])
    }

    /// Adds a row.
    mutating func append(_ item: Item) {
        let attributes = item.attributes
        let size = item.secretSize.map { byteCount(UInt64($0)) } ?? "none"
        table.append(
            [
                item.itemClass.rawValue, attributes.shown(.svce) ?? attributes.shown(.srvr) ?? "",
                attributes.shown(.acct) ?? "", attributes.shown(.labl) ?? "", item.accessGroup,
                item.accessibility.name + (item.isSynchronizable ? ", sync" : ""),
                item.created.day, item.modified.day, size,
            ])
    }

    /// The lines; none without items.
    func lines(width: Int?) -> [String] { table.isEmpty ? [] : table.lines(width: width) }
}

extension Attributes {
    /// A value in words: text as it is, bytes that are no text as their number.
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
