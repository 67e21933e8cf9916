internal import KCBackupArchive
package import KCItemSources
internal import KCKeychainModel

extension ItemExport {
    /// The JSON object of `export`.
    ///
    /// - Parameters:
    ///   - path: the file, as the user named it.
    ///   - format: the name of its format.
    ///   - size: the size of the file in bytes.
    package func json(path: String, format: String, isEncrypted: Bool, size: UInt64) -> JSONValue {
        .members([
            (
                "export",
                [
                    "path": .text(path), "format": .text(format), "encrypted": .flag(isEncrypted),
                    "size": .number(Int(size)),
                ]
            ), ("exported", .counts { exported[$0] }),
            (
                "staysBehind",
                .list(
                    staying.map { JSONValue.item($0.item).adding([("reason", .text($0.reason.rawValue))]) })
            ),
            (
                "unheld",
                .list(
                    unheld.map { JSONValue.item($0.item).adding([("reason", .text($0.problem.rawValue))]) })
            ),
            (
                "altered",
                .list(
                    altered.map {
                        JSONValue.item($0.item).adding([("lost", .list($0.lost.map { .text($0.code) }))])
                    })
            ), ("damaged", .list(damaged.map { $0.map { .item($0) } ?? [:] })),
        ])
    }
}
