internal import CKCLibCrypto
package import KCByteStreams

/// HMAC (RFC 2104), keyed once and used for any number of messages.
///
/// Keeping the keyed state saves two compressions for each message.
@safe package struct HMAC: ~Copyable {
    private let pointer: OpaquePointer
    /// The length of a code in bytes.
    private let length: Int

    /// Sets the key; any length is allowed.
    ///
    /// - Parameter hash: not MD5; other than SHA-256 only for files of other programs.
    package init(_ hash: HashFunction = .sha256, key: borrowing SecretBytes) throws(CryptographyFailure) {
        unsafe pointer = try key.withBytes { span throws(CryptographyFailure) in unsafe try Self.keyed(hash, span) }
        length = hash.length
    }

    /// Sets a public key, such as HKDF's salt.
    init(publicKey key: borrowing Span<UInt8>) throws(CryptographyFailure) {
        unsafe pointer = try Self.keyed(.sha256, key)
        length = HashFunction.sha256.length
    }

    deinit {
        unsafe EVP_MAC_CTX_free(pointer)
    }

    private static func keyed(
        _ hash: HashFunction, _ key: borrowing Span<UInt8>
    ) throws(CryptographyFailure) -> OpaquePointer {
        let context = unsafe try LibCrypto.require(unsafe EVP_MAC_CTX_new(LibCrypto.hmac), "making an HMAC")
        var status = unsafe kcbackup_hmac_use(context, hash.rawValue)
        if status == 1 {
            status = unsafe key.withUnsafeBufferPointer { buffer in
                // NULL means "the same key as before", so an empty key needs an address too.
                var nothing: UInt8 = 0
                return unsafe buffer.isEmpty
                    ? EVP_MAC_init(context, &nothing, 0, nil)
                    : EVP_MAC_init(context, buffer.baseAddress, buffer.count, nil)
            }
        }
        if status != 1 {
            unsafe EVP_MAC_CTX_free(context)
            throw LibCrypto.failure("keying an HMAC")
        }
        return unsafe context
    }

    /// Adds bytes to the current message.
    package mutating func update(_ bytes: borrowing Span<UInt8>) throws(CryptographyFailure) {
        let status = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe EVP_MAC_update(pointer, buffer.baseAddress, buffer.count)
        }
        try LibCrypto.check(status, "HMAC")
    }

    /// Adds secret bytes to the current message.
    package mutating func update(_ bytes: borrowing SecretBytes) throws(CryptographyFailure) {
        try bytes.withBytes { bytes throws(CryptographyFailure) in try update(bytes) }
    }

    /// Ends the current message, returns its code and starts the next one under the same key.
    package mutating func finalize() throws(CryptographyFailure) -> [UInt8] {
        var code = SecretBytes(capacity: length)
        try finalize(into: &code)
        return code.withBytes { span in span.indices.map { span[$0] } }
    }

    /// Ends the current message, appends its code and starts the next one under the same key.
    package mutating func finalize(into code: inout SecretBytes) throws(CryptographyFailure) {
        let context = unsafe pointer
        let expected = length
        unsafe try code.append(length: expected, failure: .library("HMAC")) { output in
            var length = 0
            guard unsafe EVP_MAC_final(context, output, &length, expected) == 1, length == expected else { return 0 }
            return unsafe EVP_MAC_init(context, nil, 0, nil)
        }
    }

    /// The code of a complete message.
    package mutating func authenticate(_ message: borrowing Span<UInt8>) throws(CryptographyFailure) -> [UInt8] {
        try update(message)
        return try finalize()
    }

    /// The code of a complete message that is secret.
    package mutating func authenticate(_ message: borrowing SecretBytes) throws(CryptographyFailure) -> [UInt8] {
        try update(message)
        return try finalize()
    }

    /// True if `code` is the code of `message`, compared in constant time.
    package mutating func isValid(
        _ code: [UInt8], of message: borrowing Span<UInt8>
    ) throws(CryptographyFailure) -> Bool {
        constantTimeEqual(try authenticate(message), code)
    }
}
