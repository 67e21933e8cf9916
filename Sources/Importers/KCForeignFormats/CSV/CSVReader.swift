internal import KCByteStreams
internal import KCExportFormats
internal import KCItemSources

/// Reads the rows of a table in the form of RFC 4180, cell by cell, without copying their contents.
///
/// Parsing is strict: a cell that begins with a quotation mark ends with one, other cells contain none, and all rows
/// end alike: with LF or CR LF, or with CR alone.
struct CSVReader {
    /// A cell and its position.
    struct Cell {
        /// The content, without the enclosing quotation marks.
        let range: Range<Int>
        let isQuoted: Bool
        /// True if a backslash escapes a quotation mark or another backslash.
        var hasEscapes = false

        /// True if nothing was written at all; `""` is an empty text.
        var isNull: Bool { range.isEmpty && !isQuoted }
        var isEmpty: Bool { range.isEmpty }

        /// The content, with doubled quotation marks and escapes resolved.
        func secret(in bytes: borrowing Span<UInt8>) -> SecretBytes {
            if isVerbatim(in: bytes) { return SecretBytes(bytes.extracting(range)) }
            var secret = SecretBytes(capacity: range.count)
            var position = range.lowerBound
            while position < range.upperBound {
                if hasEscapes, bytes[position] == UInt8(ascii: "\\"), position + 1 < range.upperBound,
                    "\\\"".utf8.contains(bytes[position + 1])
                {
                    secret.append(bytes[position + 1])
                    position += 2
                    continue
                }
                secret.append(bytes[position])
                position += bytes[position] == UInt8(ascii: "\"") ? 2 : 1
            }
            return secret
        }

        /// The text of a cell that is not a secret.
        func text(in bytes: borrowing Span<UInt8>) -> String {
            let text = isVerbatim(in: bytes) ? bytes.extracting(range).utf8Text : secret(in: bytes).utf8Text
            guard let text else { preconditionFailure("a row was found to be UTF-8") }
            return text
        }

        /// True if the cell has no doubled quotation marks and no escapes.
        private func isVerbatim(in bytes: borrowing Span<UInt8>) -> Bool {
            if !isQuoted { return true }
            let content = bytes.extracting(range)
            return content.firstIndex(of: UInt8(ascii: "\"")) == nil
                && !(hasEscapes && content.firstIndex(of: UInt8(ascii: "\\")) != nil)
        }

        /// True if the cell equals this word, ignoring the case of ASCII letters; copies nothing.
        func isWord(_ word: String, in bytes: borrowing Span<UInt8>) -> Bool {
            range.count == word.utf8.count && zip(range, word.utf8).allSatisfy { bytes[$0].lowercased == $1.lowercased }
        }

        /// True if the cell contains this word, given in lower case, ignoring the case of ASCII letters; copies
        /// nothing.
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

        /// The number of cells, for messages.
        var countInWords: String { cells.count == 1 ? "1 cell" : "\(cells.count) cells" }

        /// The row with empty cells in place of those that are missing at its end.
        func filled(to count: Int) -> Row {
            guard let last = cells.last, cells.count < count else { return self }
            let empty = Cell(range: last.range.upperBound..<last.range.upperBound, isQuoted: false)
            return Row(cells: cells + Array(repeating: empty, count: count - cells.count), line: line)
        }
    }

    /// The maximum size of a cell in bytes, to which exported tables keep too.
    static let cellLimit = AppleCSVWriter.cellLimit
    /// The maximum size of a row in bytes.
    static let rowLimit = 4 << 20
    /// The maximum number of rows: far more passwords than anyone has.
    static let rowCountLimit = 1_000_000
    /// The maximum number of cells in a row.
    private static let columnLimit = 256

    /// The line end of the first row.
    private enum RowEnd {
        case lineFeed
        case carriageReturn
    }

    /// True if a backslash in quotation marks escapes the next character.
    var hasEscapes = false
    private let separator: UInt8
    private var position = 0
    private var line = 1
    private var count = 0
    private var damaged = 0
    /// Where the last row begins.
    private var rowStart = (position: 0, line: 1)
    /// True once a row ended otherwise than the first one.
    private var hasTwoRowEnds = false
    private var rowEnd: RowEnd?

    /// Starts after a byte order mark and a line that states the separator, if there are any.
    init(_ bytes: borrowing Span<UInt8>, separator: UInt8 = UInt8(ascii: ",")) {
        self.separator = separator
        position = Self.start(bytes)
        guard Self.statedSeparator(bytes) != nil else { return }
        position += Self.statement.utf8.count + 1
        line += 1
        if position < bytes.count, bytes[position] == UInt8(ascii: "\r") { position += 1 }
        if position < bytes.count, bytes[position] == UInt8(ascii: "\n") { position += 1 }
    }

