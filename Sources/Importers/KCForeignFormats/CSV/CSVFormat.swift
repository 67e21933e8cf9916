internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// Tables of passwords, one record per row, as exported by browsers and password managers.
///
/// Source: RFC 4180; the exports of the products. Columns are found by name, never by position.
package struct CSVFormat: ForeignFormat {
    package let kind = ForeignKind.csv
    /// The column names for each role, if the user chose them.
    private let chosen: [CSVRole: String]?

    /// Reads tables of known programs.
    package init() {
        chosen = nil
    }

    /// Reads a table with columns named by the user, ignoring the case of ASCII letters; other columns become fields.
    package init(columns: [ChosenColumn: String]) {
        chosen = Dictionary(uniqueKeysWithValues: columns.map { column, name in (CSVRole(column), name) })
    }

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        return finding(in: file).problem == nil
    }

    package func problem(with input: ForeignInput) throws -> ForeignFailure? {
        input.file.flatMap { finding(in: $0).problem }
    }

    /// True if the input is a table with a column for passwords.
    static func isTable(_ input: ForeignInput) -> Bool {
        input.file.map { CSVFormat().finding(in: $0).hasPasswords } ?? false
    }

    /// True if the name of a file says that it is a table.
    static func isNamedTable(_ file: ForeignFile) -> Bool {
        let name = file.name.lowercased()
        return [".csv", ".tsv"].contains { name.exact.hasSuffix($0) }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let collector = RecordCollector(format: name, date: file.modified)
        let product = try Self.withText(of: file) { bytes throws(ForeignFailure) in try read(bytes, into: collector) }
        return try collector.finish(details: product.map { "of \($0)" } ?? "", isPlaintext: true)
    }

    /// Reads the rows of a table; returns the name of the program that wrote it, if known.
    ///
    /// - Parameter table: the name of the table, if it is one of several.
    func read(
        _ bytes: borrowing Span<UInt8>, of table: String? = nil, into collector: RecordCollector
    ) throws(ForeignFailure) -> String? {
        let place = table.map { "\($0), line" } ?? "line"
        let table: CSVTable
        switch find(in: bytes) {
        case .success(.table(let found)): table = found
        case .success(.ragged(let found)): return try read(bytes, as: found, place, into: collector)
        case .failure(let misfit): throw failure(misfit, bytes)
        }
        let product = chosen == nil ? CSVProduct.of(table.columns.map(\.name)) : nil
        let named = roles(of: table, product)
        try requireOnce(named, table, bytes)
        let roles = named + (product?.unnamed ?? [])
        let names = table.texts(in: bytes) + (product?.unnamed.map(\.rawValue) ?? [])
        var reader = table.reader
        reader.hasEscapes = product?.hasEscapes == true
        let counts = Self.cellCounts(roles, product)
        let ids = CSVIdentities()
        while let reading = try reader.nextOrDamaged(in: bytes) {
            try collector.record("\(place) \(reading.line)") { () throws(ForeignFailure) in
                let row = try reading.row()
                let isLonger =
                    product?.mayEndEmpty == true && row.cells.count == roles.count + 1
                    && row.cells.last?.isEmpty == true
                guard isLonger || counts.contains(row.cells.count) else {
                    throw .damagedLine(
                        row.line, "it has \(row.countInWords), where the first line has \(named.count)")
                }
                let record = CSVRecord(
                    row: row.filled(to: roles.count), roles: roles, names: names, product: product, collector: collector
                )
                guard ids.accepts(record, bytes) else { throw .damaged("another record has the same ID") }
                try record.add(bytes)
            }
        }
        return product?.name
    }

    /// Reads the rows of a table that name their own fields.
    private func read(
        _ bytes: borrowing Span<UInt8>, as table: RaggedTable, _ place: String, into collector: RecordCollector
    ) throws(ForeignFailure) -> String {
        var reader = CSVReader(bytes)
        if table.hasHeader { _ = try reader.next(in: bytes) }
        while let reading = try reader.nextOrDamaged(in: bytes) {
            try collector.record("\(place) \(reading.line)") { () throws(ForeignFailure) in
                let record = try table.record(reading.row(), in: bytes)
                try CSVRecord(
                    row: record.row, roles: record.roles, names: record.names, product: nil, collector: collector
                )
                .add(bytes)
            }
        }
        return table.product.rawValue
    }

    /// The numbers of cells that a row may have.
    ///
    /// Some programs (Keeper, RoboForm) write the names and values of a record's own fields into as many cells as it
    /// takes, behind the others. In a table whose columns the user named, the columns behind the last one with a role
    /// are such fields.
    private static func cellCounts(_ roles: [CSVRole?], _ product: CSVProduct?) -> ClosedRange<Int> {
        let count = roles.count
        if let product { return product.repeatsLast ? count - 1...Int.max : count - product.unnamed.count...count }
        guard let last = roles.lastIndex(where: { $0 != nil }), last < count - 1 else { return count...count }
        return last + 1...Int.max
    }

    // MARK: Columns

    /// How the rows of a table are read.
    private enum Shape {
        case table(CSVTable)
        case ragged(RaggedTable)
    }

    private func find(in bytes: borrowing Span<UInt8>) -> Result<Shape, CSVTable.Misfit> {
        guard let chosen else {
            // In a table without column names, the first row may have the names of fields.
            if let ragged = RaggedTable(bytes) { return .success(.ragged(ragged)) }
            return CSVTable.find(CSVProduct.names, in: bytes) { CSVProduct.of($0) != nil }.map { .table($0) }
        }
        let names = chosen.values.sorted()
        return CSVTable.find(names, in: bytes) { Set(names).isSubset(of: $0.compactMap { $0 }) }.map { .table($0) }
    }

    /// Whether a file is a table that can be read.
    private struct Finding {
        /// Why the file cannot be read as a table; nil if it can.
        let problem: ForeignFailure?
        /// True if the table has a column for passwords.
        let hasPasswords: Bool
    }

    private func finding(in file: ForeignFile) -> Finding {
        do throws(ForeignFailure) {
            return try Self.withText(of: file) { bytes in
                switch find(in: bytes) {
                case .success: return Finding(problem: nil, hasPasswords: true)
                case .failure(let misfit):
                    let columns = misfit.nearest?.columns ?? []
                    return Finding(
                        problem: failure(misfit, bytes),
                        hasPasswords: columns.contains { $0.cell.contains("pass", in: bytes) })
                }
            }
        } catch {
            return Finding(problem: error, hasPasswords: false)
        }
    }

    private func failure(_ misfit: CSVTable.Misfit, _ bytes: borrowing Span<UInt8>) -> ForeignFailure {
        guard let nearest = misfit.nearest else { return misfit.failure ?? missing(in: nil, bytes) }
        return missing(in: nearest, bytes)
    }

    private func missing(in table: CSVTable?, _ bytes: borrowing Span<UInt8>) -> ForeignFailure {
        guard let chosen else { return .unknownColumns }
        let there = Set(table?.columns.compactMap(\.name) ?? [])
        let missing = CSVRole.allCases.lazy.compactMap { chosen[$0] }.first { !there.contains($0) }
        let names = table.map { $0.hasNames(in: bytes) ? $0.texts(in: bytes) : [] } ?? []
        return missing.map { .noSuchColumn($0, columns: names) } ?? .unknownColumns
    }

    private func roles(of table: CSVTable, _ product: CSVProduct?) -> [CSVRole?] {
        table.columns.map { column in
            guard let name = column.name else { return nil }
            guard let chosen else { return product?.roles[name] }
            return chosen.first { $0.value == name }?.key
        }
    }

    /// Refuses a table in which two columns with a role have the same name; other columns may share names.
    private func requireOnce(
        _ roles: [CSVRole?], _ table: CSVTable, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) {
        var names: Set<ExactText> = []
        for (role, column) in zip(roles, table.columns) where role != nil {
            guard let name = column.name, names.insert(name.exact).inserted else {
                throw .columnTwice(column.cell.text(in: bytes))
            }
        }
    }

    /// Calls `body` with the text of a file as UTF-8.
    private static func withText<Result>(
        of file: ForeignFile, _ body: (borrowing Span<UInt8>) throws(ForeignFailure) -> Result
    ) throws(ForeignFailure) -> Result {
        let converted = try file.bytes.withBytes { bytes throws(ForeignFailure) in try CSVText.utf8(bytes) }
        switch consume converted {
        case .some(let text): return try text.withBytes(body)
        case .none: return try file.bytes.withBytes(body)
        }
    }
}
