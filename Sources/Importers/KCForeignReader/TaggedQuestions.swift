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

extension ForeignPassword {
    /// The password of this name; nil for another one.
    init?(_ tagged: Tagged) {
        switch (tagged.name, tagged.text().flatMap(ForeignKind.init(rawValue:))) {
        case ("file", let kind?): self = .file(kind)
        case ("key-file", let kind?): self = .keyFile(kind)
        case ("keyrings", _): self = .keyrings
        default: return nil
        }
    }

    var tagged: Tagged {
        switch self {
        case .file(let kind): Tagged("file", [kind.rawValue])
        case .keyFile(let kind): Tagged("key-file", [kind.rawValue])
        case .keyrings: Tagged("keyrings")
        }
    }
}
