package import KCBackupEngine
package import KCItemSources
package import KCKeychainModel
package import KCReportText

/// The proof of an import: how much of each kind is in a file, and how much of it is where it should be.
///
/// Each thing in the file is counted once, so that the numbers of a row add up.
package final class ImportProof {
    private struct Row {
        let kind: String
        var inFile = 0
        var taken = 0
    }

    private var rows: [Row] = []
    /// True if items have to be there already; otherwise those that are written count too.
    private let isCheck: Bool

    /// Counts what did not become items.
    package init(_ contents: ForeignContents, isCheck: Bool) {
        self.isCheck = isCheck
        rows = Self.first.map { Row(kind: $0) }
        for item in contents.refused where !item.problem.isKept { add(item.kind, 1) }
        add("item for one device only", contents.staying.count)
        // No keychain can have these, and a check asks only for what one can have.
        if isCheck { return }
        add("item in the file more than once", contents.duplicates)
        for (kind, count) in contents.leftOut { add(kind, count) }
    }

    // The kinds that come first, if there are any.
    private static let first = [
        RecordPlace.login, .note, .oneTimePassword, .passkey(""), .attachment(""), .field(""),
    ].map(\.kind)

    /// Counts an item that is in the file.
    package func add(_ item: Item, _ action: RestoreAction) {
        let isThere =
            switch action {
            case .same: true
            case .create, .update: !isCheck
            case .keep, .staysBehind, .fail, .notSelected: false
            }
        let isPassword = item.itemClass == .genericPassword || item.itemClass == .internetPassword
        add(isPassword ? RecordPlace(of: item).kind : item.itemClass.name, 1, taken: isThere ? 1 : 0)
    }

    private func add(_ kind: String, _ count: Int, taken: Int = 0) {
        if count == 0 { return }
        let place = rows.firstIndex { $0.kind == kind } ?? rows.count
        if place == rows.count { rows.append(Row(kind: kind)) }
        rows[place].inFile += count
        rows[place].taken += taken
    }

    private var filled: [Row] { rows.filter { $0.inFile > 0 } }

    /// True if all that is in the file is there.
    package var isComplete: Bool { rows.allSatisfy { $0.inFile == $0.taken } }

    /// The table; without rows, no lines.
    package func lines(width: Int?) -> [String] {
        if filled.isEmpty { return [] }
        var table = Table([
            Table.Column(title: isCheck ? "CHECKED" : "IMPORTED", least: 12, isWhole: true),
            Table.Column(title: "IN THE FILE", alignment: .right),
            Table.Column(title: isCheck ? "THE SAME HERE" : "TAKEN", alignment: .right),
            Table.Column(title: isCheck ? "NOT THE SAME" : "LEFT OUT", alignment: .right),
        ])
        for row in filled {
            table.append([plural(row.kind), "\(row.inFile)", "\(row.taken)", "\(row.inFile - row.taken)"])
        }
        return table.lines(width: width)
    }

    package var json: JSONValue {
        .list(
            filled.map {
                [
                    "kind": .text($0.kind), "inFile": .number($0.inFile), "taken": .number($0.taken),
                    "leftOut": .number($0.inFile - $0.taken),
                ]
            })
    }
}
