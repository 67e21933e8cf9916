/// Why a security chip does not let a key be used that it holds or guards.
///
/// The failure is a case of `CryptographyFailure`, because a key may be held by a chip wherever one is derived.
package enum ChipFailure: Error, Hashable, Sendable {
    /// A library that talks to chips is not installed; its name.
    case libraryMissing(String)
    /// There is no chip, or nothing that leads to it here; the path that was looked for.
    case absent(path: String)
    /// This user may not use the chip at the path.
    case noAccess(path: String)
    /// Nothing answers, or the chip has failed and answers nothing else.
    case noAnswer
    /// The key was sealed by another chip, or this one was cleared since.
    case otherChip
    /// The owner of the chip has set a password and made no storage root key for others.
    case ownerPassword
    /// The firmware has switched off what seals keys.
    case disabled
    /// The chip is asked to open other data than it sealed.
    case damaged
    /// An answer was altered on its way from the chip.
    case tampered
    /// The chip refuses passcodes for a while, after wrong guesses at anything that it guards; the longest time until
    /// the next try in seconds, if the chip says it.
    case lockedOut(seconds: Int?)
    /// The chip has counted a wrong passcode.
    case wrongPassword
    /// Too few wrong guesses lock the chip, or it counts none, so it should not count passcodes.
    case countsTooFew(limit: Int)
    /// The chip that counts the passcode is another one, was cleared since, or is not here.
    case countedElsewhere
    /// The chip, or the library that talks to it, refuses a call for another reason.
    case refused(call: String, code: UInt32)
}

extension ChipFailure {
    /// True if the chip, as it is, will not open the key at another time either.
    package var isLasting: Bool {
        switch self {
        case .absent, .otherChip, .disabled, .damaged, .countedElsewhere: true
        case .libraryMissing, .noAccess, .noAnswer, .ownerPassword, .tampered, .lockedOut, .wrongPassword,
            .countsTooFew, .refused:
            false
        }
    }
}
