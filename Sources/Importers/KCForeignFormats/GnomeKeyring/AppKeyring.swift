package import KCByteStreams
package import KCItemSources
internal import KCKeychainModel

/// A keyring that an app in a sandbox of Flatpak has for itself.
///
/// Its password is a secret that the portal of the desktop keeps for the app in the keyring of the desktop. Sources:
/// libsecret, `secret-file-backend.c`; gnome-keyring, `daemon/dbus/gkd-secret-portal.c`.
package struct AppKeyring: Sendable {
    /// Its path below the home.
    package let path: String
    /// The ID of the app; foreign text.
    package let app: String
    /// The number of items, which the file shows without a password, or why the file cannot be read.
    package let itemCount: Result<Int, ForeignFailure>
    private let input: ForeignInput

    // Where Flatpak keeps the data of apps, and they their keyrings in it.
    private static let apps = ".var/app"
    private static let keyrings = "data/keyrings"
    // In bytes. The app writes the file, and nobody asked for it to be read; a keyring of 10,000 items has 5 MB.
    private static let sizeLimit = 16 << 20

    /// Finds the keyrings of all apps in a home, sorted; those that cannot be read are not among them.
    ///
    /// - Throws: `StreamFailure` if interrupted.
    package static func find(in home: String) throws -> [AppKeyring] {
        var found: [AppKeyring] = []
        for app in try readable({ try Path.names(in: "\(home)/\(apps)") }) ?? [] {
            let folder = "\(apps)/\(app)/\(keyrings)"
            let names = try readable {
                try Path.kind(of: "\(home)/\(apps)/\(app)") == .folder
                    ? KeyringFolder.names(in: "\(home)/\(folder)") : []
            }
            for name in names ?? [] {
                let keyring = try readable { try AppKeyring(path: "\(folder)/\(name)", app: app, in: home) }
                if let keyring { found.append(keyring) }
            }
        }
        return found.sorted { $0.path.exact < $1.path.exact }
    }

    /// The result of `body`; nil for what cannot be read, which is told where files are backed up.
    private static func readable<Value>(_ body: () throws -> Value) throws -> Value? {
        do {
            return try body()
        } catch is FileFailure {
            return nil
        } catch let failure as StreamFailure where failure.kind != .interrupted {
            return nil
        }
    }

    private init(path: String, app: String, in home: String) throws {
        self.path = path
        self.app = app
        let open = try OpenFile.reading("\(home)/\(path)")
        guard try open.size() <= Self.sizeLimit else {
            throw FileFailure(open.path, .tooLarge(limit: Self.sizeLimit))
        }
        let file = try ForeignFile(reading: open)
        input = ForeignInput(path: "\(home)/\(path)", .file(file))
        itemCount = Result { () throws(ForeignFailure) in try KeyringOutline.outline(of: file, at: path).items }
    }

    /// The ID of the app that a folder of keyrings belongs to; nil for any other folder.
    static func app(ofFolder path: String) -> String? {
        let names = (Path.real(path) ?? path).exact.split(separator: "/")
        let depth = names.last?.exact == KeyringFile.folderOfOO7.exact ? 1 : 0
        let end = names.dropLast(depth).suffix(5)
        let form = (apps + "/*/" + keyrings).exact.split(separator: "/")
        guard end.count == 5, zip(end, form).allSatisfy({ $1.exact == "*" || $0.exact == $1.exact }) else { return nil }
        return end[end.startIndex + 2]
    }

    /// True if a secret of the portal opens it.
    ///
    /// - Throws: `ForeignFailure` for a file that is damaged whatever opens it, `CryptographyFailure`.
    package func opens(with secret: borrowing SecretBytes) throws -> Bool {
        do {
            _ = try GnomeKeyringFormat().read(input, AppSecret(text: secret.copy()))
            return true
        } catch ForeignFailure.wrongPasswordOrDamaged {
            return false
        }
    }

    /// A single secret, which is given.
    private final class AppSecret: ForeignSecrets {
        private let text: SecretBytes

        init(text: consuming SecretBytes) {
            self.text = text
        }

        func password(_ what: String, _ use: (borrowing SecretBytes) throws -> Void) throws { try use(text) }

        func keyFile() -> ForeignFile? { nil }
    }
}

/// The secrets for a keyring that may be the one of an app: nobody knows its password, so none is asked for.
struct AppKeyringSecrets: ForeignSecrets {
    private let secrets: any ForeignSecrets
    /// The ID of the app; nil for a keyring elsewhere, which a key file may open all the same.
    private let app: String?

    /// - Parameter folder: the folder of the keyring.
    init(_ secrets: any ForeignSecrets, ofFolder folder: String) {
        self.secrets = secrets
        app = AppKeyring.app(ofFolder: folder)
    }

    var isPasswordGiven: Bool { secrets.isPasswordGiven }

    func keyFile() throws -> ForeignFile? { try secrets.keyFile() }

    func password(_ what: String, _ use: (borrowing SecretBytes) throws -> Void) throws {
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
