internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// The secrets for a keyring that may be an app's, whose password the user does not know and is not asked for.
///
/// Its password is a secret that the portal of the desktop keeps for the app in the keyring of the desktop. Sources:
/// libsecret, `secret-file-backend.c`; gnome-keyring, `daemon/dbus/gkd-secret-portal.c`.
struct AppKeyringSecrets: ForeignSecrets {
    private let secrets: any ForeignSecrets
    /// The ID of the app; nil for a keyring elsewhere, which a key file may open all the same.
    private let app: String?

    /// - Parameter realFolder: the path of the folder of the keyring, without links; nil for a pipe.
    init(_ secrets: any ForeignSecrets, in realFolder: String?) {
        self.secrets = secrets
        app = realFolder.flatMap { KeyringPlaces.app(ofFolder: $0) }
    }

    var isPasswordGiven: Bool { secrets.isPasswordGiven }

    func keyFile() throws -> ForeignFile? { try secrets.keyFile() }

    func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws {
        let keyFile = try secrets.keyInput()
        if keyFile == nil, app == nil || secrets.isPasswordGiven { return try secrets.password(what, use) }
        var isOpen = false
        func attempt(_ secret: borrowing SecretBytes) throws {
            if isOpen { return }
            do {
                try use(secret)
                isOpen = true
            } catch ForeignFailure.wrongPasswordOrDamaged {
                // Another one may open it.
            }
        }
        if let keyFile {
            var visitor = AppSecrets(wanted: .ofApp(app))
            try KeyringAsKey.read(keyFile, secrets).visitItems(&visitor)
            for secret in visitor.found { try attempt(secret.bytes) }
        } else {
            try secrets.keyringSecrets(.ofApp(app)) { try attempt($0) }
        }
        if !isOpen { throw ForeignFailure.noAppSecret(app: app) }
    }
}

/// Keeps the secrets of the items of a keyring that open those of apps.
private struct AppSecrets: ItemVisitor {
    final class Secret {
        let bytes: SecretBytes

        init(_ bytes: consuming SecretBytes) {
            self.bytes = bytes
        }
    }

    let wanted: KeyringItems
    var found: [Secret] = []

    func wants(_ item: Item) -> Bool { wanted.includes(item) }

    mutating func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) {
        found.append(Secret(secret.copy()))
    }

    func skip(damaged item: Item?) {}
}
