package import Cryptography
package import DeviceIdentity

/// Why a keybag could not be read or opened.
package enum KeybagFailure: Error, Hashable, Sendable {
    /// It has a version of the future.
    case newerFormat(found: Int, known: Int)
    /// It breaks a rule, or is not as its device wrote it; the text holds nothing from the keybag.
    case damaged(String)
    /// It belongs to another device than the one given.
    case otherDevice(DeviceID)
    /// Something is larger than allowed: the limit's name, what was found, what is allowed.
    case limit(String, found: Int, allowed: Int)
    case wrongPasscode
    /// An escrow key or an escrow record does not do.
    case escrow(EscrowProblem)
    /// libcrypto refused for a reason that is not in the data.
    case cryptography(CryptographyFailure)
}
