internal import KCByteStreams

/// The data that are sent to a TPM, in its wire format (TPM 2.0 Library, part 2): numbers with the most significant
/// byte first, lists after their length.
enum TPMFormat {
    /// Where a machine's storage root key is kept, if somebody has made it persistent (TCG TPM v2.0 Provisioning
    /// Guidance, 7.8).
    static let persistentParent: UInt32 = 0x8100_0001

    /// The storage root key as the same guidance wants it (template L-2 with `noDA`).
    ///
    /// The template describes an elliptic key of P-256 that encrypts with AES-128-CFB. A TPM returns the same key for
    /// it until it is cleared.
    static let parentTemplate = sized([
        0x00, 0x23,  // TPM_ALG_ECC
        0x00, 0x0b,  // its name is a SHA-256
        // fixedTPM, fixedParent, sensitiveDataOrigin, userWithAuth, noDA, restricted, decrypt
        0x00, 0x03, 0x04, 0x72,
        0x00, 0x00,  // no policy
        0x00, 0x06, 0x00, 0x80, 0x00, 0x43,  // AES-128-CFB
        0x00, 0x10,  // no scheme
        0x00, 0x03,  // P-256
        0x00, 0x10,  // no key derivation
        0x00, 0x00, 0x00, 0x00,  // made by the TPM
    ])

    /// A sealed secret without a password of its own.
    ///
    /// `noDA`: it opens while the TPM refuses keys with a password.
    static let sealedTemplate = sized([
        0x00, 0x08,  // TPM_ALG_KEYEDHASH
        0x00, 0x0b,  // its name is a SHA-256
        0x00, 0x00, 0x04, 0x52,  // fixedTPM, fixedParent, userWithAuth, noDA
        0x00, 0x00,  // no policy
        0x00, 0x10,  // no scheme
        0x00, 0x00,
    ])

    /// A sealed secret with a password, at which the TPM counts wrong guesses: the same without `noDA`.
    static let guardedTemplate = sized([
        0x00, 0x08, 0x00, 0x0b,
        0x00, 0x00, 0x00, 0x52,  // fixedTPM, fixedParent, userWithAuth
        0x00, 0x00, 0x00, 0x10, 0x00, 0x00,
    ])

    /// How commands and answers of a session are encrypted: AES-128-CFB.
    static let sessionCipher: [UInt8] = [0x00, 0x06, 0x00, 0x80, 0x00, 0x43]

    /// The initial sensitive part of a key: no password, no data.
    static let nothingSensitive = sized([0x00, 0x00, 0x00, 0x00])

    /// A secret to be sealed behind a password, or without one if that is empty.
    static func sensitive(_ secret: borrowing SecretBytes, _ password: borrowing SecretBytes) -> SecretBytes {
        var bytes = SecretBytes(capacity: secret.count + password.count + 6)
        bytes.append(number(secret.count + password.count + 4).span)
        bytes.append(number(password.count).span)
        password.withBytes { bytes.append($0) }
        bytes.append(number(secret.count).span)
        secret.withBytes { bytes.append($0) }
        return bytes
    }

    /// A password.
    static func password(_ password: borrowing SecretBytes) -> SecretBytes {
        var bytes = SecretBytes(capacity: password.count + 2)
        bytes.append(number(password.count).span)
        password.withBytes { bytes.append($0) }
        return bytes
    }

    /// The properties in an answer to TPM2_GetCapability, by number; nil if it is not such an answer.
    static func properties(_ answer: [UInt8]) -> [UInt32: UInt32]? {
        func number(at index: Int) -> UInt32 { answer[index..<(index + 4)].reduce(0) { $0 << 8 | UInt32($1) } }
        guard answer.count >= 8, number(at: 0) == 6, answer.count == 8 + 8 * Int(number(at: 4)) else { return nil }
        var values: [UInt32: UInt32] = [:]
        for index in stride(from: 8, to: answer.count, by: 8) { values[number(at: index)] = number(at: index + 4) }
        return values
    }

    private static func sized(_ bytes: [UInt8]) -> [UInt8] { number(bytes.count) + bytes }

    private static func number(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xff)] }
}
