internal import ByteStreams
internal import ItemSources

/// The rows of a table in the form of RFC 4180, cell by cell, without a copy of what is in them.
///
/// Strict: cells in quotation marks end with one, others have none, and rows end with a line feed, after a carriage
/// return or not.
struct CSVReader {
    /// A cell and where it is.
    struct Cell {
        /// Without the quotation marks around it.
        let range: Range<Int>
        let isQuoted: Bool

        /// True for nothing at all; `""` is an empty text.
        var isNull: Bool { range.isEmpty && !isQuoted }
        var isEmpty: Bool { range.isEmpty }

        /// The bytes, with doubled quotation marks as one.
        func secret(in bytes: borrowing Span<UInt8>) -> SecretBytes {
            guard isQuoted else { return SecretBytes(bytes.extracting(range)) }
            var secret = SecretBytes(capacity: range.count)
            var position = range.lowerBound
            while position < range.upperBound {
                secret.append(bytes[position])
                position += bytes[position] == UInt8(ascii: "\"") ? 2 : 1
            }
            return secret
        }

        /// The text of a cell that is no secret.
        func text(in bytes: borrowing Span<UInt8>) -> String {
            secret(in: bytes).withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
        }
    }

    /// A row and the line on which it begins, from 1.
    struct Row {
        let cells: [Cell]
        let line: Int
    }

    /// Bytes of one cell: more than any note.
    static let cellLimit = 1 << 20
    /// Bytes of one row.
    static let rowLimit = 4 << 20
    /// Rows of a table: far above the passwords that people have.
    static let rowCountLimit = 1_000_000
    /// Cells of a row.
    private static let columnLimit = 256

    private var position = 0
    private var line = 1
    private var count = 0

    /// Starts at the first byte, or behind the mark that says UTF-8.
    init(_ bytes: borrowing Span<UInt8>) {
        if bytes.count >= 3, bytes[0] == 0xef, bytes[1] == 0xbb, bytes[2] == 0xbf { position = 3 }
    }

    /// The next row, beyond empty lines; nil at the end.
    ///
    /// - Throws: `ForeignFailure` (`damagedLine`, `limit`).
    mutating func next(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Row? {
        while position < bytes.count {
            let start = position
            let first = line
            let cells = try cells(in: bytes)
            if cells.count == 1, cells[0].isNull { continue }
            count += 1
            // The first one has the names of the columns.
            guard count <= Self.rowCountLimit + 1 else {
                throw .limit("rows", found: UInt64(count), allowed: UInt64(Self.rowCountLimit))
            }
            guard (try? UTF8Span(validating: bytes.extracting(start..<position))) != nil else {
                throw .damagedLine(first, "the text is not UTF-8")
            }
            return Row(cells: cells, line: first)
        }
        return nil
    }

    private mutating func cells(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> [Cell] {
        let start = position
        var cells: [Cell] = []
        while true {
            let cell = try cell(in: bytes)
            cells.append(cell)
            guard cell.range.count <= Self.cellLimit else {
                throw .limit("bytes of a cell", found: UInt64(cell.range.count), allowed: UInt64(Self.cellLimit))
            }
            guard position - start <= Self.rowLimit else {
                throw .limit("bytes of a row", found: UInt64(position - start), allowed: UInt64(Self.rowLimit))
            }
            guard cells.count <= Self.columnLimit else {
                throw .limit("columns", found: UInt64(cells.count), allowed: UInt64(Self.columnLimit))
            }
            guard position < bytes.count else { return cells }
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "\n") {
                line += 1
                return cells
            }
            if byte == UInt8(ascii: "\r") {
                guard position < bytes.count, bytes[position] == UInt8(ascii: "\n") else {
                    throw .damagedLine(line, "a carriage return stands alone")
                }
                position += 1
                line += 1
                return cells
            }
        }
    }

    /// A cell; what follows it is a comma, the end of the line, or nothing.
    private mutating func cell(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Cell {
        if position < bytes.count, bytes[position] == UInt8(ascii: "\"") { return try quoted(in: bytes) }
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                return Cell(range: start..<position, isQuoted: false)
            case UInt8(ascii: "\""): throw .damagedLine(line, "a quotation mark stands inside a cell without any")
            default: position += 1
            }
        }
        return Cell(range: start..<position, isQuoted: false)
    }

    private mutating func quoted(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Cell {
        let first = line
        let start = position + 1
        position = start
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                guard position < bytes.count else { return Cell(range: start..<position - 1, isQuoted: true) }
                switch bytes[position] {
                case UInt8(ascii: "\""): position += 1
                case UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                    return Cell(range: start..<position - 1, isQuoted: true)
                default: throw .damagedLine(line, "something follows the quotation mark that ends a cell")
                }
            case UInt8(ascii: "\n"):
                line += 1
                position += 1
            default: position += 1
            }
            guard position - start <= Self.rowLimit else {
                throw .limit("bytes of a row", found: UInt64(position - start), allowed: UInt64(Self.rowLimit))
            }
        }
        throw .damagedLine(first, "a quotation mark is not closed")
    }
}
