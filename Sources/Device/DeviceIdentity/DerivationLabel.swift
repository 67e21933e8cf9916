/// All labels of this module: each purpose for which something is derived from a device key or about a device.
///
/// No label is a prefix of another, so fields may follow a label without two purposes ever colliding. A label never
/// changes its meaning; a new derivation gets a new label, with the next version.
enum DerivationLabel: String, CaseIterable {
    /// HKDF salt that turns the 32 bytes of the file into the key from which all others are expanded.
    case deviceKey = "kcbackup/v1/device-key"
    /// Seed of the Ed25519 key that signs archives and names the device.
    case signingSeed = "kcbackup/v1/signing-seed"
    /// Wraps the class keys that need no passcode. Then: the caller's context.
    case keybagWrapping = "kcbackup/v1/keybag-wrapping"
    /// Authenticates a keybag. Then: the caller's context.
    case keybagMAC = "kcbackup/v1/keybag-mac"
    /// The device's share of the keys that open a keychain with a passcode.
    case passcodeShare = "kcbackup/v1/passcode-share"
    /// The keys derived from passcode and device together: HKDF salt, and prefix of its info. Then: the caller's
    /// context.
    case passcodeKeys = "kcbackup/v1/passcode-keys"
    /// The device's share of the keys that open an escrow record.
    case escrowShare = "kcbackup/v1/escrow-share"
    /// The keys derived from escrow key and device together: HKDF salt, and prefix of its info. Then: the caller's
    /// context.
    case escrowKeys = "kcbackup/v1/escrow-keys"
    /// Seals ThisDeviceOnly secrets in an archive. Then: length of the mode in one byte, mode, archive ID.
    case sealKeys = "kcbackup/v1/seal-keys"
    /// Wraps a class key of an unlocked keychain for the kernel's memory. Then: the caller's context.
    case session = "kcbackup/v1/session"
    /// Authenticates the device's own small files. Then: the caller's context.
    case stateMAC = "kcbackup/v1/state-mac"
    /// Prefix of what is hashed to recognise a machine. Then: the 32 digits of the machine ID.
    case machineID = "kcbackup/v1/machine-id"

    /// The label as bytes.
    var bytes: [UInt8] { Array(rawValue.utf8) }
}
