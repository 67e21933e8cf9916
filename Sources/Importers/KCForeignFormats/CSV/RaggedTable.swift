internal import KCByteStreams
internal import KCItemSources

/// A table whose rows name their own fields, so that a row has as many cells as its record needs.
///
/// Source: the exports of Keeper and Enpass, and what other programs expect of them.
struct RaggedTable: Sendable {
    /// The programs that write such tables.
    enum Product: String, Sendable {
        case keeper = "Keeper"
        case enpass = "Enpass"
    }

    let product: Product
    /// True if the first row is not a record.
    let hasHeader: Bool

    /// A record in the form of a row of an ordinary table.
    struct Record {
        let row: CSVReader.Row
        let roles: [CSVRole?]
        let names: [String]
    }

    /// The number of rows that tell whether a table is one of these.
    private static let glance = 20

    /// Recognizes a table by its first rows; nil for any other.
    init?(_ bytes: borrowing Span<UInt8>) {
        var reader = CSVReader(bytes)
        var rows: [CSVReader.Row] = []
        do throws(ForeignFailure) {
            while rows.count < Self.glance, let row = try reader.next(in: bytes) { rows.append(row) }
        } catch {
            // The rows before the damaged one are enough.
        }
        guard let first = rows.first else { return nil }
        func begins(_ words: [String]) -> Bool {
            first.cells.count >= words.count && zip(first.cells, words).allSatisfy { $0.isWord($1, in: bytes) }
        }
        if begins(["folder", "title", "login", "password"]), first.cells.count > Self.sharedFolder,
            first.cells[Self.sharedFolder].isWord("shared folder", in: bytes)
        {
            (product, hasHeader) = (.keeper, true)
        } else if begins(["title", "field", "value"]) {
            (product, hasHeader) = (.enpass, true)
        } else if Self.areOfKeeper(rows, bytes) {
            (product, hasHeader) = (.keeper, false)
        } else if Self.areOfEnpass(rows, bytes) {
            (product, hasHeader) = (.enpass, false)
        } else {
            return nil
        }
    }

    /// The record in a row.
    ///
    /// - Throws: `ForeignFailure.damagedLine` for a row with a name but no value.
    func record(_ row: CSVReader.Row, in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Record {
        switch product {
        case .keeper: try Self.keeperRecord(row, bytes)
        case .enpass: Self.enpassRecord(row, bytes)
        }
    }

    // MARK: Keeper

    /// The columns before the names and values.
    private static let keeperColumns: [(name: String, role: CSVRole)] = [
        ("Folder", .folder), ("Title", .title), ("Login", .username), ("Password", .password),
        ("Website Address", .url), ("Notes", .notes), ("Shared Folder", .folder),
    ]
    /// The position of the address.
    private static let address = 4
    /// The position of the shared folder; old versions end their rows before it.
    private static let sharedFolder = 6

    /// True for rows of cells in quotation marks, some of which have an address or a one-time password in its place.
    private static func areOfKeeper(_ rows: [CSVReader.Row], _ bytes: borrowing Span<UInt8>) -> Bool {
        var isCertain = false
        for row in rows {
            let count = row.cells.count
            guard count >= keeperColumns.count, !count.isMultiple(of: 2), row.cells.allSatisfy(\.isQuoted) else {
                return false
            }
            if row.cells[address].contains("://", in: bytes) { isCertain = true }
            for index in stride(from: keeperColumns.count, to: count, by: 2)
            where row.cells[index].isWord(keeperSeed, in: bytes) {
                isCertain = true
            }
        }
        return isCertain
    }

    /// The name of the field with the one-time password.
    private static let keeperSeed = "TFC:Keeper"

    private static func keeperRecord(
        _ row: CSVReader.Row, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> Record {
        let fixed = min(row.cells.count, keeperColumns.count)
        guard fixed >= sharedFolder else {
            throw .damagedLine(
                row.line, "it has \(row.countInWords), where Keeper writes at least \(sharedFolder)")
        }
        guard (row.cells.count - fixed).isMultiple(of: 2) else {
            throw .damagedLine(row.line, "a field has a name and no value")
        }
        var cells = Array(row.cells[..<fixed])
        var roles: [CSVRole?] = keeperColumns[..<fixed].map(\.role)
        var names = keeperColumns[..<fixed].map(\.name)
        for index in stride(from: fixed, to: row.cells.count, by: 2) {
            let (name, value) = (row.cells[index], row.cells[index + 1])
            let isSeed = name.isWord(keeperSeed, in: bytes) || value.contains("otpauth://", in: bytes)
            cells.append(value)
            roles.append(isSeed ? .totp : nil)
            names.append(name.text(in: bytes))
        }
        return Record(row: CSVReader.Row(cells: cells, line: row.line), roles: roles, names: names)
    }

    // MARK: Enpass

    /// The meaning of fields by their names in lower case.
    private static let enpassRoles: [(name: String, role: CSVRole)] = [
        ("username", .username), ("email", .email), ("e-mail", .email), ("password", .password), ("website", .url),
        ("url", .url), ("totp", .totp), ("one-time code", .totp),
    ]

    /// The name of a field; Enpass marks those that it hides with an asterisk.
    private static func label(_ cell: CSVReader.Cell, _ bytes: borrowing Span<UInt8>) -> CSVReader.Cell {
        guard !cell.isEmpty, bytes[cell.range.lowerBound] == UInt8(ascii: "*") else { return cell }
        return CSVReader.Cell(range: cell.range.dropFirst(), isQuoted: cell.isQuoted, hasEscapes: cell.hasEscapes)
    }

    private static func role(_ label: CSVReader.Cell, _ bytes: borrowing Span<UInt8>) -> CSVRole? {
        enpassRoles.first { label.isWord($0.name, in: bytes) }?.role
    }

    /// True if two fields of the first row, and any of the others, have names that Enpass gives by itself, and what is
    /// beside them is not the name of a column.
    private static func areOfEnpass(_ rows: [CSVReader.Row], _ bytes: borrowing Span<UInt8>) -> Bool {
        func labels(_ row: CSVReader.Row) -> Int {
            stride(from: 1, to: row.cells.count, by: 2).count { role(label(row.cells[$0], bytes), bytes) != nil }
        }
        guard let first = rows.first, labels(first) >= 2 else { return false }
        for index in stride(from: 0, to: first.cells.count, by: 2)
        where CSVProduct.names.contains(where: { first.cells[index].isWord($0, in: bytes) }) {
            return false
        }
        return rows.count == 1 || rows.dropFirst().contains { labels($0) > 0 }
    }

    /// A row is a title, names with their values, and a note, which is missing if the number of cells is odd.
    private static func enpassRecord(_ row: CSVReader.Row, _ bytes: borrowing Span<UInt8>) -> Record {
        var cells = [row.cells[0]]
        var roles: [CSVRole?] = [.title]
        var names = ["Title"]
        let hasNote = row.cells.count.isMultiple(of: 2)
        for index in stride(from: 1, to: row.cells.count - (hasNote ? 1 : 0), by: 2) {
            let label = label(row.cells[index], bytes)
            cells.append(row.cells[index + 1])
            roles.append(role(label, bytes))
            names.append(label.text(in: bytes))
        }
        if hasNote, let note = row.cells.last {
            cells.append(note)
            roles.append(.notes)
            names.append("Note")
        }
        return Record(row: CSVReader.Row(cells: cells, line: row.line), roles: roles, names: names)
    }
}
