internal import KCHomeFiles
internal import KCItemSources
package import KCItemStores
internal import KCLocalKeychains
package import KCReportText
internal import KCSecretService
package import KCStoreTasks

extension NamedStore {
    /// The store for use in a sentence.
    package var words: String { kind == .file ? quoted(name) : storeWords(name) }
}

extension OpenStore {
    /// The kind and contents of the store, above a list of its items.
    package func title(in session: Session) -> [String] {
        switch contents {
        case .ofKeychain, .ofItemLines: []
        case .ofKeyring(let keyring, let count, let collections):
            ["\(keyring.isAll ? "desktop keyring" : keyring.words): \(counted(count, "item"))"]
                + collections.map(\.words)
        case .ofHome(let holdings): HomeText(holdings, session).lines
        case .ofFile(let reading, let path):
            ImportText(path: path, reading: reading, use: .source, session: session).contentLines
        }
    }

    /// The same as members of a JSON object.
    package func members(in session: Session) -> [(String, JSONValue)] {
        switch contents {
        case .ofKeychain, .ofItemLines: []
        case .ofKeyring(let keyring, _, let collections):
            [("keychain", .text(keyring.name)), ("collections", .list(collections.map(\.json)))]
        case .ofHome(let holdings): [("home", HomeText(holdings, session).json)]
        case .ofFile(let reading, let path):
            [("file", .text(path)), ("format", .text(reading.kind.name)), ("holds", reading.contents.json)]
        }
    }

    /// The contents of a file of another program, or of the home, if they were told.
    package func holdings(in session: Session) -> [(String, JSONValue?)] {
        switch contents {
        case .ofHome(let holdings): [("home", HomeText(holdings, session).json)]
        case .ofFile(let reading, _): [("holds", reading.contents.json)]
        case .ofKeychain, .ofKeyring, .ofItemLines: []
        }
    }

    /// True for all collections of the desktop keyring, of which the user could have named one.
    package var isEveryCollection: Bool {
        if case .ofKeyring(let keyring, _, _) = contents { keyring.isAll } else { false }
    }
}

extension Session {
    /// Says how much a store has and could not show, unless it was said before.
    package func tell(_ shortfall: Shortfall) -> ExitStatus {
        if shortfall.damaged > 0 {
            warn("\(counted(shortfall.damaged, "item")) cannot be read: the keychain is damaged")
        }
        return shortfall.isNone ? .ok : .incomplete
    }
}
