package import KCCryptography
package import KCDeviceIdentity

/// Why a keybag could not be read or opened.
package enum KeybagFailure: Error, Hashable, Sendable {
    /// The keybag has a newer version than this program knows.
    case newerFormat(found: Int, known: Int)
    /// The keybag breaks a rule, or is not as its device wrote it; the text contains nothing from it.
    case damaged(String)
    /// The keybag belongs to a device other than the given one.
    case otherDevice(DeviceID)
    /// A limit is exceeded: its name, the value found and the largest value allowed.
    case limit(String, found: Int, allowed: Int)
    case wrongPasscode
    /// An escrow key or an escrow record cannot be used.
    case escrow(EscrowProblem)
    /// A security token cannot be enrolled, or its record cannot be used.
    case token(TokenProblem)
    /// libcrypto failed for a reason other than the data.
    case cryptography(CryptographyFailure)
}
