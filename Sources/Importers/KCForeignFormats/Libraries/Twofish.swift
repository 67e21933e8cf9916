internal import CKCGCrypt
internal import KCByteStreams
internal import KCCryptography

/// The block cipher Twofish with a key of 32 bytes, which Password Safe and some KeePass files use; without padding and
/// without authentication.
@safe struct Twofish: ~Copyable {
    /// How the blocks are chained.
    enum Mode: Sendable {
        /// Each block alone.
        case ecb
        /// Each block with the ciphertext before it, the first one with these 16 bytes.
        case cbc(iv: [UInt8])
    }

    /// The size of a block in bytes.
    static let blockSize = 16

    private let library: cgcrypt_functions
    private let handle: gcry_cipher_hd_t
    private let direction: BlockCipher.Direction

    /// Sets the key, which has 32 bytes.
    init(
        _ direction: BlockCipher.Direction, key: borrowing SecretBytes, _ mode: Mode
    ) throws(CryptographyFailure) {
        guard key.count == 32 else { throw .unsupportedParameters("length of Twofish's key") }
        let library = try LibGCrypt.load()
        unsafe handle = try Self.keyed(library, key, mode)
        self.library = library
        self.direction = direction
    }

    private static func keyed(
        _ library: cgcrypt_functions, _ key: borrowing SecretBytes, _ mode: Mode
    ) throws(CryptographyFailure) -> gcry_cipher_hd_t {
        let (number, iv): (Int32, [UInt8])
        switch mode {
        case .ecb: (number, iv) = (Int32(GCRY_CIPHER_MODE_ECB.rawValue), [])
        case .cbc(let given): (number, iv) = (Int32(GCRY_CIPHER_MODE_CBC.rawValue), given)
        }
        guard iv.isEmpty || iv.count == blockSize else { throw .unsupportedParameters("length of Twofish's IV") }
        var opened: gcry_cipher_hd_t?
        let status = unsafe library.gcry_cipher_open(&opened, Int32(GCRY_CIPHER_TWOFISH.rawValue), number, 0)
        guard status == 0, let handle = unsafe opened else { throw .library("Twofish") }
        let keyed = key.withBytes { span in
            unsafe span.withUnsafeBufferPointer { unsafe library.gcry_cipher_setkey(handle, $0.baseAddress, $0.count) }
        }
        guard keyed == 0, iv.isEmpty || (unsafe library.gcry_cipher_setiv(handle, iv, iv.count)) == 0 else {
            unsafe library.gcry_cipher_close(handle)
            throw .library("keying Twofish")
        }
        return unsafe handle
    }

    deinit {
        unsafe library.gcry_cipher_close(handle)
    }

    /// Encrypts or decrypts whole blocks, which continue those before.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for a partial block, `library`).
    mutating func process(inPlace bytes: inout SecretBytes) throws(CryptographyFailure) {
        if bytes.isEmpty { return }
        guard bytes.count.isMultiple(of: Self.blockSize) else {
            throw .unsupportedParameters("length of Twofish's blocks")
        }
        let (library, handle, direction) = unsafe (library, handle, direction)
        let status = bytes.withMutableBytes { span in
            unsafe span.withUnsafeMutableBufferPointer { buffer in
                switch direction {
                case .encrypt: unsafe library.gcry_cipher_encrypt(handle, buffer.baseAddress, buffer.count, nil, 0)
                case .decrypt: unsafe library.gcry_cipher_decrypt(handle, buffer.baseAddress, buffer.count, nil, 0)
                }
            }
        }
        guard status == 0 else { throw .library("Twofish") }
    }
}
