internal import KCByteStreams
internal import KCCryptography
internal import KCExportFormats

/// The cipher for the whole file, with its key.
struct KDBXCipher: ~Copyable {
    private var libCrypto: BlockCipher?
    private var twofish: Twofish?

    init(
        _ cipher: KDBX.Cipher, _ direction: BlockCipher.Direction, key: borrowing SecretBytes, iv: [UInt8]
    ) throws(CryptographyFailure) {
        switch cipher {
        case .aes256: libCrypto = try BlockCipher(.aes256CBC, direction, key: key, iv: iv.span)
        // A counter that starts at zero, and the nonce.
        case .chaCha20: libCrypto = try BlockCipher(.chaCha20, direction, key: key, iv: ([0, 0, 0, 0] + iv).span)
        case .twofish: twofish = try Twofish(direction, key: key, .cbc(iv: iv))
        }
    }

    /// Encrypts or decrypts the next bytes; complete blocks, where the cipher has blocks.
    mutating func process(inPlace bytes: inout SecretBytes) throws(CryptographyFailure) {
        try libCrypto?.process(inPlace: &bytes)
        try twofish?.process(inPlace: &bytes)
    }
}
