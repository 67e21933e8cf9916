internal import CKCLibCrypto
package import KCByteStreams

/// A block or stream cipher for files of other programs, without padding and without authentication.
///
/// ```swift
/// let plaintext = try BlockCipher.decrypt(ciphertext, .aes128CBC, key: key, iv: iv.span)
/// ```
@safe package struct BlockCipher: ~Copyable {
    /// A cipher with its mode.
    package enum Algorithm: String, CaseIterable, Hashable, Sendable {
        case aes128CBC = "AES-128-CBC"
        case aes256CBC = "AES-256-CBC"
        case aes256CTR = "AES-256-CTR"
        case aes256ECB = "AES-256-ECB"
        /// Three 8-byte keys, concatenated.
        case tripleDESCBC = "DES-EDE3-CBC"
        case blowfishCBC = "BF-CBC"
        case blowfishECB = "BF-ECB"
        /// The IV is the counter of the first block (4 bytes, little-endian), followed by a 12-byte nonce (RFC 8439).
        case chaCha20 = "ChaCha20"

        /// The size of a block in bytes; 1 for a stream cipher.
        package var blockSize: Int {
            switch self {
            case .aes128CBC, .aes256CBC, .aes256ECB: 16
            case .aes256CTR, .chaCha20: 1
            case .tripleDESCBC, .blowfishCBC, .blowfishECB: 8
            }
        }

        /// The accepted key lengths in bytes.
        package var keyLengths: ClosedRange<Int> {
            switch self {
            case .aes128CBC: 16...16
            case .aes256CBC, .aes256CTR, .aes256ECB, .chaCha20: 32...32
            case .tripleDESCBC: 24...24
            case .blowfishCBC, .blowfishECB: 4...56
            }
        }

        /// The length of the initialization vector in bytes; for a counter mode, that of the first block.
        package var ivLength: Int {
            switch self {
            case .aes128CBC, .aes256CBC, .aes256CTR, .chaCha20: 16
            case .tripleDESCBC, .blowfishCBC: 8
            case .aes256ECB, .blowfishECB: 0
            }
        }

        private var isLegacy: Bool { self == .blowfishCBC || self == .blowfishECB }

        /// Fetches the cipher, which the caller must free.
        fileprivate func fetch() throws(CryptographyFailure) -> OpaquePointer {
            let context = isLegacy ? unsafe LibCrypto.legacyContext : nil
            if isLegacy, unsafe context == nil { throw .library("loading OpenSSL's legacy ciphers") }
            return unsafe try LibCrypto.require(EVP_CIPHER_fetch(context, rawValue, nil), "finding a cipher")
        }
    }

    /// Whether the input is decrypted or encrypted.
    package enum Direction: Int32, Sendable {
        case decrypt = 0
        case encrypt = 1
    }

    private let context: OpaquePointer
    private let blockSize: Int

    /// Sets the key and the initialization vector, which is empty for ECB.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for another length, `library`).
    package init(
        _ algorithm: Algorithm, _ direction: Direction, key: borrowing SecretBytes, iv: borrowing Span<UInt8>
    ) throws(CryptographyFailure) {
        unsafe context = try Self.keyed(algorithm, direction, key, iv)
        blockSize = algorithm.blockSize
    }

    private static func keyed(
        _ algorithm: Algorithm, _ direction: Direction, _ key: borrowing SecretBytes, _ iv: borrowing Span<UInt8>
    ) throws(CryptographyFailure) -> OpaquePointer {
        guard algorithm.keyLengths.contains(key.count) else { throw .unsupportedParameters("key length") }
        try LibCrypto.require(iv.count, is: algorithm.ivLength, "initialization vector length")
        let cipher = unsafe try algorithm.fetch()
        // The context holds its own reference to the cipher.
        defer { unsafe EVP_CIPHER_free(cipher) }
        let context = unsafe try LibCrypto.require(EVP_CIPHER_CTX_new(), "making a cipher")
        var status = unsafe EVP_CipherInit_ex2(context, cipher, nil, nil, direction.rawValue, nil)
        if status == 1 { status = unsafe EVP_CIPHER_CTX_set_key_length(context, Int32(key.count)) }
        if status == 1 {
            status = key.withBytes { key in
                unsafe key.withUnsafeBufferPointer { key in
                    unsafe iv.withUnsafeBufferPointer { iv in
                        unsafe EVP_CipherInit_ex2(
                            context, nil, key.baseAddress, iv.baseAddress, direction.rawValue, nil)
                    }
                }
            }
        }
        if status == 1 { status = unsafe EVP_CIPHER_CTX_set_padding(context, 0) }
        if status != 1 {
            unsafe EVP_CIPHER_CTX_free(context)
            throw LibCrypto.failure("keying a cipher")
        }
        return unsafe context
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(context)
    }

    /// Encrypts or decrypts complete blocks and appends the result to `output`.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for a partial block, `library`); nothing is appended.
    package mutating func process(
        _ input: borrowing Span<UInt8>, into output: inout SecretBytes
    ) throws(CryptographyFailure) {
        let count = try blocks(input.count)
        if count == 0 { return }
        let context = unsafe context
        try unsafe input.withUnsafeBufferPointer { input throws(CryptographyFailure) in
            unsafe try output.append(length: input.count, failure: .library("a cipher")) { output in
                var written: Int32 = 0
                let status = unsafe EVP_CipherUpdate(context, output, &written, input.baseAddress, count)
                return written == count ? status : 0
            }
        }
    }

    /// Encrypts or decrypts complete blocks in place.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for a partial block, `library`).
    package mutating func process(inPlace bytes: inout SecretBytes) throws(CryptographyFailure) {
        let count = try blocks(bytes.count)
        if count == 0 { return }
        let context = unsafe context
        let status: Int32 = bytes.withMutableBytes { span in
            unsafe span.withUnsafeMutableBufferPointer { buffer in
                var written: Int32 = 0
                let status = unsafe EVP_CipherUpdate(context, buffer.baseAddress, &written, buffer.baseAddress, count)
                return written == count ? status : 0
            }
        }
        try LibCrypto.check(status, "a cipher")
    }

    /// The plaintext of complete blocks.
    ///
    /// - Throws: `CryptographyFailure` (`unsupportedParameters` for another length, `library`).
    package static func decrypt(
        _ ciphertext: borrowing Span<UInt8>, _ algorithm: Algorithm, key: borrowing SecretBytes,
        iv: borrowing Span<UInt8>
    ) throws(CryptographyFailure) -> SecretBytes {
        var plaintext = SecretBytes(capacity: ciphertext.count)
        var cipher = try BlockCipher(algorithm, .decrypt, key: key, iv: iv)
        try cipher.process(ciphertext, into: &plaintext)
        return plaintext
    }

    private func blocks(_ count: Int) throws(CryptographyFailure) -> Int32 {
        guard count.isMultiple(of: blockSize) else { throw .unsupportedParameters("length of blocks") }
        return try LibCrypto.int32(count, "length of blocks")
    }
}

extension SecretBytes {
    /// Removes PKCS #7 padding; returns false and changes nothing if the padding is invalid.
    ///
    /// Valid padding does not prove that the key is right: one wrong key in 256 passes.
    package mutating func removePadding(blockSize: Int) -> Bool {
        let total = count
        let length: Int? = withBytes { bytes in
            guard total > 0, total.isMultiple(of: blockSize) else { return nil }
            let length = Int(bytes[total - 1])
            guard (1...blockSize).contains(length) else { return nil }
            return (total - length..<total).allSatisfy { Int(bytes[$0]) == length } ? length : nil
        }
        guard let length else { return false }
        removeLast(length)
        return true
    }
}
