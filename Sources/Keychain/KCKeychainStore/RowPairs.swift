/// The rows of one class in two states of a keychain side by side, each with the one of the same number.
struct RowPairs {
    enum Pair {
        /// The row has the same contents in both.
        case same
        case changed
        /// The row is in the present state only.
        case added
        /// The row is in the earlier state only.
        case gone
    }

    let row: ItemRow
    /// The present state, at the row of the pair that was returned last.
    let now: SQLStatement
    /// The earlier state.
    let before: SQLStatement
    private var orders = (now: RowOrder(), before: RowOrder())
    private var has = (now: true, before: true)
    /// The rows of the last pair.
    private var uses = (now: true, before: true)

    /// - Parameter selection: selects rows with all columns, in the order of their numbers.
    init(
        _ row: ItemRow, _ selection: String, now: Database, before: Database
    ) throws(KeychainStoreError) {
        self.row = row
        self.now = try SQLStatement(selection, on: now)
        self.before = try SQLStatement(selection, on: before)
    }

    /// Moves to the next pair; nil at the end.
    ///
    /// - Throws: `damaged` if a row comes twice, or an error of SQLite.
    mutating func next() throws(KeychainStoreError) -> Pair? {
        // A statement that is over would begin again.
        if uses.now, has.now { has.now = try Self.step(now, row, &orders.now) }
        if uses.before, has.before { has.before = try Self.step(before, row, &orders.before) }
        guard has.now || has.before else { return nil }
        uses.now = has.now && (!has.before || row.number(now) <= row.number(before))
        uses.before = has.before && (!has.now || row.number(before) <= row.number(now))
        if uses.now, uses.before { return row.isEqual(now, before) ? .same : .changed }
        return uses.now ? .added : .gone
    }

    private static func step(
        _ rows: SQLStatement, _ row: ItemRow, _ order: inout RowOrder
    ) throws(KeychainStoreError) -> Bool {
        guard try rows.step() else { return false }
        try order.pass(row, rows, by: .insertion)
        return true
    }
}
