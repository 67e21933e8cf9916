internal import ArgumentParser

/// How a table of items is shown.
struct TableOptions: ParsableArguments {
    @Flag(name: OptionName.wide.name, help: "Print all columns in full, however wide the rows are.")
    var wide = false

    @Option(
        name: OptionName.columns.name,
        help: ArgumentHelp("Show these columns, in this order, as in 'service,account,travels'.", valueName: "names"))
    var columns: String?

    @Option(
        name: OptionName.sort.name,
        help: ArgumentHelp(
            "Sort by these columns, as in 'label,modified'.", valueName: "names"))
    var sort: String?

    /// A table of `all`, or of the columns that were asked for.
    ///
    /// - Parameter usualOrder: the columns to sort by where nothing was asked for; see `StreamedTable`.
    /// - Throws: `UsageProblem.malformed` for an unknown column, or one that is named twice.
    func table(
        _ all: [Table.Column], usualOrder: [String] = [], in session: Session
    ) throws(UsageProblem) -> StreamedTable {
        if sort != nil, session.style.isJSON { throw .together(.sort, .json) }
        return StreamedTable(
            all, width: wide ? nil : session.tableWidth, chosen: try Self.names(columns, .columns, among: all),
            order: try Self.names(sort, .sort, among: all) ?? [], usualOrder: usualOrder)
    }

    private static func names(
        _ text: String?, _ option: OptionName, among all: [Table.Column]
    ) throws(UsageProblem) -> [String]? {
        guard let text else { return nil }
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.lowercased() }
        let known = all.map(\.name)
        guard names.allSatisfy(known.contains), Set(names).count == names.count else {
            throw .malformed(option, form: "a list of names out of \(known.joined(separator: ","))")
        }
        return names
    }
}
