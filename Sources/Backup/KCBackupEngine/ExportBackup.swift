internal import KCBackupArchive
internal import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// Exports what an archive would restore into an empty keychain.
package struct ExportBackup {
    private let restore: RestoreBackup

    /// - Throws: as `RestoreBackup.init`.
    package init(_ proven: ProvenArchive, options: RestoreOptions) throws {
        restore = try RestoreBackup(proven, options: options)
    }

    /// Passes the items to an export, after the archive has been read to its end once.
    ///
    /// - Parameters:
    ///   - export: what takes the items, and records those that are not exported.
    ///   - step: called once per item and reading.
    /// - Throws: as `RestoreBackup.run`.
    package func run(to export: ItemExport, step: @escaping () -> Void) throws -> ItemExport {
        let target = ExportTarget(export)
        let report = try restore.run(into: target, step: step)
        for staying in report.stayingBehind { export.leave(staying.item) }
        for failing in report.failing { export.skip(damaged: failing.item) }
        export.unreadCount = report.contents.damaged
        return export
    }
}

/// Collects what an archive would restore into an empty keychain.
private struct ExportTarget: ItemTarget, ItemWriter {
    let export: ItemExport

    init(_ export: ItemExport) {
        self.export = export
    }

    var isEmpty: Bool { true }

    func readItems<Result>(_ body: (any ExistingItems) throws -> Result) throws -> Result { try body(self) }

    func writeItems<Result>(_ body: (any ItemWriter) throws -> Result) throws -> Result { try body(self) }

    func item(withKeyOf item: Item) -> Item? { nil }

    func item(withUUID uuid: ItemUUID) -> Item? { nil }

    func secret(of existing: Item, equals secret: borrowing SecretBytes, in form: SecretForm) -> Bool { false }

    func localItems(_ local: LocalItems, _ body: (Item) throws -> Void) -> Int { 0 }

    func removeLocalItems(_ local: LocalItems, except staying: Set<ItemUUID>) -> Int { 0 }

    func put(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, in form: SecretForm, replacing: Item?
    ) throws {
        precondition(form == .plain, "an export has no keys of its own")
        if export.wants(item) { try export.take(item, line: line, secret: secret) }
    }
}
