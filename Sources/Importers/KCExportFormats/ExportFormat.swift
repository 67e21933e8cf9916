package import KCItemSources
package import KCKeychainModel

/// A format to which items can be exported; a new one is a case here and a writer in a folder beside this file.
package enum ExportFormat: String, CaseIterable, Hashable, Sendable {
    case bitwarden, csv, cxf, kdbx
    case kubernetesJSON = "kubernetes-json"
    case kubernetesYAML = "kubernetes-yaml"

    /// The name in messages.
    package var title: String {
        switch self {
        case .bitwarden: "Bitwarden JSON, protected with a password"
        case .csv: "list of passwords as CSV, in the clear"
        case .cxf: "CXF 1.0 JSON"
        case .kdbx: "KeePass database (KDBX 4)"
        case .kubernetesJSON: "Secrets of Kubernetes as JSON"
        case .kubernetesYAML: "Secrets of Kubernetes as YAML"
        }
    }

    /// True for a format that is encrypted with a password.
    package var takesPassword: Bool { self == .bitwarden || self == .kdbx }

    /// True for a format that may be written into an age file.
    package var takesRecipients: Bool { [.cxf, .kubernetesJSON, .kubernetesYAML].contains(self) }

    /// Starts a file.
    ///
    /// - Parameters:
    ///   - date: the date of the file.
    ///   - kdbxMemoryInKiB: the memory that testing one password of a KeePass database takes; less only in tests.
    ///   - folder: where what is too much for the memory waits.
    /// - Throws: `CryptographyFailure`.
    package func start(
        date: Timestamp, kdbxMemoryInKiB: UInt32 = 65_536, spoolingIn folder: String
    ) throws -> StartedExport {
        switch self {
        case .bitwarden: .protected(BitwardenWriter())
        case .csv: .plain(AppleCSVWriter(spoolingIn: folder))
        case .cxf: .plain(CXFWriter(date: date))
        case .kdbx: .protected(try KDBXWriter(date: date, memoryInKiB: kdbxMemoryInKiB))
        case .kubernetesJSON: .plain(KubernetesWriter(.json))
        case .kubernetesYAML: .plain(KubernetesWriter(.yaml))
        }
    }
}
