internal import KCItemSources

extension KeyringItems {
    /// The items of this name; nil for another one.
    init?(_ tagged: Tagged) {
        switch tagged.name {
        case "labeled":
            guard let ending = tagged.text() else { return nil }
            self = .labeled(ending: ending)
        case "of-app": self = .ofApp(tagged.text())
        default: return nil
        }
    }

    var tagged: Tagged {
        switch self {
        case .labeled(let ending): Tagged("labeled", [ending])
        case .ofApp(let app): Tagged("of-app", app.map { [$0] } ?? [])
        }
    }
}
