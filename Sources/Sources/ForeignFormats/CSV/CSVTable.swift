internal import ByteStreams
internal import ItemSources

/// A table whose columns are known: what stands between its cells, its first row, and the rows below.
struct CSVTable {
    /// A column by what its first cell says.
    struct Column {
        let cell: CSVReader.Cell
        /// Its name in lower case, if it is one that is looked for.
        ///
        /// Others are not read before the row is known to be one of names: in a table without names it holds secrets.
        let name: String?
    }

    let columns: [Column]
    /// The line of the first row, from 1.
    let line: Int
    /// Reads the rows below.
    var reader: CSVReader

    /// What programs write between cells; spreadsheets write a semicolon where a comma stands in numbers.
    private static let separators = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]

    /// Finds out what separates the cells.
    ///
    /// - Parameters:
    ///   - names: the names of columns to look for, in lower case.
    ///   - fits: true for the names of a table that is wanted.
    /// - Returns: the table; or why it is none, and the table that is the nearest to one.
    static func find(
        _ names: [String], in bytes: borrowing Span<UInt8>, fits: ([String?]) -> Bool
    ) -> Result<CSVTable, Misfit> {
        var (nearest, failure): (CSVTable?, ForeignFailure?)
        let stated = CSVReader.statedSeparator(bytes)
        for separator in stated.map({ [$0] }) ?? separators {
            do throws(ForeignFailure) {
                guard let table = try CSVTable(names, separator, bytes) else { continue }
                if fits(table.columns.map(\.name)) { return .success(table) }
                if table.columns.count > 1, table.nearness > nearest?.nearness ?? (-1, 0) { nearest = table }
            } catch {
                failure = failure ?? error
            }
        }
        return .failure(Misfit(nearest: nearest, failure: failure))
    }

    /// Why bytes are no table that is wanted.
    struct Misfit: Error {
        /// A table of other columns.
        let nearest: CSVTable?
        /// What is wrong where they are no table at all, taken for one with commas.
        let failure: ForeignFailure?
    }

    private var nearness: (Int, Int) { (columns.count { $0.name != nil }, columns.count) }

    /// - Returns: nil for bytes without a row.
    private init?(_ names: [String], _ separator: UInt8, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        var reader = CSVReader(bytes, separator: separator)
        guard let row = try reader.next(in: bytes) else { return nil }
        var columns: [Column] = []
        for cell in row.cells {
            columns.append(Column(cell: cell, name: names.first { cell.isWord($0, in: bytes) }))
        }
        self.columns = columns
        line = row.line
        self.reader = reader
    }

    /// The names of all columns, of a table whose first row was found to be one of names.
    func texts(in bytes: borrowing Span<UInt8>) -> [String] {
        columns.map { $0.cell.text(in: bytes) }
    }

    /// True where the first row can only be one of names, and may be shown.
    ///
    /// One of them was looked for, or two are names that programs write; one may be a password.
    func hasNames(in bytes: borrowing Span<UInt8>) -> Bool {
        if columns.contains(where: { $0.name != nil }) { return true }
        var count = 0
        for column in columns where CSVProduct.names.contains(where: { column.cell.isWord($0, in: bytes) }) {
            count += 1
        }
        return count > 1
    }
}

/// Text in the encoding that a table may have.
enum CSVText {
    /// UTF-8 of a table that begins with the mark of UTF-16, as spreadsheets save it; nil for any other one.
    ///
    /// - Throws: `ForeignFailure.damaged` for what is no UTF-16 behind the mark.
    static func utf8(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> SecretBytes? {
        let order: ByteCursor.Order
        if bytes.matches([0xff, 0xfe]) {
            order = .littleEndian
        } else if bytes.matches([0xfe, 0xff]) {
            order = .bigEndian
        } else {
            return nil
        }
        guard let text = bytes.utf8(ofUTF16: 2..<bytes.count, order) else {
            throw .damaged("it begins as UTF-16 does, and is none")
        }
        return text
    }
}
