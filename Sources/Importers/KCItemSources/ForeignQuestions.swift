internal import KCByteStreams

/// The secrets that a format asks for: a process that reads a file of it, and is believed nothing, is given no others.
extension ForeignKind {
    /// True if a file of this kind, or the key file of one, has a password of this name.
    package func asks(forPassword name: String) -> Bool {
        if passwords.contains(where: { $0.exact == name.exact }) { return true }
        guard Self.openedByKeyrings.contains(self), let password = name.exact.removingSuffix(Self.ofKeyFile) else {
            return false
        }
        return Self.keyrings.contains { keyring in keyring.passwords.contains { $0.exact == password.exact } }
    }

    /// The end of the name of a password that opens a keyring in the place of a key file.
    package static let ofKeyFile = " that is the key file"
    private static let openedByKeyrings: Set<ForeignKind> = [.chromium, .gnomeKeyring]
    private static let keyrings: [ForeignKind] = [.gnomeKeyring, .kwallet, .macKeychain]

    private var passwords: [String] {
        switch self {
        case .gnomeKeyring: ["password of the keyring", "password of the keyrings"]
        case .kwallet: ["password of the wallet"]
        case .macKeychain: ["password of the keychain"]
        case .bitwarden: ["password of the Bitwarden export"]
        case .opVault: ["password of the vault"]
        case .passage: ["passphrase of the identities"]
        case .keePass, .keePass1: ["password of the KeePass database"]
        case .passwordSafe: ["password of the database"]
        case .appleBackup: ["password of the backup"]
        case .firefox: ["primary password of the profile"]
        case .chromium: ["'\(KeyringItems.browserEnding)' password of the browser"]
        case .aegis: ["password of the Aegis vault"]
        case .twoFAS: ["password of the 2FAS backup"]
        case .andOTP: ["password of the andOTP backup"]
        case .stratum: ["password of the Stratum backup"]
        case .ente: ["password of the Ente Auth export"]
        case .items, .kwalletXML, .csv, .keychainDump, .onePassword, .onePasswordPIF, .dashlane, .protonPass, .keeper,
            .enpass, .gitCredentials, .pass, .cxf, .keePassXML, .netrc, .networkManager, .otpAuth, .qrPicture,
            .freeOTPPlus, .kubernetes:
            []
        }
    }

    /// The items of the desktop keyring that open a file of this kind; nil if none do.
    ///
    /// - Parameter realFolder: the path of the file's folder, without links.
    package func keyringItems(inFolder realFolder: String?) -> KeyringItems? {
        switch self {
        case .chromium: .labeled(ending: KeyringItems.browserEnding)
        case .gnomeKeyring: realFolder.flatMap { KeyringPlaces.app(ofFolder: $0) }.map { .ofApp($0) }
        default: nil
        }
    }

    /// True if `gpg` opens files of this kind.
    package var isOpenedByGPG: Bool { [.pass, .kwallet].contains(self) }
}
