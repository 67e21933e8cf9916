internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// A list of passwords with the columns of Apple's Passwords app (RFC 4180), in the clear.
package final class AppleCSVWriter: PlainExportWriter {
    /// The maximum size of a cell in bytes: more than any note needs.
    package static let cellLimit = 1 << 20

    private let text: SpooledText
    private var row = SecretBytes(capacity: 4_096)
    package private(set) var formulas = 0

    /// Starts with the header row.
    ///
    /// - Parameter folder: where rows wait that are too many or too large for the memory.
    package init(spoolingIn folder: String) {
        text = SpooledText(spoolingIn: folder)
        row.append("Title,URL,Username,Password,Notes,OTPAuth\r\n".utf8.span)
    }

    package func add(_ record: ExportedRecord) throws -> ExportOutcome {
        var outcome = ExportOutcome()
        var columns: [Column: ExportedPart] = [:]
        for part in record.parts {
            let column = part.isNetwork && record.login != nil ? nil : Column(of: part)
            if let problem = problem(with: part, column, of: record) {
                outcome.unheld.append((part, problem))
            } else if let column, columns[column] == nil {
                columns[column] = part
            } else {
                outcome.apart.append(part)
            }
        }
        if columns.isEmpty { return outcome }
        // With these, an import would mistake the record for the login that it belongs to.
        let (account, addresses) =
            columns[.password] == nil ? ("", []) : (record.account ?? "", Array(record.addresses.prefix(1)))
        for name in [record.title, addresses.first ?? "", account] { cell(name.utf8.span, before: ",") }
        for column in Column.allCases {
            let end = column == .code ? "\r\n" : ","
            if let part = columns[column] {
                part.secret.withBytes { cell($0, before: end) }
            } else {
                row.append(utf8: end)
            }
        }
        try flush()
        let written = Column.allCases.compactMap { columns[$0] }
            .map { ExportedRecord.Written($0, as: Column(of: $0)?.place) }
        outcome.lost = record.lost(written, account: account.isEmpty ? nil : account, addresses: addresses)
        return outcome
    }

    /// The columns behind title, address and user name.
    private enum Column: CaseIterable {
        case password, note, code

        /// Nil for a part that has no column.
        init?(of part: ExportedPart) {
            switch part.place {
            case .login, .token, .network: self = .password
            case .note: self = .note
            case .oneTimePassword: self = .code
            case .field, .object, .passkey, .privateKey, .attachment: return nil
            }
        }

        var place: RecordPlace {
            switch self {
            case .password: .login
            case .note: .note
            case .code: .oneTimePassword
            }
        }
    }

    /// Why a row cannot hold a part.
    private func problem(with part: ExportedPart, _ column: Column?, of record: ExportedRecord) -> ExportProblem? {
        guard let column, !part.isOfKeychain else { return .noPlace }
        if column == .password, record.hasAccountOfBytes { return .nameNotText }
        let names =
            column == .password ? [record.title, record.addresses.first ?? "", record.account ?? ""] : [record.title]
        // A row with a user or an address is a login even without a password.
        if !part.hasSecret {
            return column == .password && names.dropFirst().contains { !$0.isEmpty } ? nil : .noSecret
        }
        if part.secret.isEmpty { return .emptySecret }
        guard part.isText else { return .secretNotText }
        let hasZero = part.secret.withBytes { span in span.indices.contains { span[$0] == 0 } }
        if hasZero || names.contains(where: { $0.utf8.contains(0) }) { return .zeroByte }
        let isTooLong = part.secret.withBytes { Self.size($0) > Self.cellLimit }
        return isTooLong || names.contains { Self.size($0.utf8.span) > Self.cellLimit } ? .tooLong : nil
    }

    package func finish(to output: (borrowing Span<UInt8>) throws -> Void) throws {
        try flush()
        try text.finish(output)
    }

    private func flush() throws {
        try row.withBytes { try text.append($0) }
        row.removeAll()
    }

    /// The bytes of a cell, with each quotation mark doubled.
    private static func size(_ bytes: borrowing Span<UInt8>) -> Int {
        bytes.count + bytes.indices.count { bytes[$0] == UInt8(ascii: "\"") }
    }

    private func cell(_ bytes: borrowing Span<UInt8>, before end: String) {
        defer { row.append(utf8: end) }
        if !bytes.isEmpty, "=+-@".utf8.contains(bytes[0]) { formulas += 1 }
        let needsQuotes = bytes.indices.contains { index in
            [UInt8(ascii: ","), UInt8(ascii: "\""), 0x0a, 0x0d].contains(bytes[index])
        }
        let hasSpace = !bytes.isEmpty && (bytes[0] == 0x20 || bytes[bytes.count - 1] == 0x20)
        guard needsQuotes || hasSpace else { return row.append(bytes) }
        row.append(UInt8(ascii: "\""))
        for index in bytes.indices {
            if bytes[index] == UInt8(ascii: "\"") { row.append(UInt8(ascii: "\"")) }
            row.append(bytes[index])
        }
        row.append(UInt8(ascii: "\""))
    }
}
