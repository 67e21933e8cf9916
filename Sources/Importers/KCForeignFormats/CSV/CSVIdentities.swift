internal import KCByteStreams

/// The IDs of the rows of a table so far.
final class CSVIdentities {
    /// The columns that may differ between two rows that are the same record.
    private static let dates: Set<CSVRole> = [
        .created, .createdSeconds, .createdMilliseconds, .changed, .changedSeconds, .changedMilliseconds, .lastUse,
    ]

    /// Seeded hashes of the cells of the first row with each ID.
    private var rows: [ExactText: Int] = [:]

    /// False for a row with the ID of an earlier one that says something else.
    func accepts(_ record: CSVRecord, _ bytes: borrowing Span<UInt8>) -> Bool {
        guard let column = record.roles.firstIndex(of: .id), !record.row.cells[column].isEmpty else { return true }
        var hasher = Hasher()
        for (index, cell) in record.row.cells.enumerated() {
            if index < record.roles.count, let role = record.roles[index], Self.dates.contains(role) { continue }
            let secret = cell.secret(in: bytes)
            secret.withBytes { text in
                hasher.combine(text.count)
                for index in text.indices { hasher.combine(text[index]) }
            }
        }
        let hash = hasher.finalize()
        let id = record.row.cells[column].text(in: bytes).exact
        defer { if rows[id] == nil { rows[id] = hash } }
        return rows[id].map { $0 == hash } ?? true
    }
}