    /// The text that spreadsheets write before the first row, followed by a separator.
    private static let statement = "sep="

    private static func start(_ bytes: borrowing Span<UInt8>) -> Int { bytes.matches([0xef, 0xbb, 0xbf]) ? 3 : 0 }

    /// The separator, if the first line states one and contains nothing else; otherwise nil.
    static func statedSeparator(_ bytes: borrowing Span<UInt8>) -> UInt8? {
        let start = start(bytes)
        let place = start + statement.utf8.count
        guard bytes.matches(statement.utf8, at: start), place + 1 < bytes.count,
            [0x0a, 0x0d].contains(bytes[place + 1]), ![0x0a, 0x0d, UInt8(ascii: "\"")].contains(bytes[place])
        else { return nil }
        return bytes[place]
    }

    /// The next row, skipping empty lines; nil at the end.
    mutating func next(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Row? {
        while position < bytes.count {
            let start = position
            let first = line
            rowStart = (start, first)
            let cells = try cells(in: bytes)
            if cells.count == 1, cells[0].isNull { continue }
            count += 1
            // The first row holds the column names.
            guard count <= Self.rowCountLimit + 1 else {
                throw .limit("rows", found: UInt64(count), allowed: UInt64(Self.rowCountLimit))
            }
            guard bytes.extracting(start..<position).isUTF8 else { throw .notUTF8(line: first) }
            return Row(cells: cells, line: first)
        }
        return nil
    }

    /// A row, or what is wrong with the line on which a row begins.
    enum Reading {
        case row(Row)
        case damaged(line: Int, ForeignFailure)

        /// From 1.
        var line: Int {
            switch self {
            case .row(let row): row.line
            case .damaged(let line, _): line
            }
        }

        /// - Throws: what is wrong with the row.
        func row() throws(ForeignFailure) -> Row {
            switch self {
            case .row(let row): return row
            case .damaged(_, let failure): throw failure
            }
        }
    }

    /// The maximum number of damaged rows: a file with more is not a table, or in another encoding.
    private static let damagedLimit = 100

    /// The next row as `next` returns it; after a row with a misplaced quotation mark, reading goes on in the next
    /// line, and after one that is not UTF-8, in the next row.
    ///
    /// - Throws: as `next`, but `damagedLine` and `notUTF8` only for one row too many, and `damagedLine` for rows that do
    ///   not end alike.
    mutating func nextOrDamaged(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Reading? {
        do throws(ForeignFailure) {
            return try next(in: bytes).map { .row($0) }
        } catch {
            let first = rowStart.line
            switch error {
            case .damagedLine where !hasTwoRowEnds: break
            case .notUTF8: break
            default: throw error
            }
            damaged += 1
            guard damaged <= Self.damagedLimit else { throw error }
            if case .notUTF8 = error { return .damaged(line: first, error) }
            (position, line) = (rowStart.position, first + 1)
            while position < bytes.count, ![0x0a, 0x0d].contains(bytes[position]) { position += 1 }
            if position + 1 < bytes.count, bytes[position] == 0x0d, bytes[position + 1] == 0x0a { position += 1 }
            position = min(position + 1, bytes.count)
            return .damaged(line: first, error)
        }
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
            hasTwoRowEnds = true
            throw .damagedLine(line, "a \(end == .lineFeed ? "line feed" : "carriage return") stands alone")
        }
        rowEnd = end
        line += 1
    }

    /// Reads a cell; it is followed by a separator, the end of the line, or the end of the text.
    private mutating func cell(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Cell {
        if position < bytes.count, bytes[position] == UInt8(ascii: "\"") { return try quoted(in: bytes) }
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case separator, UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                return Cell(range: start..<position, isQuoted: false)
            case UInt8(ascii: "\""): throw .damagedLine(line, "a quotation mark is inside an unquoted cell")
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
                let cell = Cell(range: start..<position - 1, isQuoted: true, hasEscapes: hasEscapes)
                guard position < bytes.count else { return cell }
                switch bytes[position] {
                case UInt8(ascii: "\""): position += 1
                case separator, UInt8(ascii: "\n"), UInt8(ascii: "\r"): return cell
                default: throw .damagedLine(line, "text follows the quotation mark that ends a cell")
                }
            case UInt8(ascii: "\\")
            where hasEscapes && position + 1 < bytes.count && "\\\"".utf8.contains(bytes[position + 1]):
                position += 2
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
