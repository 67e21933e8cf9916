internal import KCByteStreams
internal import KCForeignReader
package import KCItemSources
internal import KCKeychainModel

/// A keyring that an app in a sandbox of Flatpak has for itself.
package struct AppKeyring: Sendable {
    /// Its path below the home.
    package let path: String
    /// The ID of the app; foreign text.
    package let app: String
    /// The number of items, which the file shows without a password; nil if it cannot be read.
    package let itemCount: Int?
}

/// The keyrings of apps in sandboxes, and whether the desktop keyring has what opens them.
package struct AppKeyrings {
    package let keyrings: [(keyring: AppKeyring, state: State)]

    // In bytes. The app may write anything into the file; a keyring of 10,000 items has 5 MB.
    private static let sizeLimit = 16 << 20

    /// The known state of a keyring.
    package enum State {
        /// The desktop keyring has the secret that opens it.
        case opens
        /// The desktop keyring has no secret for the app, or none that opens the keyring.
        case isLost(hasOther: Bool)
        /// The desktop keyring could not be searched.
        case isUnknown(KeyringSecrets.Gap)
        case isDamaged(ForeignFailure)
        /// Why it cannot be read.
        case isUnread(any Error)
    }

    // An app may write anything into the file.
    private static let patience = Duration.seconds(60)

    /// Finds the keyrings of a home that have items; those that cannot be opened are not among them.
    ///
    /// - Throws: `StreamFailure` and `SecretServiceFailure` if interrupted.
    package init(in machine: Machine) throws {
        var found: [(keyring: AppKeyring, state: State)] = []
        var secrets: KeyringSecrets?
        var reader = machine.reader
        reader.patience = Self.patience
        for (path, app) in try KeyringPlaces.ofApps(in: machine.home) {
            let input = try KeyringPlaces.readable { try Self.input("\(machine.home)/\(path)") }
            guard let input else { continue }
            do {
                let count = try reader.outline(input).itemCount
                if count == 0 { continue }
                let known = try secrets ?? KeyringSecrets(.ofApp(nil), in: machine)
                secrets = known
                let state = try Self.state(of: input, app, known, reader)
                found.append((AppKeyring(path: path, app: app, itemCount: count), state))
            } catch let failure as ForeignFailure {
                found.append((AppKeyring(path: path, app: app, itemCount: nil), .isDamaged(failure)))
            } catch {
                if Interruption.isRequested { throw error }
                found.append((AppKeyring(path: path, app: app, itemCount: nil), .isUnread(error)))
            }
        }
        keyrings = found
    }

    private static func input(_ path: String) throws -> ReaderInput {
        let file = try OpenFile.reading(path)
        guard try file.size() <= sizeLimit else { throw FileFailure(path, .tooLarge(limit: sizeLimit)) }
        return try ReaderInput(file)
    }

    private static func state(
        of input: ReaderInput, _ app: String, _ secrets: KeyringSecrets, _ reader: ReaderProgram
    ) throws -> State {
        let own = secrets.found.filter { $0.app?.exact == app.exact }
        if !own.isEmpty {
            do {
                _ = try reader.read(
                    input, ReaderProgram.Choice(.gnomeKeyring), secrets: FoundSecrets(own.map(\.secret)))
                return .opens
            } catch ForeignFailure.noAppSecret {
                // The secrets are for an earlier keyring.
            }
        }
        return secrets.gap.map { .isUnknown($0) } ?? .isLost(hasOther: !own.isEmpty)
    }

    /// The secrets that the desktop keyring keeps for an app.
    private struct FoundSecrets: ForeignSecrets {
        private let secrets: [KeptPassword]

        init(_ secrets: [KeptPassword]) { self.secrets = secrets }

        var isPasswordGiven: Bool { false }

        /// Asked for where a link leads to the folder, so that nothing tells whose it is.
        func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {
            for secret in secrets {
                do {
                    return try use(secret.password)
                } catch ForeignFailure.wrongPasswordOrDamaged {
                    // Another one may open it.
                }
            }
            throw ForeignFailure.noAppSecret(app: nil)
        }

        func keyFile() -> ForeignFile? { nil }

        func keyringSecrets(_ wanted: KeyringItems, _ use: (borrowing SecretBytes) throws -> Void) throws {
            for secret in secrets { try use(secret.password) }
        }
    }
}
