internal import KCExportFormats
internal import KCItemSources
internal import KCKeychainModel
internal import KCReportText
internal import KCTerminal

/// Describes the result of an export, as text and in JSON.
struct ExportText {
    let export: ItemExport
    let lists: ExportLists
    let format: ExportFormat
    let path: String
    let isEncrypted: Bool
    /// The size of the file in bytes.
    let size: UInt64
    /// The number of cells that a spreadsheet would interpret as formulas.
    let formulas: Int
    /// The writer's remarks about the file.
    let remarks: [String]

    /// Lists the items that are not in the file, even without a terminal.
    ///
    /// - Parameter told: the number of unreadable items that were named before.
    static func list(_ export: ItemExport, _ lists: ExportLists, told: Int, _ session: Session) throws {
        var list = ChangeList(isDryRun: false, in: session)
        try list.add(lists.staying) { Remark("stays", because: ExportLists.reason($0).words) }
        try list.add(lists.unheld) { Remark("not exported", because: ExportLists.problem($0).words) }
        try list.add(lists.altered) {
            Remark("will come back without its \(listed(ExportLists.lost($0).map(\.word)))")
        }
        let asking = export.asking
        if asking > 0 {
            session.warn("\(counted(asking, "item")) asked for the passcode each time, which no other program does")
        }
        if export.unreadCount > 0 {
            session.warn(lackingWords(export.unreadCount))
        }
        session.warn(each: export.damaged.dropFirst(told).map { $0?.words ?? "an unreadable item" }) { _ in
            Remark("not exported, since it is damaged")
        }
    }

    func tell(_ session: Session) throws {
        session.noteDone(
            "\(displayed(path)): \(counted(export.exported.total, "item")), \(byteCount(size)), \(format.title)")
        if !isEncrypted {
            session.warn(
                "\(quoted(path)) holds the secrets of \(counted(export.exported.total, "item")) in the clear; delete it when "
                    + "it is no longer needed")
        }
        if formulas > 0 {
            session.warn(
                "\(counted(formulas, "cell")) of \(quoted(path)) \(formulas == 1 ? "begins" : "begin") with '=', '+', '-' or "
                    + "'@', which a spreadsheet takes for a formula: do not open it in one")
        }
        for remark in remarks { session.warn(displayed(remark, limit: 400)) }
        guard session.style.isJSON else { return }
        try session.result(
            export.json(lists, path: path, format: format.rawValue, isEncrypted: isEncrypted, size: size), [])
    }
}
