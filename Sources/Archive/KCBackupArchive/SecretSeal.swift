internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainModel

/// Seals the secrets that must not leave the device, under a key for this archive that only this device can derive.
///
/// A seal uses AES-256-GCM with the item's ordinal as the nonce (an archive ID is never reused, so neither is a nonce),
/// and with everything that identifies the secret's place as associated data (docs/format.md, "Sealed secrets").
struct SecretSeal: ~Copyable {
    private var cipher: AuthenticatedCipher
    /// The part of the associated data that is the same for every secret of the archive.
    private let place: [UInt8]
    private var associatedData: SecretBytes
    /// Shows whether this device made a seal, before the key is tried.
    let commitment: [UInt8]

    init(
        device: DeviceKey, deviceID: DeviceID, archiveID: [UInt8], mode: ArchiveMode
    ) throws(CryptographyFailure) {
        let keys = try device.sealKeys(archiveID: archiveID, mode: mode.rawValue)
        let cipher = try AuthenticatedCipher(.aes256GCM, key: keys.key)
        commitment = keys.commitment
        self.cipher = cipher
        associatedData = SecretBytes(capacity: 4096)
        place = Array("kcbackup/v1/sealed-secret".utf8) + archiveID + Array(deviceID.description.utf8)
    }

    mutating func seal(
        _ secret: borrowing SecretBytes, line: borrowing Span<UInt8>, ordinal: UInt64, into sealed: inout SecretBytes
    ) throws(CryptographyFailure) {
        bind(line, ordinal)
        try Self.seal(secret, &cipher, Nonce(field: 0, counter: ordinal), associatedData, into: &sealed)
    }

    mutating func open(
        _ sealed: borrowing SecretBytes, line: borrowing Span<UInt8>, ordinal: UInt64, into secret: inout SecretBytes
    ) throws(CryptographyFailure) {
        bind(line, ordinal)
        try Self.open(sealed, &cipher, Nonce(field: 0, counter: ordinal), associatedData, into: &secret)
    }

    // Static, so that a closure captures the cipher and the associated data separately.

    private static func seal(
        _ secret: borrowing SecretBytes, _ cipher: inout AuthenticatedCipher, _ nonce: Nonce,
        _ associatedData: borrowing SecretBytes, into sealed: inout SecretBytes
    ) throws(CryptographyFailure) {
        try secret.withBytes { plaintext throws(CryptographyFailure) in
            try associatedData.withBytes { data throws(CryptographyFailure) in
                try cipher.seal(plaintext, nonce: nonce, associatedData: data, into: &sealed)
            }
        }
    }

    private static func open(
        _ sealed: borrowing SecretBytes, _ cipher: inout AuthenticatedCipher, _ nonce: Nonce,
        _ associatedData: borrowing SecretBytes, into secret: inout SecretBytes
    ) throws(CryptographyFailure) {
        try sealed.withBytes { ciphertext throws(CryptographyFailure) in
            try associatedData.withBytes { data throws(CryptographyFailure) in
                try cipher.open(ciphertext, nonce: nonce, associatedData: data, into: &secret)
            }
        }
    }

    private mutating func bind(_ line: borrowing Span<UInt8>, _ ordinal: UInt64) {
        let place = place
        associatedData.removeAll()
        associatedData.append(place.span)
        for shift in stride(from: 56, through: 0, by: -8) {
            associatedData.append(UInt8(truncatingIfNeeded: ordinal >> UInt64(shift)))
        }
        associatedData.append(line)
    }
}
