/// A password that opens another program's file.
package enum ForeignPassword: Hashable, Sendable {
    /// Of a file or folder of this kind.
    case file(ForeignKind)
    /// Of all keyrings in a folder of GNOME keyring files.
    case keyrings
    /// Of a keyring of this kind that is the key file.
    case keyFile(ForeignKind)
}

/// The secrets that a format asks for: the process that reads a file of it is given no others.
extension ForeignKind {
    /// True if a file of this kind, or the key file of one, has such a password.
    package func asks(for password: ForeignPassword) -> Bool {
        switch password {
        case .file(let kind): kind == self && hasPassword
        case .keyrings: self == .gnomeKeyring
        case .keyFile(let kind):
            [.chromium, .gnomeKeyring].contains(self) && [.gnomeKeyring, .kwallet, .macKeychain].contains(kind)
        }
    }

    private var hasPassword: Bool {
        switch self {
        case .gnomeKeyring, .kwallet, .macKeychain, .bitwarden, .opVault, .passage, .keePass, .keePass1,
            .passwordSafe, .appleBackup, .firefox, .chromium, .aegis, .twoFAS, .andOTP, .stratum, .ente,
            .protonAuthenticator:
            true
        case .items, .kwalletXML, .csv, .keychainDump, .onePassword, .onePasswordPIF, .dashlane, .protonPass, .keeper,
            .enpass, .gitCredentials, .pass, .cxf, .keePassXML, .netrc, .networkManager, .otpAuth, .qrPicture,
            .freeOTPPlus, .freeOTP, .twoFAuth, .kubernetes:
            false
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
