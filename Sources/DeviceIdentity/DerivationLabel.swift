/// What each key that comes out of the device key is for: every label of this target stands here.
///
/// HKDF's info is label, NUL, then each field behind its length (4 bytes, big-endian). No label holds a NUL and fields
/// carry their lengths, so no info is the beginning of another, and two purposes never share a key.
enum DerivationLabel: String, CaseIterable {
    /// The salt with which the device key is concentrated; every other derivation begins there.
    case device = "kcbackup/v1/device"
    /// The seed of the Ed25519 signing key.
    case signing = "kcbackup/v1/signing-ed25519"
    /// The key that wraps class keys which need no passcode.
    case keybagWrapping = "kcbackup/v1/keybag-wrap"
    /// The key of the keybag's MAC when there is no passcode.
    case keybagMAC = "kcbackup/v1/keybag-mac"
    /// The salt with which scrypt's output and the device key are concentrated.
    case passcodeSalt = "kcbackup/v1/passcode-salt"
    /// The keys that come from passcode and device key together.
    case passcode = "kcbackup/v1/passcode"
    /// The key that seals ThisDeviceOnly secrets in an archive, and its commitment.
    case seal = "kcbackup/v1/seal"
    /// The key of the MAC over local state, such as the list of trusted devices.
    case stateMAC = "kcbackup/v1/state-mac"
    /// What the MAC over the list of trusted devices begins with, so that no other state can stand for it.
    case trustList = "kcbackup/v1/trusted-devices"
    /// The prefix under which the machine ID is hashed; not a derivation from the device key.
    case machine = "kcbackup/v1/machine-id"

    /// The label with its fields, in the form that HKDF takes.
    func info(_ fields: [UInt8]...) -> [UInt8] {
        var info = Array(rawValue.utf8) + [0]
        for field in fields {
            let length = UInt32(field.count)
            for shift in [24, 16, 8, 0] { info.append(UInt8(truncatingIfNeeded: length >> UInt32(shift))) }
            info += field
        }
        return info
    }
}
