internal import KCBackupArchive
package import KCItemSources
internal import KCKeychainModel

extension ItemExport {
    /// The JSON object of `export`.
    ///
    /// - Parameters:
    ///   - lists: what the file does not hold.
    ///   - path: the file, as the user named it.
    ///   - format: the name of its format.
    ///   - size: the size of the file in bytes.
    package func json(
        _ lists: ExportLists, path: String, format: String, isEncrypted: Bool, size: UInt64
    ) -> JSONValue {
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
                .items(lists.staying) { item, number in
                    item.adding([("reason", .text(ExportLists.reason(number).rawValue))])
                }
            ),
            (
                "unheld",
                .items(lists.unheld) { item, number in
                    item.adding([("reason", .text(ExportLists.problem(number).rawValue))])
                }
            ),
            (
                "altered",
                .items(lists.altered) { item, number in
                    item.adding([("lost", .list(ExportLists.lost(number).map { .text($0.code) }))])
                }
            ), ("damaged", .list(damaged.map { $0.map { .item($0) } ?? [:] })),
        ])
    }
}
