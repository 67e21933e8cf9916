package import KCBackupCatalogue

extension Retention.Reason {
    /// The reason as text, in restic's terms.
    package var words: String {
        switch self {
        case .rule(let rule): rule.words
        case .oldest(let rule): "oldest \(rule.words)"
        case .within: "within"
        case .newest: "newest"
        case .future: "dated in the future"
        case .uncopied: "to be copied"
        case .incompleteRun: "incomplete run"
        }
    }
}

extension Retention.Rule {
    fileprivate var words: String { self == .last ? "last" : rawValue }
}

extension BackupFolder.Fate {
    /// True if a rule decided about the archive.
    package var isCounted: Bool {
        switch decision {
        case .kept, .removed: true
        case .notCounted: false
        }
    }
}
