package import KCBackupEngine
internal import KCKeychainModel

extension CompareReport {
    /// The items that were added, removed and changed, and a summary.
    package var lines: [String] {
        let added = wordsApart(added).map { "added    \($0)\n" }
        let removed = wordsApart(removed).map { "removed  \($0)\n" }
        let before = wordsApart(changed.map(\.before))
        let changed = zip(before, self.changed).map { words, change in "changed  \(words): \(change.words)\n" }
        let counts = [
            (added.count, "added"), (removed.count, "removed"), (changed.count, "changed"), (same, "the same"),
        ]
        let summary = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return added + removed + changed + [(summary.isEmpty ? "no items" : summary) + "\n"]
    }
}

extension Item {
    /// True if messages name the item by this attribute, among others.
    fileprivate func isNamed(by code: AttributeCode) -> Bool {
        switch code {
        case .acct, .svce, .srvr: true
        case .labl: attributes.text(.svce) == nil && attributes.text(.srvr) == nil
        default: false
        }
    }
}

extension CompareReport.Change {
    /// The change as text.
    fileprivate var words: String {
        var parts: [String] = []
        // The modification date changes along with everything else.
        let others = attributes.filter { $0 != .mdat }
        let shown = others.isEmpty && secret == .same ? attributes : others
        let names = shown.filter { before.isNamed(by: $0) || after.isNamed(by: $0) }
        parts += names.map { code in
            let (old, new) = (before.attributes.shown(code), after.attributes.shown(code))
            return "\(code.word) \(old.map { quoted($0) } ?? "none") → \(new.map { quoted($0) } ?? "none")"
        }
        parts += shown.filter { !names.contains($0) }.map(\.word)
        parts += extra.map { "extra \(quoted($0))" }
        if hasNewUUID { parts.append("added again") }
        if secret == .changed { parts.append("secret rotated") }
        return parts.joined(separator: ", ")
    }

    /// The JSON object "change".
    package var json: JSONValue {
        [
            "before": .item(before), "after": .item(after), "attributes": .list(attributes.map { .text($0.code) }),
            "extraNames": .list(extra.map { .text($0) }), "secretChange": .text(secret.rawValue),
        ]
    }
}
