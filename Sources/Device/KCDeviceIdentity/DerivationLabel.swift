/// The derivation labels of this module: one for each purpose for which a value is derived from a device key or about a
/// device.
///
/// No label is a prefix of another, so fields can follow a label without two purposes ever colliding. A label never
/// changes its meaning; a new derivation gets a new label, with the next version.
enum DerivationLabel: String, CaseIterable {
    /// HKDF salt that turns the 32 bytes in the file into the key from which all others are expanded.
    case deviceKey = "kcbackup/v1/device-key"
    /// Seed of the Ed25519 key that signs archives and names the device.
    case signingSeed = "kcbackup/v1/signing-seed"
    /// Wraps the class keys that need no passcode. Followed by the caller's context.
    case keybagWrapping = "kcbackup/v1/keybag-wrapping"
    /// Authenticates a keybag. Followed by the caller's context.
    case keybagMAC = "kcbackup/v1/keybag-mac"
    /// The device's share of the keys that open a keychain with a passcode.
    case passcodeShare = "kcbackup/v1/passcode-share"
    /// The keys derived from the passcode and the device together: HKDF salt, and prefix of its info. Followed by the
    /// caller's context.
    case passcodeKeys = "kcbackup/v1/passcode-keys"
    /// The password of a share of those keys that a chip guards: HKDF salt, and prefix of its info. Followed by the
    /// caller's context.
    case chipPassword = "kcbackup/v1/chip-password"
    /// The device's share of the keys that open an escrow record.
    case escrowShare = "kcbackup/v1/escrow-share"
    /// The keys derived from an escrow key and the device together: HKDF salt, and prefix of its info. Followed by the
    /// caller's context.
    case escrowKeys = "kcbackup/v1/escrow-keys"
    /// The device's share of the key that opens a token record.
    case tokenShare = "kcbackup/v1/token-share"
    /// The key derived from the secret of a security token and the device together: HKDF salt, and prefix of its info.
    /// Followed by the caller's context.
    case tokenWrapping = "kcbackup/v1/token-wrapping"
    /// Seals ThisDeviceOnly secrets in an archive. Followed by the length of the mode in one byte, the mode and the
    /// archive ID.
    case sealKeys = "kcbackup/v1/seal-keys"
    /// Wraps a class key of an unlocked keychain for storage in kernel memory. Followed by the caller's context.
    case session = "kcbackup/v1/session"
    /// Authenticates the device's own small files. Followed by the caller's context.
    case stateMAC = "kcbackup/v1/state-mac"
    /// Seals secrets that are not from a keychain in an unencrypted archive. Followed by the caller's context.
    case sourceSeal = "kcbackup/v1/source-seal"
    /// The X25519 key (RFC 7748) to which files for this device are encrypted.
    case fileIdentity = "kcbackup/v1/file-identity"
    /// Prefix of the hash input that identifies a machine. Followed by the 32 digits of the machine ID.
    case machineID = "kcbackup/v1/machine-id"

    /// The label as bytes.
    var bytes: [UInt8] { Array(rawValue.utf8) }
}
