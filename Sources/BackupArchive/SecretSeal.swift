internal import ByteStreams
internal import Cryptography
internal import DeviceIdentity
internal import KeychainModel

/// Seals the secrets that must not travel: under a key that only this device can derive, for this archive alone.
///
/// AES-256-GCM with the item's ordinal as nonce (an archive ID is never reused, so neither is a nonce) and everything
/// that names the place of the secret as associated data (docs/format.md, "Sealed secrets").
struct SecretSeal: ~Copyable {
    private var cipher: AES256GCM
    private let archiveID: [UInt8]
    private let device: DeviceID
    private var associatedData = SecretBytes(capacity: 4096)
    /// Tells whether a seal is ours before a key is tried.
    let commitment: [UInt8]

    init(
        device: DeviceKey, deviceID: DeviceID, archiveID: [UInt8], mode: ArchiveMode
    ) throws(CryptographyFailure) {
        let keys = try device.sealKeys(archiveID: archiveID, mode: mode.rawValue)
        commitment = keys.commitment
        cipher = try AES256GCM(key: keys.key)
        self.archiveID = archiveID
        self.device = deviceID
    }

    mutating func seal(
        _ secret: borrowing SecretBytes, line: borrowing Span<UInt8>, ordinal: UInt64, into sealed: inout SecretBytes
    ) throws(CryptographyFailure) {
        bind(line, ordinal)
        let nonce = Nonce(counter: ordinal)
        try secret.withBytes { plaintext throws(CryptographyFailure) in
            try associatedData.withBytes { data throws(CryptographyFailure) in
                try cipher.seal(plaintext, nonce: nonce, associatedData: data, into: &sealed)
            }
        }
    }

    mutating func open(
        _ sealed: borrowing SecretBytes, line: borrowing Span<UInt8>, ordinal: UInt64, into secret: inout SecretBytes
    ) throws(CryptographyFailure) {
        bind(line, ordinal)
        let nonce = Nonce(counter: ordinal)
        try sealed.withBytes { ciphertext throws(CryptographyFailure) in
            try associatedData.withBytes { data throws(CryptographyFailure) in
                try cipher.open(ciphertext, nonce: nonce, associatedData: data, into: &secret)
            }
        }
    }

    private mutating func bind(_ line: borrowing Span<UInt8>, _ ordinal: UInt64) {
        associatedData.removeAll()
        associatedData.append("kcbackup/v1/sealed-secret".utf8.span)
        associatedData.append(archiveID.span)
        associatedData.append(device.description.utf8.span)
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            associatedData.append(UInt8(truncatingIfNeeded: ordinal >> shift))
        }
        associatedData.append(line)
    }
}
