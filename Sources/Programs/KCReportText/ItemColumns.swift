internal import KCBackupArchive
package import KCBackupCatalogue
internal import KCHomeFiles
package import KCKeychainModel

/// The columns of items in `item list` and `inspect`.
///
/// The column that tells where an item restores is never cut or left out; of the others, the names are left out last,
/// unless all rows have the same name, as the files of a home have.
package enum ItemColumns {
    package static let all: [Table.Column] = [
        Table.Column(title: "CLASS", yields: 10, yieldsIfEqual: 2),
        Table.Column(title: "SERVICE", least: 24, fewest: 8, yieldsIfEqual: 3, standIn: "ACCOUNT"),
        Table.Column(title: "ACCOUNT", least: 18, fewest: 7),
        Table.Column(title: "LABEL", least: 18, fewest: 8, yields: 11, repeats: "SERVICE"),
        Table.Column(title: "COLLECTION", least: 10, yields: 10),
        Table.Column(title: "GROUP", least: 8, yields: 7, yieldsIfEqual: 1), Table.Column(title: "TRAVELS"),
        Table.Column(title: "ACCESSIBLE", yields: 0), Table.Column(title: "SYNC", yields: 6),
        Table.Column(title: "CREATED", yields: 5), Table.Column(title: "MODIFIED", yields: 4),
        Table.Column(title: "SIZE", alignment: .right, yields: 8),
        // Apple's codes for the class and the accessibility.
        Table.Column(title: "CODE", isForWide: true), Table.Column(title: "PDMN", isForWide: true),
    ]

    /// The default order: by service or server, then by account.
    package static let usualOrder = ["service", "account"]

    /// Replaces `row` with the cells of an item.
    ///
    /// - Parameter mode: the mode of the archive that contains the item; nil for an item in a keychain.
    package static func write(
        _ item: Item, _ calendar: LocalCalendar, in mode: ArchiveMode? = nil, to row: inout TableRow
    ) {
        let attributes = item.attributes
        row.removeAll()
        row.append(item.itemClass.word)
        if !row.append(.svce, of: attributes), !row.append(.srvr, of: attributes) { row.append("") }
        for code in [AttributeCode.acct, .labl] where !row.append(code, of: attributes) { row.append("") }
        row.append(item.collection ?? "")
        if !row.append(.agrp, of: attributes) { row.append("") }
        row.append(travels(item, in: mode ?? .encrypted))
        row.append(item.accessibility.name)
        row.append(item.isSynchronizable ? "yes" : "")
        row.append { text in calendar.append(day: item.created, to: &text) }
        row.append { text in calendar.append(day: item.modified, to: &text) }
        row.append(item.secretSize.map { byteCount(UInt64($0)) } ?? "none")
        row.append(item.itemClass.rawValue)
        row.append(item.accessibility.rawValue)
    }

    /// Returns where an item restores, from the verdicts for the device that made the archive and for another device.
    private static func travels(_ item: Item, in mode: ArchiveMode) -> String {
        let accessibility = item.accessibility
        if Verdict.decide(accessibility, in: mode, onSameDevice: false) == .restores {
            return item.isOfOneMachine ? "its machine" : "anywhere"
        }
        return Verdict.decide(accessibility, in: mode, onSameDevice: true) == .restores ? "this device" : "nowhere"
    }
}

extension ItemClass {
    /// The word for `--class`.
    package var word: String {
        switch self {
        case .genericPassword: "generic"
        case .internetPassword: "internet"
        case .certificate: "certificate"
        case .key: "key"
        }
    }
}
