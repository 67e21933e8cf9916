internal import KeychainModel

/// The table of items that `item list` and `inspect` show.
struct ItemTable {
    private var table: Table
    private let hasVerdicts: Bool

    /// Starts without items.
    init(verdicts: Bool = false) {
        hasVerdicts = verdicts
        table = Table(
            [
                Table.Column(title: "CLASS"), Table.Column(title: "SERVICE/SERVER", least: 10),
                Table.Column(title: "ACCOUNT", least: 8), Table.Column(title: "LABEL", least: 8),
                Table.Column(title: "GROUP", least: 8), Table.Column(title: "ACCESSIBLE", least: 12),
                Table.Column(title: "CREATED"), Table.Column(title: "MODIFIED"),
                Table.Column(title: "SECRET", alignment: .right),
            ] + (verdicts ? [Table.Column(title: "VERDICT", least: 10)] : []))
    }

    /// Adds a row; the verdict is there exactly when the table has verdicts.
    mutating func append(_ item: Item, verdict: String? = nil) {
        let attributes = item.attributes
        let size = item.secretSize.map { byteCount(UInt64($0)) } ?? "none"
        table.append(
            [
                item.itemClass.rawValue, attributes.shown(.svce) ?? attributes.shown(.srvr) ?? "",
                attributes.shown(.acct) ?? "", attributes.shown(.labl) ?? "", item.accessGroup,
                item.accessibility.name + (item.isSynchronizable ? ", sync" : ""),
                item.created.day, item.modified.day, size,
            ] + (hasVerdicts ? [verdict ?? ""] : []))
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
