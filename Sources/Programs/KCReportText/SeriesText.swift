package import KCBackupCatalogue
package import KCBackupEngine
internal import KCCryptography
internal import KCKeychainModel

extension SeriesDestination.Outcome {
    /// The JSON object "result" of a backup to a folder.
    ///
    /// - Parameter name: what was backed up.
    package func json(of name: String, _ report: CreateReport) -> JSONValue {
        let (entry, isNew) =
            switch self {
            case .saved(let entry): (entry, true)
            case .unchanged(let entry): (entry, false)
            }
        return .members([
            ("keychain", .text(name)), ("saved", .flag(isNew)), ("file", .text(entry.name)),
            ("id", .text(Hexadecimal.encode(entry.archiveID))), ("size", .number(Int(entry.file.size))),
            ("contents", report.contents.json),
            ("boundToThisDevice", .number(report.boundToThisDevice + report.ofThisMachine)),
            ("notOpened", .number(report.notOpened)), ("omitted", .list(report.omitted.map { .item($0) })),
            ("damaged", .list(report.damaged.compactMap { $0.map { .item($0) } })),
        ])
    }
}
