internal import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity

/// Who counts the wrong passcodes of a keychain.
package enum PasscodeCounter: Hashable, Sendable {
    /// The keychain file, which can be copied and put back.
    case file
    /// The chip of the machine: it has a share of the passcode's keys, and gives it only for the right passcode.
    case chip
}

extension Keybag {
    /// Who counts wrong passcodes; without a passcode, nothing is counted.
    package var counter: PasscodeCounter { guarded == nil ? .file : .chip }

    /// True if a chip counts the passcode that is not the one of this machine: the passcode then opens nothing here.
    ///
    /// - Throws: `CryptographyFailure` (`chip` if the chip of this machine cannot be asked).
    package func isCountedElsewhere(_ deviceKey: DeviceKey) throws(CryptographyFailure) -> Bool {
        guard let guarded else { return false }
        return try !deviceKey.owns(guarded)
    }

    /// Checks that the chip that counts the passcode, if one does, takes a guess now.
    ///
    /// - Throws: `CryptographyFailure` (`chip` if not).
    package func requireGuess(_ deviceKey: DeviceKey) throws(CryptographyFailure) {
        if let guarded { try deviceKey.requireGuess(at: guarded) }
    }
}

extension GuardedSecret {
    /// The accepted sizes of its parts in bytes: far more than a TPM needs, and far less than a keybag may have.
    static let partSizes = 1...320

    /// The member of a keybag (docs/keychain-file.md, "Keybag").
    var member: String {
        ",\"tpm\":{\"parent\":\"\(Base64.encode(sealed.parent))\",\"public\":\"\(Base64.encode(sealed.publicPart))\","
            + "\"private\":\"\(Base64.encode(sealed.privatePart))\"}"
    }
}
