package import KCByteStreams
package import KCCryptography

/// This installation's key and everything derived from it; the key itself is never exposed.
///
/// Derivations use HKDF-SHA-256 (RFC 5869) with the labels in `DerivationLabel`. They give the same results on any
/// machine and in any version.
package final class DeviceKey: Sendable {
    /// The length of the secret that a provider keeps, in bytes.
    package static let secretLength = 32

    /// The ID of the device, derived from its public key.
    package let id: DeviceID
    /// The 32-byte Ed25519 public key of the device.
    package let signingPublicKey: [UInt8]
    private let secrets: any DeviceSecrets
    private let chip: DeviceChip

    /// Derives a device from the 32 random bytes that its provider stores.
    ///
    /// - Parameter chip: the chip of this machine, which may count passcodes.
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for another length, `library`).
    package convenience init(
        secret: borrowing SecretBytes, chip: DeviceChip = DeviceChip(NoChip())
    ) throws(CryptographyFailure) {
        let secrets = try SoftwareSecrets(secret)
        try self.init(signingPublicKey: secrets.signingPublicKey(), secrets: secrets, chip: chip)
    }

    /// Uses a device whose public key is known; `secrets` is first needed when a key is derived.
    init(signingPublicKey: [UInt8], secrets: any DeviceSecrets, chip: DeviceChip) {
        id = DeviceID(publicKey: signingPublicKey)
        self.signingPublicKey = signingPublicKey
        self.secrets = secrets
        self.chip = chip
    }

    /// Creates a new device in memory only; `DeviceKeyProvider.create` creates a persistent one.
    package static func generate() throws(CryptographyFailure) -> DeviceKey {
        try DeviceKey(secret: RandomBytes.secret(count: secretLength))
    }

    /// Makes sure that keys can be derived: a chip that holds the secret opens it now.
    package func prove() throws(CryptographyFailure) {
        _ = try expand(.signingSeed, [])
    }

    /// Returns the 64-byte Ed25519 signature of `message`.
    ///
    /// Do not sign data that another party fully controls: archives use `SSHSignature`, which states what is signed.
    package func sign(_ message: [UInt8]) throws(CryptographyFailure) -> [UInt8] {
        try Ed25519.sign(message.span, seed: expand(.signingSeed, []))
    }

    /// Returns the 32-byte key that wraps the class keys that only the device may open.
    ///
    /// - Parameter context: the purpose of the key, such as the UUID of a keybag; each context yields a different key.
    package func wrappingKey(context: [UInt8] = []) throws(CryptographyFailure) -> SecretBytes {
        try expand(.keybagWrapping, context)
    }

    /// Returns the 32-byte key that authenticates a keybag.
    ///
    /// - Parameter context: the purpose of the key, such as the UUID of a keybag; each context yields a different key.
    package func keybagMACKey(context: [UInt8] = []) throws(CryptographyFailure) -> SecretBytes {
        try expand(.keybagMAC, context)
    }

    /// Returns the 32-byte key that wraps a class key of an unlocked keychain between commands.
    ///
    /// - Parameter context: identifies the class key, its keychain and the keychain's state; each context yields a
    ///   different key.
    package func sessionKey(context: [UInt8]) throws(CryptographyFailure) -> SecretBytes {
        try expand(.session, context)
    }

    /// Returns the 32-byte key that authenticates a small file of this device, such as the list of trusted devices.
    ///
    /// - Parameter context: the kind of file; each context yields a different key.
    package func stateMACKey(context: [UInt8]) throws(CryptographyFailure) -> SecretBytes {
        try expand(.stateMAC, context)
    }

    /// Returns a 32-byte key for sealing secrets that are not from a keychain in an unencrypted archive.
    ///
    /// - Parameter context: the purpose of the key, such as an accessibility; each context yields a different key.
    package func sourceSealKey(context: String) throws(CryptographyFailure) -> SecretBytes {
        try expand(.sourceSeal, Array(context.utf8))
    }

    /// Returns the 32-byte X25519 private key that opens files for this device.
    package func fileIdentityKey() throws(CryptographyFailure) -> SecretBytes { try expand(.fileIdentity, []) }

    /// Returns 128 bytes derived from the passcode and the device together: four keys of 32 bytes for the caller.
    ///
    /// - Parameters:
    ///   - scryptOutput: the output of scrypt for the passcode, at least 32 bytes.
    ///   - context: the purpose of the keys, such as the UUID of a keybag.
    ///   - guarded: a third share, which the chip gives only for the right passcode; nil if there is none.
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for a short `scryptOutput`, `library`, `chip`).
    package func mixIntoPasscodeKey(
        scryptOutput: borrowing SecretBytes, context: [UInt8], guarded: GuardedSecret? = nil
    ) throws(CryptographyFailure) -> SecretBytes {
        var inputKey = try passcodeInput(scryptOutput)
        if let guarded {
            let share = try chip.unseal(guarded, with: chipPassword(inputKey, context))
            share.withBytes { inputKey.append($0) }
        }
        let label = DerivationLabel.passcodeKeys.bytes
        return try HKDF.derive(inputKey: inputKey, salt: label, info: label + context, count: 128)
    }

    /// Makes a third share of the keys of a passcode, at which the chip counts wrong passcodes.
    ///
    /// - Parameters:
    ///   - scryptOutput: the output of scrypt for the passcode, at least 32 bytes.
    ///   - context: what the keys are derived with.
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for a short `scryptOutput`, `library`, `randomness`,
    ///   `chip`).
    package func guardedShare(
        scryptOutput: borrowing SecretBytes, context: [UInt8]
    ) throws(CryptographyFailure) -> GuardedSecret {
        let password = try chipPassword(passcodeInput(scryptOutput), context)
        return try chip.seal(RandomBytes.secret(count: 32), behind: password)
    }

    /// True if the chip of this machine has the share.
    ///
    /// - Throws: `CryptographyFailure` (`chip` if it cannot be asked).
    package func owns(_ guarded: GuardedSecret) throws(CryptographyFailure) -> Bool { try chip.owns(guarded) }

    /// Checks that the chip takes a guess at a passcode now, which it has a share for.
    ///
    /// - Throws: `CryptographyFailure` (`chip` if not).
    package func requireGuess(at guarded: GuardedSecret) throws(CryptographyFailure) {
        try chip.requireGuess(at: guarded)
    }

    private func passcodeInput(_ scryptOutput: borrowing SecretBytes) throws(CryptographyFailure) -> SecretBytes {
        guard scryptOutput.count >= 32 else { throw .unsupportedParameters("scrypt output length") }
        let share = try expand(.passcodeShare, [])
        var input = SecretBytes(capacity: scryptOutput.count + 2 * share.count)
        scryptOutput.withBytes { input.append($0) }
        share.withBytes { input.append($0) }
        return input
    }

    private func chipPassword(
        _ input: borrowing SecretBytes, _ context: [UInt8]
    ) throws(CryptographyFailure) -> SecretBytes {
        let label = DerivationLabel.chipPassword.bytes
        var password = try HKDF.derive(inputKey: input, salt: label, info: label + context, count: 32)
        // A TPM ignores zeros at the end (TPM 2.0 Library, part 1, "authValue"); not all of its software does.
        let zeros = password.withBytes { bytes in
            bytes.indices.reversed().first { bytes[$0] != 0 }.map { bytes.count - 1 - $0 } ?? bytes.count
        }
        password.removeLast(zeros)
        return password
    }

    /// Returns key material derived from an escrow key and the device together.
    ///
    /// - Parameters:
    ///   - sharedSecret: the 32-byte result of an X25519 key exchange.
    ///   - context: the purpose of the keys and the public keys of the exchange.
    ///   - count: 1...8160 bytes.
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for another length, `library`).
    package func mixIntoEscrowKey(
        sharedSecret: borrowing SecretBytes, context: [UInt8], count: Int
    ) throws(CryptographyFailure) -> SecretBytes {
        try mix(sharedSecret, .escrowShare, .escrowKeys, context, count: count)
    }

    /// Returns a 32-byte key derived from the key pair of a security token and the device together.
    ///
    /// - Parameters:
    ///   - sharedSecret: the 32-byte result of an X25519 key exchange.
    ///   - context: the purpose of the key and the public keys of the exchange.
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for another length, `library`).
    package func mixIntoTokenKey(
        sharedSecret: borrowing SecretBytes, context: [UInt8]
    ) throws(CryptographyFailure) -> SecretBytes {
        try mix(sharedSecret, .tokenShare, .tokenWrapping, context, count: 32)
    }

    private func mix(
        _ sharedSecret: borrowing SecretBytes, _ ofDevice: DerivationLabel, _ ofKeys: DerivationLabel,
        _ context: [UInt8], count: Int
    ) throws(CryptographyFailure) -> SecretBytes {
        guard sharedSecret.count == 32 else { throw .unsupportedParameters("shared secret length") }
        let share = try expand(ofDevice, [])
        var inputKey = SecretBytes(capacity: sharedSecret.count + share.count)
        sharedSecret.withBytes { inputKey.append($0) }
        share.withBytes { inputKey.append($0) }
        let label = ofKeys.bytes
        return try HKDF.derive(inputKey: inputKey, salt: label, info: label + context, count: count)
    }

    /// Returns the keys that seal ThisDeviceOnly secrets in one archive.
    ///
    /// - Parameters:
    ///   - archiveID: 32 bytes, never used for another archive.
    ///   - mode: the name of the archive's mode, at most 255 bytes; an input of the derivation.
    package func sealKeys(archiveID: [UInt8], mode: String) throws(CryptographyFailure) -> SealKeys {
        guard archiveID.count == 32 else { throw .unsupportedParameters("archive ID length") }
        guard let modeLength = UInt8(exactly: mode.utf8.count) else { throw .unsupportedParameters("mode length") }
        let keys = try expand(.sealKeys, [modeLength] + Array(mode.utf8) + archiveID, count: 64)
        return keys.withBytes { bytes in
            SealKeys(
                key: SecretBytes(bytes.extracting(..<32)),
                commitment: (32..<64).map { bytes[$0] })
        }
    }

    private func expand(
        _ label: DerivationLabel, _ fields: [UInt8], count: Int = 32
    ) throws(CryptographyFailure) -> SecretBytes {
        try secrets.expand(info: label.bytes + fields, count: count)
    }
}

/// The keys that seal the ThisDeviceOnly secrets of one archive.
package struct SealKeys: ~Copyable {
    /// 32 bytes, for AES-256-GCM.
    package let key: SecretBytes
    /// 32 public bytes that distinguish another device's seal from a damaged one before the key is tried.
    package let commitment: [UInt8]
}
