internal import KCByteStreams
internal import KCItemSources

/// The tables in Dashlane's export, of which each may come alone.
enum DashlaneTable: String, CaseIterable, Sendable {
    case credentials = "credentials.csv"
    case secureNotes = "securenotes.csv"
    case ids = "ids.csv"
    case payments = "payments.csv"
    case personal = "personalInfo.csv"
    case networks = "wifi.csv"

    /// The kind of the records that are kept as a whole; nil for tables whose records have parts.
    var kind: String? {
        switch self {
        case .credentials, .secureNotes, .networks: nil
        case .ids: "identity document"
        case .payments: "card"
        case .personal: "identity"
        }
    }

    /// The columns by which the table is recognized when it comes alone; none for logins, which are a table of
    /// `CSVFormat`.
    private var marks: [String] {
        switch self {
        case .credentials: []
        case .secureNotes: ["title", "note"]
        case .ids: ["type", "number", "name", "issue_date", "expiration_date", "place_of_issue"]
        case .payments: ["type", "account_name", "account_holder", "cc_number", "code"]
        case .personal: ["type", "first_name", "last_name", "item_name", "email_type"]
        case .networks: ["ssid", "passphrase", "name", "note"]
        }
    }

    /// The table whose columns the first row names; nil for any other.
    static func of(_ bytes: borrowing Span<UInt8>) -> DashlaneTable? {
        var reader = CSVReader(bytes)
        let header: CSVReader.Row
        do throws(ForeignFailure) {
            guard let row = try reader.next(in: bytes) else { return nil }
            header = row
        } catch {
            // Not a table.
            return nil
        }
        func has(_ name: String) -> Bool { header.cells.contains { $0.isWord(name, in: bytes) } }
        return allCases.first { table in
            guard !table.marks.isEmpty, table.marks.allSatisfy(has) else { return false }
            // These names are common.
            return table != .secureNotes || header.cells.count == 2 || header.cells.count == 3 && has("category")
        }
    }
}
