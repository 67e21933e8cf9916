internal import CKCGCrypt
internal import KCByteStreams
internal import KCCryptography

/// The stream cipher Salsa20 with 20 rounds, with which old KeePass files protect their values.
@safe struct Salsa20: ~Copyable {
    private let library: cgcrypt_functions
    private let handle: gcry_cipher_hd_t

    /// Sets the key (32 bytes) and the nonce (8 bytes).
    init(key: borrowing SecretBytes, nonce: [UInt8]) throws(CryptographyFailure) {
        guard key.count == 32, nonce.count == 8 else { throw .unsupportedParameters("length of Salsa20's key") }
        let library = try LibGCrypt.load()
        unsafe handle = try Self.keyed(library, key, nonce)
        self.library = library
    }

    private static func keyed(
        _ library: cgcrypt_functions, _ key: borrowing SecretBytes, _ nonce: [UInt8]
    ) throws(CryptographyFailure) -> gcry_cipher_hd_t {
        var opened: gcry_cipher_hd_t?
        let status = unsafe library.gcry_cipher_open(
            &opened, Int32(GCRY_CIPHER_SALSA20.rawValue), Int32(GCRY_CIPHER_MODE_STREAM.rawValue), 0)
        guard status == 0, let handle = unsafe opened else { throw .library("Salsa20") }
        let keyed = key.withBytes { span in
            unsafe span.withUnsafeBufferPointer { unsafe library.gcry_cipher_setkey(handle, $0.baseAddress, $0.count) }
        }
        guard keyed == 0, unsafe library.gcry_cipher_setiv(handle, nonce, nonce.count) == 0 else {
            unsafe library.gcry_cipher_close(handle)
            throw .library("keying Salsa20")
        }
        return unsafe handle
    }

    deinit {
        unsafe library.gcry_cipher_close(handle)
    }

    /// Combines `bytes` with the next bytes of the key stream by exclusive or.
    mutating func process(inPlace bytes: inout SecretBytes) throws(CryptographyFailure) {
        if bytes.isEmpty { return }
        let (library, handle) = unsafe (library, handle)
        let status = bytes.withMutableBytes { span in
            unsafe span.withUnsafeMutableBufferPointer { buffer in
                unsafe library.gcry_cipher_encrypt(handle, buffer.baseAddress, buffer.count, nil, 0)
            }
        }
        guard status == 0 else { throw .library("Salsa20") }
    }
}
