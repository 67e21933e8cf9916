package import KCByteStreams
package import KCCryptography
internal import Synchronization

/// Derives the keys of a device; the only use that is made of its secret.
package protocol DeviceSecrets: Sendable {
    /// HKDF-Expand with SHA-256 (RFC 5869) under the device's key.
    ///
    /// - Parameter count: 1 to `HKDF.outputLimit` bytes.
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for another length, `library`, `chip`).
    func expand(info: [UInt8], count: Int) throws(CryptographyFailure) -> SecretBytes
}

/// Derives keys from a secret in memory.
final class SoftwareSecrets: DeviceSecrets {
    private let pseudoRandomKey: SecretBytes

    /// Derives from the secret that a provider keeps.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for another length than `DeviceKey.secretLength`,
    ///   `library`).
    init(_ secret: borrowing SecretBytes) throws(CryptographyFailure) {
        guard secret.count == DeviceKey.secretLength else { throw .unsupportedParameters("device key length") }
        pseudoRandomKey = try HKDF.extract(salt: DerivationLabel.deviceKey.bytes, inputKey: secret)
    }

    func expand(info: [UInt8], count: Int) throws(CryptographyFailure) -> SecretBytes {
        try HKDF.expand(pseudoRandomKey: pseudoRandomKey, info: info, count: count)
    }

    /// Returns the 32-byte Ed25519 public key of the device.
    func signingPublicKey() throws(CryptographyFailure) -> [UInt8] {
        try Ed25519.publicKey(seed: expand(info: DerivationLabel.signingSeed.bytes, count: 32))
    }
}

/// Derives keys from a secret that a chip opens when one is first needed.
final class SealedSecrets: DeviceSecrets {
    private let text: SealedKeyText
    private let chip: DeviceChip

    init(_ text: SealedKeyText, on chip: DeviceChip) {
        self.text = text
        self.chip = chip
    }

    func expand(info: [UInt8], count: Int) throws(CryptographyFailure) -> SecretBytes {
        try chip.open(text).expand(info: info, count: count)
    }
}

/// The chip of this machine, and the keys that it has opened in this process.
///
/// Opening takes a chip up to a second, so each key is opened once, as a key in a file is read once.
package final class DeviceChip: Sendable {
    /// The chip.
    package let chip: any SealingChip
    private let opened = Mutex<[SealedKeyText: SoftwareSecrets]>([:])

    /// Uses a chip.
    package init(_ chip: any SealingChip) {
        self.chip = chip
    }

    /// Opens a sealed key, and checks that the file around it is as this device wrote it.
    ///
    /// - Throws: `CryptographyFailure` (`chip` if the chip does not open it, if it is not the key of the device that the
    ///   file names, or if the file was altered).
    func open(_ text: SealedKeyText) throws(CryptographyFailure) -> SoftwareSecrets {
        if let known = opened.withLock({ $0[text] }) { return known }
        let secrets = try SoftwareSecrets(unsealed(text))
        guard try secrets.signingPublicKey() == text.signer, try text.isGenuine(secrets) else { throw .chip(.damaged) }
        opened.withLock { $0[text] = secrets }
        return secrets
    }

    /// Opens a sealed key to the secret itself, for a copy.
    ///
    /// - Throws: `CryptographyFailure` (`chip` if the chip does not open it).
    func unsealed(_ text: SealedKeyText) throws(CryptographyFailure) -> SecretBytes {
        try failing(as: CryptographyFailure.chip, chip.unseal(text.sealed))
    }

    /// Seals a secret.
    func seal(_ secret: borrowing SecretBytes) throws(CryptographyFailure) -> SealedSecret {
        do throws(ChipFailure) {
            return try chip.seal(secret)
        } catch {
            throw .chip(error)
        }
    }

    /// Seals a share of the keys of a passcode behind a password, at which the chip counts wrong guesses.
    ///
    /// - Throws: `CryptographyFailure` (`chip` also if the chip should not count passcodes).
    func seal(
        _ share: borrowing SecretBytes, behind password: borrowing SecretBytes
    ) throws(CryptographyFailure) -> GuardedSecret {
        do throws(ChipFailure) {
            try chip.facts().requireCounting()
            return try chip.seal(share, behind: password)
        } catch {
            throw .chip(error)
        }
    }

    /// True if this chip sealed the share, so that it can open it.
    ///
    /// - Throws: `CryptographyFailure` (`chip` if it cannot be asked).
    func owns(_ guarded: GuardedSecret) throws(CryptographyFailure) -> Bool {
        do throws(ChipFailure) {
            return try chip.owns(guarded.sealed)
        } catch {
            if case .absent = error { return false }
            throw .chip(error)
        }
    }

    /// Checks that a guess at a password may be made now, as `unseal(_:with:)` does.
    ///
    /// - Throws: `CryptographyFailure` (`chip` if not).
    func requireGuess(at guarded: GuardedSecret) throws(CryptographyFailure) {
        guard try owns(guarded) else { throw .chip(.countedElsewhere) }
        do throws(ChipFailure) {
            try chip.facts().requireGuess()
        } catch {
            throw .chip(error)
        }
    }

    /// Opens what `seal(_:behind:)` has returned.
    ///
    /// - Throws: `CryptographyFailure` (`chip` also for a wrong password).
    func unseal(
        _ guarded: GuardedSecret, with password: borrowing SecretBytes
    ) throws(CryptographyFailure) -> SecretBytes {
        do throws(ChipFailure) {
            return try chip.unseal(guarded, with: password)
        } catch {
            switch error {
            // The keybag with the share is genuine, so it is the chip that is not the one of then.
            case .absent, .otherChip, .damaged: throw .chip(.countedElsewhere)
            default: throw .chip(error)
            }
        }
    }

    /// Checks that the chip opens a text to the secret.
    ///
    /// - Throws: `CryptographyFailure` (`chip` if it does not, or not to this one).
    func check(_ text: SealedKeyText, holds secret: borrowing SecretBytes) throws(CryptographyFailure) {
        guard constantTimeEqual(try unsealed(text), secret) else { throw .chip(.damaged) }
    }
}
