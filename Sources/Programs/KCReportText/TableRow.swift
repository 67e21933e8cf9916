internal import KCByteStreams
package import KCKeychainModel

/// The cells of a row, in one piece of memory that the next row can use again.
///
/// ```swift
/// var row = TableRow()
/// row.append("generic")
/// row.append("")
/// ```
package struct TableRow: Sendable {
    fileprivate var bytes: [UInt8] = []
    /// Where each cell ends.
    fileprivate var ends: [Int] = []

    /// Creates a row without cells.
    package init() {}

    /// Creates a row of `cells`.
    package init(_ cells: [String]) {
        for cell in cells { append(cell) }
    }

    /// The number of cells.
    package var count: Int { ends.count }

    /// Removes all cells.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    /// Adds a cell.
    package mutating func append(_ cell: String) {
        bytes.append(utf8: cell)
        ends.append(bytes.count)
    }

    /// Adds a cell that `write` appends.
    package mutating func append(_ write: (inout [UInt8]) -> Void) {
        write(&bytes)
        ends.append(bytes.count)
    }

    /// Adds a cell for an attribute: its text or, for bytes that are not text, their number; false if there is none.
    package mutating func append(_ code: AttributeCode, of attributes: Attributes) -> Bool {
        let isThere: Void? = attributes.withMember(code) { form, value in
            if form == .text {
                bytes.append(value.extracting(1..<value.count - 1))
            } else if let text = attributes.shown(code) {
                bytes.append(utf8: text)
            }
        }
        guard isThere != nil else { return false }
        ends.append(bytes.count)
        return true
    }

    /// True if a cell is empty.
    func isEmpty(_ index: Int) -> Bool { range(index).isEmpty }

    /// A cell as text.
    func text(_ index: Int) -> String { withCell(index) { String(decoding: [UInt8](copying: $0), as: UTF8.self) } }

    /// Calls `body` with the UTF-8 of a cell.
    func withCell<R>(_ index: Int, _ body: (borrowing Span<UInt8>) -> R) -> R {
        body(bytes.span.extracting(range(index)))
    }

    /// True if two cells have the same bytes.
    func areEqual(_ one: Int, _ other: Int) -> Bool {
        withCell(one) { one in withCell(other) { one.isEqual(to: $0) } }
    }

    /// True if `other` has the same bytes in a cell.
    func hasSame(_ index: Int, as other: TableRow) -> Bool {
        withCell(index) { one in other.withCell(index) { one.isEqual(to: $0) } }
    }

    private func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }
}

/// Rows that wait to be sorted, in one piece of memory: as single values, each would take several times its size.
struct HeldRows {
    private var bytes: [UInt8] = []
    /// The lengths of all cells, row after row.
    private var lengths: [UInt32] = []
    /// Where the bytes of each row begin.
    private var starts: [Int] = []
    private let columns: Int

    /// - Parameter columns: the number of cells of each row, at least 1.
    init(columns: Int) {
        self.columns = columns
    }

    /// The number of rows.
    var count: Int { starts.count }

    /// The size in bytes.
    var size: Int {
        bytes.count + lengths.count * MemoryLayout<UInt32>.size + starts.count * MemoryLayout<Int>.size
    }

    /// Adds a row.
    mutating func append(_ row: TableRow) {
        precondition(row.count == columns, "a row has one cell a column")
        starts.append(bytes.count)
        bytes.append(row.bytes.span)
        var start = 0
        for end in row.ends {
            lengths.append(UInt32(end - start))
            start = end
        }
    }

    /// Replaces `row` with the cells of a row.
    func read(_ index: Int, into row: inout TableRow) {
        row.removeAll()
        var end = 0
        for length in lengths[index * columns..<(index + 1) * columns] {
            end += Int(length)
            row.ends.append(end)
        }
        row.bytes.append(bytes.span.extracting(starts[index]..<starts[index] + end))
    }
}
