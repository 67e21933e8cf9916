internal import KCBackupEngine
internal import KCKeychainModel
internal import KCReportText

/// What bringing back a state of the desktop keyring changes.
struct DesktopUndoPlan {
    /// Items that were deleted since.
    private(set) var created: [Item] = []
    /// Items as they were, which other versions replaced.
    private(set) var changed: [Item] = []
    /// Items that were added since.
    var removed: [Item] = []

    mutating func add(_ item: Item, _ action: RestoreAction) {
        if action == .create { created.append(item) }
        if action == .update { changed.append(item) }
    }

    /// The question to ask first; nil if nothing is lost.
    ///
    /// - Parameter undone: what is taken back, after "Take back".
    func question(_ undone: String, _ keyring: DesktopKeyring) -> String? {
        let parts = [
            changed.isEmpty ? nil : "sets back \(counted(changed.count, "item"))",
            removed.isEmpty ? nil : "removes \(counted(removed.count, "item"))",
        ].compactMap { $0 }
        if parts.isEmpty { return nil }
        return "Take back \(undone), which \(parts.joined(separator: " and ")) of \(keyring.words)?"
    }

    /// Lists the items that change, come back or go.
    ///
    /// - Parameter isDone: true if the state has been brought back.
    func tell(isDone: Bool, in list: inout ChangeList) {
        let start = isDone ? "" : "would be "
        list.add(changed) { _, words in "\(start)set back: \(words)" }
        list.add(created) { _, words in "\(start)brought back: \(words)" }
        list.add(removed) { _, words in "\(start)removed, and not in that state: \(words)" }
    }
}
