internal import KCByteStreams
package import KCForeignFormats
package import KCItemSources

/// The keyrings of apps in sandboxes, and whether the desktop keyring has what opens them.
package struct AppKeyrings {
    package let keyrings: [(keyring: AppKeyring, state: State)]

    /// The known state of a keyring.
    package enum State {
        /// The desktop keyring has the secret that opens it.
        case opens
        /// The desktop keyring has no secret for the app, or none that opens the keyring.
        case isLost(hasOther: Bool)
        /// The desktop keyring could not be searched.
        case isUnknown(KeyringSecrets.Gap)
        case isDamaged(ForeignFailure)
    }

    /// Finds the keyrings of a home that have items.
    ///
    /// - Throws: `StreamFailure` and `SecretServiceFailure` if interrupted, `CryptographyFailure`.
    package init(in machine: Machine) throws {
        let found = try AppKeyring.find(in: machine.home).filter {
            if case .success(0) = $0.itemCount { false } else { true }
        }
        guard !found.isEmpty else {
            keyrings = []
            return
        }
        let secrets = try KeyringSecrets(.ofApp(nil), in: machine)
        keyrings = try found.map { ($0, try Self.state(of: $0, secrets)) }
    }

    private static func state(of keyring: AppKeyring, _ secrets: KeyringSecrets) throws -> State {
        do {
            _ = try keyring.itemCount.get()
            let own = secrets.found.filter { $0.app?.exact == keyring.app.exact }
            for (_, secret) in own where try keyring.opens(with: secret.password) { return .opens }
            return secrets.gap.map { .isUnknown($0) } ?? .isLost(hasOther: !own.isEmpty)
        } catch let failure as ForeignFailure {
            return .isDamaged(failure)
        }
    }
}
