internal import KCBackupArchive
internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// Exports what an archive would restore into an empty keychain.
package struct ExportBackup {
    private let restore: Bring

    /// - Throws: as `Bring.init`.
    package init(_ proven: ProvenArchive, options: RestoreOptions) throws {
        restore = try Bring(.archive(proven), options: options)
    }

    /// Passes the items to an export, after the archive has been read to its end once.
    ///
    /// - Parameters:
    ///   - export: what takes the items, and records those that are not exported.
    ///   - step: called once per item and reading.
    /// - Throws: as `Bring.run`.
    package func run(to export: ItemExport, step: @escaping () -> Void) throws -> ItemExport {
        var visitor = SelectedItems(export)
        let report = try restore.visit(&visitor, step: step)
        for staying in report.stayingBehind { try export.leave(staying.item) }
        for failing in report.failing { export.skip(damaged: failing.item) }
        export.unreadCount = report.contents.damaged
        return export
    }
}

/// Passes an export the items that it selects.
private struct SelectedItems: ItemVisitor {
    private var export: ItemExport

    init(_ export: ItemExport) {
        self.export = export
    }

    func wants(_ item: Item) throws -> Bool { try export.wants(item) }

    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws {
        try export.take(item, line: line, secret: secret)
    }

    func skip(damaged item: Item?) { export.skip(damaged: item) }
}
