internal import KCByteStreams
internal import KCItemSources

/// A table with known columns: its separator, its first row, and a reader for the rows below.
struct CSVTable {
    /// A column, identified by its first cell.
    struct Column {
        let cell: CSVReader.Cell
        /// Its name in lower case, if it is one of those searched for.
        ///
        /// Other names are not read until the first row is known to hold names: in a table without names, it holds
        /// secrets.
        let name: String?
    }

    let columns: [Column]
    /// The line of the first row, from 1.
    let line: Int
    /// Reads the rows after the first one.
    var reader: CSVReader

    /// The characters that programs write between cells; spreadsheets use a semicolon in locales with a decimal comma.
    private static let separators = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]

    /// Determines the separator and the columns of a table.
    ///
    /// - Parameters:
    ///   - names: the names of columns to look for, in lower case.
    ///   - fits: true if a table with these column names is acceptable.
    /// - Returns: the table; or why there is none, with the closest candidate.
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

    /// Why the bytes are not an acceptable table.
    struct Misfit: Error {
        /// The closest table, which has other columns.
        let nearest: CSVTable?
        /// The reason why the bytes are no table, for the first separator with which reading failed.
        let failure: ForeignFailure?
    }

    private var nearness: (Int, Int) { (columns.count { $0.name != nil }, columns.count) }

    /// - Returns: nil if there is no row.
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

    /// The names of all columns, in a table whose first row is known to hold names.
    func texts(in bytes: borrowing Span<UInt8>) -> [String] {
        columns.map { $0.cell.text(in: bytes) }
    }

    /// True if the first row can only hold names, and may therefore be shown.
    ///
    /// The row must contain two names that were searched for or that programs use, since a single one could be a
    /// password.
    func hasNames(in bytes: borrowing Span<UInt8>) -> Bool {
        let known = columns.count { column in
            column.name != nil || CSVProduct.names.contains { column.cell.isWord($0, in: bytes) }
        }
        return known > 1
    }
}

/// Converts the text of a table to UTF-8.
enum CSVText {
    /// The text in UTF-8 if it begins with a UTF-16 byte order mark, as some spreadsheets write; otherwise nil.
    ///
    /// - Throws: `ForeignFailure.damaged` if the bytes after the mark are not valid UTF-16.
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
            throw .damaged("it begins like UTF-16, but is not UTF-16")
        }
        return text
    }
}
