/// A form in which another program keeps items, and that can be read.
package enum ForeignKind: String, CaseIterable, Hashable, Sendable {
    case gnomeKeyring = "gnome-keyring"
    case items = "kcbackup-items"
    case kwallet
    case kwalletXML = "kwallet-xml"
    case csv
    case macKeychain = "macos-keychain"
    case keychainDump = "keychain-dump"
    case bitwarden
    case onePassword = "1pux"
    case onePasswordPIF = "1pif"
    case opVault = "opvault"
    case dashlane
    case protonPass = "proton-pass"
    case keeper
    case enpass
    case gitCredentials = "git-credentials"
    case pass
    case passage
    case cxf
    case keePass = "keepass"
    case keePassXML = "keepass-xml"
    case keePass1 = "keepass-1"
    case passwordSafe = "password-safe"
    case appleBackup = "apple-backup"
    case firefox
    case chromium
    case netrc
    case networkManager = "networkmanager"
    case otpAuth = "otpauth"
    case qrPicture = "qr-picture"
    case aegis
    case twoFAS = "2fas"
    case andOTP = "andotp"
    case freeOTPPlus = "freeotp-plus"
    case freeOTP = "freeotp"
    case twoFAuth = "2fauth"
    case protonAuthenticator = "proton-authenticator"
    case stratum
    case ente
    case kubernetes

    /// The name for `--from` and in JSON, in lower case with dashes, such as `gnome-keyring`.
    package var name: String { rawValue }

    /// The name in messages, such as "GNOME keyring file".
    package var title: String {
        switch self {
        case .gnomeKeyring: "GNOME keyring file"
        case .items: "file of items, one JSON object a line"
        case .kwallet: "KDE wallet"
        case .kwalletXML: "KWalletManager export"
        case .csv: "CSV file"
        case .macKeychain: "macOS keychain file"
        case .keychainDump: "output of 'security dump-keychain'"
        case .bitwarden: "Bitwarden export"
        case .onePassword: "1Password export (1PUX)"
        case .onePasswordPIF: "1Password export (1PIF)"
        case .opVault: "1Password vault (OPVault)"
        case .dashlane: "Dashlane export"
        case .protonPass: "Proton Pass export"
        case .keeper: "Keeper export"
        case .enpass: "Enpass export"
        case .gitCredentials: "git credentials file"
        case .pass: "password store of pass"
        case .passage: "password store of passage"
        case .cxf: "Credential Exchange Format file"
        case .keePass: "KeePass database"
        case .keePassXML: "KeePass XML file"
        case .keePass1: "KeePass 1 database"
        case .passwordSafe: "Password Safe database"
        case .appleBackup: "backup of an iPhone or iPad"
        case .firefox: "profile of Firefox or Thunderbird"
        case .chromium: "profile of Chrome, Chromium or a browser like them"
        case .netrc: ".netrc file"
        case .networkManager: "NetworkManager connection"
        case .otpAuth: "list of otpauth addresses"
        case .qrPicture: "picture of QR codes"
        case .aegis: "Aegis vault"
        case .twoFAS: "2FAS backup"
        case .andOTP: "andOTP backup"
        case .freeOTPPlus: "FreeOTP+ export"
        case .freeOTP: "file of FreeOTP's tokens"
        case .twoFAuth: "2FAuth export"
        case .protonAuthenticator: "Proton Authenticator export"
        case .stratum: "Stratum backup"
        case .ente: "Ente Auth export"
        case .kubernetes: "file of Kubernetes objects"
        }
    }
}
