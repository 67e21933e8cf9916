package import KCBackupCatalogue
package import KCKeychainModel
internal import KCReportText

/// The table of a report.
package enum ReportRow {
    /// The maximum number of characters in a cell.
    package static let cellLimit = 200

    /// The columns, with the names that the script uses and the titles.
    package static let columns: [(key: String, title: String)] = [
        ("class", "Class"), ("service", "Service or server"), ("account", "Account"), ("label", "Label"),
        ("group", "Group"), ("accessible", "Accessible"), ("created", "Created"), ("changed", "Changed"),
        ("size", "Secret"), ("verdict", "Verdict"),
    ]

    /// The header row.
    package static var header: HTML {
        let cells = columns.map { column -> HTML in "<th scope=\"col\" data-key=\"\(column.key)\">\(column.title)</th>"
        }
        return "<tr>\(cells)</tr>\n"
    }

    /// Returns the row of an item; cells have no end tags, which makes the page a fifth smaller.
    package static func html(_ item: Item, _ verdict: Verdict, _ calendar: LocalCalendar) -> HTML {
        let attributes = item.attributes
        let size: HTML =
            item.secretSize.map { "<td data-bytes=\"\(shown: "\($0)")\">\(shown: byteCount(UInt64($0)))" } ?? "<td>none"
        let ending: HTML = verdict == .restores ? "<td class=\"yes\">" : "<td class=\"no\">"
        return """
            <tr><td>\(shown: item.itemClass.name)\
            <td>\(place(item), limit: cellLimit)\
            <td>\(attributes.shown(.acct) ?? "", limit: cellLimit)\
            <td>\(attributes.shown(.labl) ?? "", limit: cellLimit)\
            <td>\(item.accessGroup, limit: cellLimit)\
            <td>\(broken(item.accessibility))\
            <td>\(shown: calendar.day(item.created))\
            <td>\(shown: calendar.day(item.modified))\
            \(size)\(ending)\(shown: verdict.word)</td>

            """
    }

    /// Returns the service, or the server with its port, if it has one.
    private static func place(_ item: Item) -> String {
        let attributes = item.attributes
        if let service = attributes.shown(.svce) { return service }
        guard let server = attributes.shown(.srvr) else { return "" }
        guard let port = attributes.number(.port), port != 0 else { return server }
        return "\(server):\(port)"
    }

    /// Returns the name of an accessibility, with possible line breaks between its words.
    private static func broken(_ accessibility: Accessibility) -> HTML {
        switch accessibility {
        case .whenUnlocked: "When<wbr>Unlocked"
        case .afterFirstUnlock: "After<wbr>First<wbr>Unlock"
        case .always: "Always"
        case .whenUnlockedThisDeviceOnly: "When<wbr>Unlocked<wbr>This<wbr>Device<wbr>Only"
        case .afterFirstUnlockThisDeviceOnly: "After<wbr>First<wbr>Unlock<wbr>This<wbr>Device<wbr>Only"
        case .alwaysThisDeviceOnly: "Always<wbr>This<wbr>Device<wbr>Only"
        case .whenPasscodeSetThisDeviceOnly: "When<wbr>Passcode<wbr>Set<wbr>This<wbr>Device<wbr>Only"
        }
    }
}
