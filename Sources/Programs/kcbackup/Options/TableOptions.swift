internal import ArgumentParser

/// How a table of items is shown.
struct TableOptions: ParsableArguments {
    @Flag(name: OptionName.wide.name, help: "Cut nothing and leave no column out, however wide the rows are.")
    var wide = false

    @Option(
        name: OptionName.columns.name,
        help: ArgumentHelp("Show these columns, in this order, as in 'service,account,travels'.", valueName: "names"))
    var columns: String?

    /// A table of `all`, or of the columns that were asked for.
    ///
    /// - Throws: `UsageProblem.malformed` for an unknown column, or one that is named twice.
    func table(_ all: [Table.Column], in session: Session) throws(UsageProblem) -> StreamedTable {
        var chosen: [String]?
        if let columns {
            let names = columns.split(separator: ",", omittingEmptySubsequences: false).map { $0.lowercased() }
            let known = all.map(\.name)
            guard names.allSatisfy(known.contains), Set(names).count == names.count else {
                throw .malformed(.columns, form: "a list of names out of \(known.joined(separator: ","))")
            }
            chosen = names
        }
        return StreamedTable(all, width: wide ? nil : session.tableWidth, chosen: chosen)
    }
}
