package import KCByteStreams
package import KCItemSources
package import KCKeychainModel

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

    package func add(_ item: Item, secret: borrowing SecretBytes) throws -> ExportProblem? {
        let record = ExportedRecord(item)
        switch record.kind {
        case .other: return .noPlace
        case .passkey: return .passkey
        case .password, .note, .oneTimePassword, .wifi: break
        }
        if record.hasAccountOfBytes { return .nameNotText }
        if item.secretSize == nil { return .noSecret }
        if secret.isEmpty { return .emptySecret }
        guard secret.isUTF8 else { return .secretNotText }
        let names =
            record.standsAlone
            ? [record.title, "", ""] : [record.title, record.addresses.first ?? "", record.account ?? ""]
        let hasZero = secret.withBytes { span in span.indices.contains { span[$0] == 0 } }
        if hasZero || names.contains(where: { $0.utf8.contains(0) }) { return .zeroByte }
        let isTooLong = secret.withBytes { Self.size($0) > Self.cellLimit }
        if isTooLong || names.contains(where: { Self.size($0.utf8.span) > Self.cellLimit }) { return .tooLong }
        for name in names {
            cell(name.utf8.span)
            row.append(UInt8(ascii: ","))
        }
        let column = record.kind == .note ? 1 : record.kind == .oneTimePassword ? 2 : 0
        for index in 0...2 {
            if index > 0 { row.append(UInt8(ascii: ",")) }
            if index == column { secret.withBytes { cell($0) } }
        }
        row.append("\r\n".utf8.span)
        try flush()
        return nil
    }

    package func lost(of item: Item) -> [AttributeCode] {
        let record = ExportedRecord(item)
        return record.lost(of: item, addresses: Array(record.addresses.prefix(1)))
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

    private func cell(_ bytes: borrowing Span<UInt8>) {
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
