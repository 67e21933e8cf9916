internal import ByteStreams
internal import ItemSources

/// The rows of a table in the form of RFC 4180, cell by cell, without a copy of what is in them.
///
/// Strict: cells in quotation marks end with one, others have none, and all rows end alike: with a line feed, after a
/// carriage return or not, or with a carriage return alone.
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
            guard let text = secret(in: bytes).utf8Text else { preconditionFailure("a row was found to be UTF-8") }
            return text
        }

        /// True if the cell is this word, with ASCII letters in any case; nothing of it is copied.
        func isWord(_ word: String, in bytes: borrowing Span<UInt8>) -> Bool {
            range.count == word.utf8.count && zip(range, word.utf8).allSatisfy { bytes[$0].lowercased == $1.lowercased }
        }

        /// True if the cell has this word in lower case somewhere, with ASCII letters in any case; nothing is copied.
        func contains(_ word: String, in bytes: borrowing Span<UInt8>) -> Bool {
            let word = Array(word.utf8)
            return range.contains { start in
                start + word.count <= range.upperBound
                    && word.indices.allSatisfy { bytes[start + $0].lowercased == word[$0] }
            }
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

    /// What the first row ended with.
    private enum RowEnd {
        case lineFeed
        case carriageReturn
    }

    private let separator: UInt8
    private var position = 0
    private var line = 1
    private var count = 0
    private var rowEnd: RowEnd?

    /// Starts behind the mark that says UTF-8, and the line that says what the separator is, where they are there.
    init(_ bytes: borrowing Span<UInt8>, separator: UInt8 = UInt8(ascii: ",")) {
        self.separator = separator
        position = Self.start(bytes)
        guard Self.statedSeparator(bytes) != nil else { return }
        position += Self.statement.utf8.count + 1
        line += 1
        if position < bytes.count, bytes[position] == UInt8(ascii: "\r") { position += 1 }
        if position < bytes.count, bytes[position] == UInt8(ascii: "\n") { position += 1 }
    }

    /// What spreadsheets write before the first row, and a separator behind it.
    private static let statement = "sep="

    private static func start(_ bytes: borrowing Span<UInt8>) -> Int { bytes.matches([0xef, 0xbb, 0xbf]) ? 3 : 0 }

    /// The separator that the first line states, and nothing else; nil where it states none.
    static func statedSeparator(_ bytes: borrowing Span<UInt8>) -> UInt8? {
        let start = start(bytes)
        let place = start + statement.utf8.count
        guard bytes.matches(statement.utf8, at: start), place + 1 < bytes.count,
            [0x0a, 0x0d].contains(bytes[place + 1]), ![0x0a, 0x0d, UInt8(ascii: "\"")].contains(bytes[place])
        else { return nil }
        return bytes[place]
    }

    /// The next row, beyond empty lines; nil at the end.
    ///
    /// - Throws: `ForeignFailure` (`damagedLine`, `notUTF8`, `limit`).
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
            guard bytes.extracting(start..<position).isUTF8 else { throw .notUTF8(line: first) }
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
            if byte != separator {
                try endRow(with: byte, in: bytes)
                return cells
            }
        }
    }

    private mutating func endRow(with byte: UInt8, in bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        var end = RowEnd.lineFeed
        if byte == UInt8(ascii: "\r") {
            if position < bytes.count, bytes[position] == UInt8(ascii: "\n") {
                position += 1
            } else {
                end = .carriageReturn
            }
        }
        if let rowEnd, rowEnd != end {
            throw .damagedLine(line, "a \(end == .lineFeed ? "line feed" : "carriage return") stands alone")
        }
        rowEnd = end
        line += 1
    }

    /// A cell; what follows it is a separator, the end of the line, or nothing.
    private mutating func cell(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Cell {
        if position < bytes.count, bytes[position] == UInt8(ascii: "\"") { return try quoted(in: bytes) }
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case separator, UInt8(ascii: "\n"), UInt8(ascii: "\r"):
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
                case separator, UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                    return Cell(range: start..<position - 1, isQuoted: true)
                default: throw .damagedLine(line, "something follows the quotation mark that ends a cell")
                }
            case UInt8(ascii: "\n"):
                line += 1
                position += 1
            case UInt8(ascii: "\r") where rowEnd == .carriageReturn:
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

extension UInt8 {
    /// The letter in lower case, if it is an ASCII letter.
    fileprivate var lowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 32 : self
    }
}
