internal import KCByteStreams
internal import KCForeignFormats
internal import KCItemSources
internal import KCReportText
internal import KCStoreTasks

/// The keyrings of apps in sandboxes, and whether the desktop keyring has what opens them.
struct AppKeyrings {
    private(set) var keyrings: [(keyring: AppKeyring, state: State)] = []

    /// What is known of a keyring.
    enum State: Hashable {
        /// The desktop keyring has the secret that opens it.
        case opens
        /// It has no secret for the app, or none that opens it.
        case isLost(hasOther: Bool)
        /// It could not be searched, for this reason.
        case isUnknown(String)
        /// The file is damaged; the text says how.
        case isDamaged(String)
    }

    /// Finds the keyrings of a home that have items.
    ///
    /// - Throws: `StreamFailure` and `SecretServiceFailure` if interrupted, `CryptographyFailure`.
    init(in session: Session) throws {
        let found = try AppKeyring.find(in: session.machine.home).filter {
            if case .success(0) = $0.itemCount { false } else { true }
        }
        if found.isEmpty { return }
        let secrets = try KeyringSecrets(.ofApp(nil), in: session)
        keyrings = try found.map { ($0, try Self.state(of: $0, secrets)) }
    }

    private static func state(of keyring: AppKeyring, _ secrets: KeyringSecrets) throws -> State {
        do {
            _ = try keyring.itemCount.get()
            let own = secrets.found.filter { $0.app?.exact == keyring.app.exact }
            for (_, secret) in own where try keyring.opens(with: secret.password) { return .opens }
            return secrets.gap.map { .isUnknown($0) } ?? .isLost(hasOther: !own.isEmpty)
        } catch let failure as ForeignFailure {
            return .isDamaged(failure.keyringWords)
        }
    }

    /// Lines that say what opens each keyring.
    var lines: [String] { keyrings.map { "\(quoted("~/" + $0.path)): \(Self.words($0, $1))" } }

    /// What `doctor` warns of: the secrets of an app are lost, or would be with the desktop keyring as it is.
    var warnings: [String] {
        zip(keyrings, lines).compactMap { entry, line -> String? in
            switch entry.state {
            case .opens, .isUnknown: nil
            case .isDamaged: line
            case .isLost:
                "\(line); an archive of the desktop keyring may have it: 'kcbackup restore' brings it back, and until then "
                    + "the app finds none of its secrets"
            }
        }
    }

    private static func words(_ keyring: AppKeyring, _ state: State) -> String {
        let count = if case .success(let count) = keyring.itemCount { counted(count, "item") } else { "a keyring" }
        let needed = "opens only with the secret that the desktop keyring keeps for the app \(quoted(keyring.app))"
        return switch state {
        case .opens: "\(count), which the desktop keyring opens"
        case .isLost(let hasOther): "\(count), \(needed), and it \(hasOther ? "has another one" : "has none")"
        case .isUnknown(let gap): "\(count), \(needed), which \(gap)"
        case .isDamaged(let problem): "\(count) of the app \(quoted(keyring.app)): \(problem)"
        }
    }

    /// The JSON list "appKeyrings".
    var json: JSONValue {
        .list(
            keyrings.map { keyring, state in
                var items: JSONValue?
                if case .success(let count) = keyring.itemCount { items = .number(count) }
                return .members([
                    ("path", .text("~/" + keyring.path)), ("app", .text(keyring.app)), ("items", items),
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
        }
    }
}
