package import KCBackupArchive
package import KCKeychainModel

/// The items that `inspect` shows, and the verdicts about them.
package struct InspectSelection {
    package let filter: ItemFilter?
    /// True to show only items that stay behind.
    package let onlyStaying: Bool
    let mode: ArchiveMode
    package let isSameDevice: Bool

    /// Creates a selection; the properties describe the parameters.
    package init(filter: ItemFilter?, onlyStaying: Bool, mode: ArchiveMode, isSameDevice: Bool) {
        self.filter = filter
        self.onlyStaying = onlyStaying
        self.mode = mode
        self.isSameDevice = isSameDevice
    }

    package func includes(_ item: Item) -> Bool {
        guard filter?.matches(item) ?? true else { return false }
        return !onlyStaying || verdict(item) != .restores
    }

    package func verdict(_ item: Item) -> Verdict {
        Verdict.decide(item.accessibility, in: mode, onSameDevice: isSameDevice)
    }
}

/// The text below the list.
package struct InspectSummary {
    package var contents: ArchiveContents?
    package var shown = 0
    private var byClass = ItemCounts()
    private var byReason: [Verdict.Reason: Int] = [:]

    package init() {}

    package var total: Int { byClass.total }

    package mutating func add(_ item: Item, _ verdict: Verdict) {
        byClass[item.itemClass] += 1
        if case .staysBehind(let reason) = verdict { byReason[reason, default: 0] += 1 }
    }

    package var lines: [String] {
        let classes = ItemClass.allCases.filter { byClass[$0] > 0 }.map { counted(byClass[$0], $0.name) }
        var lines = [
            "\n" + counted(total, "item") + (classes.isEmpty ? "" : ": " + classes.joined(separator: ", ")) + "\n"
        ]
        let staying = Verdict.Reason.allCases.compactMap { reason in byReason[reason].map { (reason, $0) } }
        for (reason, count) in staying {
            lines.append("\(count == 1 ? "1 stays" : "\(count) stay") behind: \(reason.words)\n")
        }
        if let contents {
            if contents.omitted > 0 {
                let are = contents.omitted == 1 ? "is" : "are"
                lines.append(
                    "\(counted(contents.omitted, "item")) of the keychain \(are) in no archive: "
                        + "WhenPasscodeSetThisDeviceOnly\n")
            }
            if contents.damaged > 0 {
                lines.append(lackingWords(contents.damaged) + "\n")
            }
        }
        return lines
    }
}
