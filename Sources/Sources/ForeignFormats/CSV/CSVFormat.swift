internal import ByteStreams
package import ItemSources
internal import KeychainModel

/// Tables of passwords, a record a row, as browsers and password managers export them.
///
/// Source: RFC 4180; the products' own exports. Columns go by their names, never by their places.
package struct CSVFormat: ForeignFormat {
    package let name = "csv"
    package let title = "CSV file"
    /// The names of columns, in lower case, where the user says what they mean.
    private let chosen: [CSVRole: String]?

    /// Reads tables of programs that are known.
    package init() {
        chosen = nil
    }

    /// Reads a table whose columns the user names; those that are not named become fields.
    package init(columns: [CSVRole: String]) {
        chosen = columns.mapValues { $0.lowercased() }
    }

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        return file.bytes.withBytes { bytes in Self.header(bytes).flatMap(CSVProduct.of) != nil }
    }

    /// True for a table with a column of passwords, whatever it is called.
    static func isTable(_ input: ForeignInput) -> Bool {
        guard let file = input.file else { return false }
        return file.bytes.withBytes { bytes in
            guard let names = header(bytes), names.count > 1 else { return false }
            return names.contains { $0.contains("pass") }
        }
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        var collector = RecordCollector(format: name, date: file.modified)
        let product = try file.bytes.withBytes { bytes throws(ForeignFailure) in
            try read(bytes, into: &collector)
        }
        return try collector.finish(details: product.map { "of \($0)" } ?? "", isPlaintext: true)
    }

    /// Reads the rows of a table; returns what program it is of.
    func read(
        _ bytes: borrowing Span<UInt8>, into collector: inout RecordCollector
    ) throws(ForeignFailure) -> String? {
        var reader = CSVReader(bytes)
        guard let header = try reader.next(in: bytes) else { throw .unknownColumns }
        let names = header.cells.map { $0.text(in: bytes).lowercased() }
        guard Set(names).count == names.count else { throw .damagedLine(header.line, "two columns have one name") }
        let (roles, product) = try roles(of: names)
        var ordinals: [[String]: Int] = [:]
        while let row = try reader.next(in: bytes) {
            guard row.cells.count == names.count else {
                collector.refuse(
                    "line \(row.line)", .damaged("it has \(row.cells.count) cells, and the first line \(names.count)"))
                continue
            }
            var record = CSVRecord(row: row, roles: roles, names: header.cells, product: product)
            try record.add(to: &collector, bytes, format: name, &ordinals)
        }
        return product?.name
    }

    private func roles(of names: [String]) throws(ForeignFailure) -> ([CSVRole?], CSVProduct?) {
        guard let chosen else {
            guard let product = CSVProduct.of(names) else { throw .unknownColumns }
            return (names.map { product.roles[$0] }, product)
        }
        guard Set(chosen.values).isSubset(of: names) else { throw .unknownColumns }
        return (names.map { name in chosen.first { $0.value == name }?.key }, nil)
    }

    /// The names of the columns in lower case; nil for what is no table.
    private static func header(_ bytes: borrowing Span<UInt8>) -> [String]? {
        var reader = CSVReader(bytes)
        // Whether it can be read shows when it is read.
        guard let row = try? reader.next(in: bytes) else { return nil }
        return row.cells.map { $0.text(in: bytes).lowercased() }
    }
}
