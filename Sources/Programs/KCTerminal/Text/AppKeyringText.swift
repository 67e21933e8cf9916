internal import KCByteStreams
internal import KCItemSources
package import KCReportText
package import KCStoreTasks

extension AppKeyrings {
    /// Lines that say what opens each keyring.
    package var lines: [String] { keyrings.map { Self.line($0, $1) } }

    /// The warning of `doctor`: the secrets of an app are lost, or would be with the desktop keyring as it is.
    package static func warning(_ keyring: AppKeyring, _ state: State) -> String {
        let line = line(keyring, state)
        guard case .isLost = state else { return line }
        return "\(line); an archive of the desktop keyring may have it: 'kcbackup restore' brings it back, and until "
            + "then the app finds none of its secrets"
    }

    private static func line(_ keyring: AppKeyring, _ state: State) -> String {
        "\(quoted("~/" + keyring.path)): \(words(keyring, state))"
    }

    private static func words(_ keyring: AppKeyring, _ state: State) -> String {
        let count = keyring.itemCount.map { counted($0, "item") } ?? "a keyring"
        let needed = "opens only with the secret that the desktop keyring keeps for the app \(quoted(keyring.app))"
        return switch state {
        case .opens: "\(count), which the desktop keyring opens"
        case .isLost(let hasOther): "\(count), \(needed), and it \(hasOther ? "has another one" : "has none")"
        case .isUnknown(let gap): "\(count), \(needed), which \(gap.words)"
        case .isDamaged(let failure): "\(count) of the app \(quoted(keyring.app)): \(failure.keyringWords)"
        case .isUnread(let failure): "\(count) of the app \(quoted(keyring.app)): \(whyUnread(failure))"
        }
    }

    /// The JSON list "appKeyrings".
    package var json: JSONValue {
        .list(
            keyrings.map { keyring, state in
                .members([
                    ("path", .text("~/" + keyring.path)), ("app", .text(keyring.app)),
                    ("items", keyring.itemCount.map { .number($0) }),
                    ("state", .text(Self.name(of: state))),
                ])
            })
    }

    private static func name(of state: State) -> String {
        switch state {
        case .opens: "opens"
        case .isLost(let hasOther): hasOther ? "other-secret" : "no-secret"
        case .isUnknown: "unknown"
        case .isDamaged: "damaged"
        case .isUnread: "unread"
        }
    }
}
