public import ByteStreams
public import Cryptography

/// The secret that makes an installation this device, and everything that is derived from it.
///
/// The 32 bytes never leave this target; each purpose gets a key of its own by HKDF.
public final class DeviceKey: Sendable {
    /// The length of the secret, in bytes.
    static let length = 32

    /// The 32-byte Ed25519 public key, by which others recognise this device's archives.
    public let signingPublicKey: [UInt8]
    /// The name of this device.
    public let id: DeviceID

    let secret: SecretBytes
    private let pseudoRandomKey: SecretBytes
    private let signingSeed: SecretBytes

    /// Takes over the 32 bytes.
    init(secret: consuming SecretBytes) throws(CryptographyFailure) {
        guard secret.count == Self.length else { throw .unsupportedParameters("device key length") }
        let pseudoRandomKey = try HKDF.extract(salt: DerivationLabel.device.info(), inputKey: secret)
        let seed = try HKDF.expand(
            pseudoRandomKey: pseudoRandomKey, info: DerivationLabel.signing.info(), count: 32)
        let publicKey = try Ed25519.publicKey(seed: seed)
        signingPublicKey = publicKey
        id = DeviceID(publicKey: publicKey)
        signingSeed = seed
        self.pseudoRandomKey = pseudoRandomKey
        self.secret = secret
    }

    /// Makes a new device that exists in memory only; `DeviceKeyProvider.create` makes one that lasts.
    ///
    /// - Throws: `CryptographyFailure.library`.
    public static func generate() throws(CryptographyFailure) -> DeviceKey {
        try DeviceKey(secret: RandomBytes.secret(count: length))
    }

    /// The 64-byte Ed25519 signature of `message`.
    ///
    /// - Throws: `CryptographyFailure.library`.
    public func sign(_ message: borrowing Span<UInt8>) throws(CryptographyFailure) -> [UInt8] {
        try Ed25519.sign(message, seed: signingSeed)
    }

    /// The 32-byte key that wraps class keys which only this device, and no passcode, protects.
    ///
    /// `context` says whose they are, such as the store ID; another context gives an unrelated key.
    ///
    /// - Throws: `CryptographyFailure.library`.
    public func wrappingKey(context: [UInt8]) throws(CryptographyFailure) -> SecretBytes {
        try derive(DerivationLabel.keybagWrapping.info(context), count: 32)
    }

    /// The 32-byte key of the MAC over a keybag without a passcode; `context` as for `wrappingKey`.
    ///
    /// - Throws: `CryptographyFailure.library`.
    public func keybagMACKey(context: [UInt8]) throws(CryptographyFailure) -> SecretBytes {
        try derive(DerivationLabel.keybagMAC.info(context), count: 32)
    }

    /// The 32-byte key of the MAC over local state, such as the list of trusted devices.
    ///
    /// - Throws: `CryptographyFailure.library`.
    public func stateMACKey() throws(CryptographyFailure) -> SecretBytes {
        try derive(DerivationLabel.stateMAC.info(), count: 32)
    }

    /// The 96 bytes that need passcode and device: key-encryption key, MAC key, commitment, 32 bytes each.
    ///
    /// `scryptOutput` has 32 bytes or more; `context` as for `wrappingKey`.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for a short `scryptOutput`, `library`).
    public func mixIntoPasscodeKey(
        scryptOutput: borrowing SecretBytes, context: [UInt8]
    ) throws(CryptographyFailure) -> SecretBytes {
        guard scryptOutput.count >= 32 else { throw .unsupportedParameters("length of scrypt's output") }
        var inputKey = scryptOutput.copy()
        secret.withBytes { inputKey.append($0) }
        return try HKDF.derive(
            inputKey: inputKey, salt: DerivationLabel.passcodeSalt.info(),
            info: DerivationLabel.passcode.info(context), count: 96)
    }

    /// The keys that seal ThisDeviceOnly secrets in one archive.
    ///
    /// `archiveID` has 32 bytes; `mode` is the archive's mode, which enters the key itself.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for another length, `library`).
    public func sealKeys(archiveID: [UInt8], mode: String) throws(CryptographyFailure) -> SealKeys {
        guard archiveID.count == 32 else { throw .unsupportedParameters("archive ID length") }
        var key = try derive(DerivationLabel.seal.info(Array(mode.utf8), archiveID), count: 64)
        let commitment = key.withBytes { bytes in (32..<64).map { bytes[$0] } }
        key.removeLast(32)
        return SealKeys(key: key, commitment: commitment)
    }

    private func derive(_ info: [UInt8], count: Int) throws(CryptographyFailure) -> SecretBytes {
        try HKDF.expand(pseudoRandomKey: pseudoRandomKey, info: info, count: count)
    }
}

/// The key that seals an archive's ThisDeviceOnly secrets, and the public value that tells whose key it is.
public struct SealKeys: ~Copyable, Sendable {
    /// The 32-byte AES-256-GCM key.
    public let key: SecretBytes
    /// 32 bytes that only the same device, archive and mode give: a mismatch means another device, not damage.
    public let commitment: [UInt8]
}
