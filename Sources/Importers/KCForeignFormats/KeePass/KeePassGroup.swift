internal import KCItemSources
internal import KCKeychainModel

/// A group of a KeePass database.
struct KeePassGroup {
    let name: String
    /// The names of the groups around it.
    let folder: String
    /// Its UUID as written; empty if it has none.
    let id: String
    let notes: XMLDocument.Element?
    let modified: Timestamp?
    let otherDataCount: Int
    let isTrashed: Bool
    let hasIcon: Bool
    let hasAutoType: Bool
    let hasTags: Bool
    /// True if there is neither an entry nor a group in it.
    let isEmpty: Bool

    /// - Parameter path: the names of the groups down to this one, without the topmost.
    init(_ element: XMLDocument.Element, in database: KDBXDatabase, path: [String], isTrashed: Bool) {
        let document = database.document
        func isFilled(_ name: String) -> Bool { database.text(name, of: element).map { !$0.isEmpty } ?? false }
        name = database.text("Name", of: element) ?? ""
        folder = path.dropLast().joined(separator: "/")
        id = database.text("UUID", of: element) ?? ""
        notes = document.child("Notes", of: element)
        modified = KeePassEntry.date(
            database.text("LastModificationTime", of: document.child("Times", of: element)))
        otherDataCount = KeePassEntry.otherDataCount(of: element, in: database)
        self.isTrashed = isTrashed
        hasIcon = isFilled("CustomIconUUID")
        hasAutoType = isFilled("DefaultAutoTypeSequence")
        hasTags = isFilled("Tags")
        isEmpty = document.children("Entry", of: element).isEmpty && document.children("Group", of: element).isEmpty
        // They are counted, or say how a program shows the group.
        database.skip(
            [
                "Times", "CustomData", "IconID", "IsExpanded", "EnableAutoType", "EnableSearching",
                "LastTopVisibleEntry", "PreviousParentGroup",
            ], of: element)
    }

    /// Counts what the group has that has no place in a keychain.
    func leaveOut(in collector: RecordCollector) {
        collector.leaveOut("setting of another program", otherDataCount)
        if hasIcon { collector.leaveOut("icon") }
        if hasAutoType { collector.leaveOut("auto-type setting") }
        if hasTags { collector.leaveOut("tag of a group") }
        if isEmpty { collector.leaveOut("empty folder") }
    }
}
