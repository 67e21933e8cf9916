package import ItemSources
package import KeychainModel

/// A form in which items can leave for another program; a new one is a case here and a writer in a folder beside.
package enum ExportFormat: String, CaseIterable, Hashable, Sendable {
    case bitwarden, csv, cxf, kdbx

    /// What people call it.
    package var title: String {
        switch self {
        case .bitwarden: "Bitwarden JSON, protected with a password"
        case .csv: "list of passwords as CSV, in the clear"
        case .cxf: "CXF 1.0 JSON"
        case .kdbx: "KeePass database (KDBX 4)"
        }
    }

    /// True for a format that a password opens.
    package var takesPassword: Bool { self == .bitwarden || self == .kdbx }

    /// Starts a file.
    ///
    /// - Parameter date: when it is made.
    /// - Throws: `CryptographyFailure`.
    package func writer(date: Timestamp) throws -> any ExportWriter {
        switch self {
        case .bitwarden: BitwardenWriter()
        case .csv: AppleCSVWriter()
        case .cxf: CXFWriter(date: date)
        case .kdbx: try KDBXWriter(date: date)
        }
    }
}
