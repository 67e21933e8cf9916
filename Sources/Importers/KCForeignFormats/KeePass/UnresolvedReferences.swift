internal import KCItemSources

/// The entries of a KeePass database in which references to other entries stay as they are.
struct UnresolvedReferences {
    /// Why a reference is not followed.
    enum Reason: String, CaseIterable {
        case within = "references within longer text, and by a password, were left unresolved"
        case secret = "references to passwords and notes in titles, user names or addresses were left unresolved"
        case missing = "references to missing entries were left unresolved"
        case circular = "circular references were left unresolved"
    }

    private var entries: [Reason: (names: [String], count: Int)] = [:]

    /// The number of names that a message lists.
    private static let shownNames = 5

    /// Notes an entry by its name, which is foreign text.
    mutating func add(_ reason: Reason, _ name: String) {
        var known = entries[reason] ?? ([], 0)
        if known.names.last == name { return }
        known.count += 1
        if known.names.count < Self.shownNames { known.names.append(name) }
        entries[reason] = known
    }

    /// Says which entries these are.
    func tell(_ collector: RecordCollector) {
        for reason in Reason.allCases {
            guard let (names, count) = entries[reason] else { continue }
            let others = count - names.count
            let rest = others == 0 ? "" : others == 1 ? " and 1 other" : " and \(others) others"
            collector.remark("\(reason.rawValue) in " + names.map { "'\($0)'" }.joined(separator: ", ") + rest)
        }
    }
}
