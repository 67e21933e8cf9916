package import ArgumentParser
internal import KCByteStreams
package import KCReportText

/// The options for displaying a table: of items, archives or keys, so that an example of columns would fit one alone.
package struct TableOptions: ParsableArguments {
    @Flag(name: OptionName.wide.name, help: "Print all columns in full, however wide the rows are.")
    package var wide = false

    @Option(
        name: OptionName.columns.name,
        help: ArgumentHelp("Show these columns, in this order, with commas.", valueName: "names"))
    package var columns: String?

    @Option(
        name: OptionName.sort.name,
        help: ArgumentHelp("Sort by these columns, with commas.", valueName: "names"))
    package var sort: String?

    package init() {}

    /// Returns a table with `all` columns, or with those that were requested.
    ///
    /// - Parameter usualOrder: the columns to sort by if no order was requested; see `StreamedTable`.
    /// - Throws: `UsageProblem.malformed` for a column that is unknown or named twice.
    package func table(
        _ all: [Table.Column], usualOrder: [String] = [], in session: Session
    ) throws(UsageProblem) -> StreamedTable {
        if sort != nil, session.style.isJSON { throw .together(.sort, .json) }
        return StreamedTable(
            all, width: wide ? nil : session.tableWidth, isWide: wide,
            chosen: try Self.names(columns, .columns, among: all),
            order: try Self.names(sort, .sort, among: all) ?? [], usualOrder: usualOrder)
    }

    private static func names(
        _ text: String?, _ option: OptionName, among all: [Table.Column]
    ) throws(UsageProblem) -> [String]? {
        guard let text else { return nil }
        let names = text.exact.split(separator: ",", omittingEmptySubsequences: false).map { $0.lowercased() }
        let known = all.map(\.name)
        guard names.allSatisfy(known.contains), Set(names).count == names.count else {
            throw .malformed(option, form: "a list of names out of \(known.joined(separator: ","))")
        }
        return names
    }
}
