internal import CKCLibCrypto
package import KCByteStreams

/// A message of libsodium's `crypto_secretstream_xchacha20poly1305`, for files of other programs.
///
/// The first half of the header makes a key of its own from the key (HChaCha20), and the rest of it becomes the nonce. A
/// message begins with an encrypted tag, which says whether it is the last one.
///
/// Source: libsodium's documentation, "Stream encryption"; draft-irtf-cfrg-xchacha for HChaCha20.
package enum SecretStream {
    /// The length of a header in bytes.
    package static let headerLength = 24
    // Of a message that others follow, and of the last one.
    private static let messageTag: UInt8 = 0
    private static let finalTag: UInt8 = 3
    private static let macLength = 16

    /// The plaintext of a stream that consists of one message.
    ///
    /// - Parameters:
    ///   - sealed: the encrypted tag, the ciphertext and a 16-byte code.
    ///   - key: 32 bytes.
    ///   - header: 24 bytes.
    ///   - marksEnd: false for writers that do not mark the message as the last one.
    /// - Throws: `CryptographyFailure` (`authentication`, also for a message that is not marked as it has to be,
    ///   `unsupportedParameters` for another length of the key or header, `library`).
    package static func open(
        _ sealed: borrowing Span<UInt8>, key: borrowing SecretBytes, header: [UInt8], marksEnd: Bool = true
    ) throws(CryptographyFailure) -> SecretBytes {
        try LibCrypto.require(header.count, is: headerLength, "header length")
        guard sealed.count > macLength else { throw .authentication }
        let messageKey = try subkey(of: key, nonce: Array(header.prefix(16)))
        // The number of the message, from 1, then the rest of the header.
        let nonce = [1, 0, 0, 0] + header.suffix(8)
        let ciphertext = sealed.extracting(1..<sealed.count - macLength)
        // The first block of the stream is the key of the code; the tag takes one more block.
        let start = try keyStream(messageKey, nonce: nonce, block: 0, count: 128)
        var block = start.withBytes { SecretBytes($0.extracting(64...)) }
        let tag = block.withMutableBytes { block in
            defer { block[0] = sealed[0] }
            return block[0] ^ sealed[0]
        }
        let macKey = start.withBytes { SecretBytes($0.extracting(..<32)) }
        let mac = try code(of: block, ciphertext, key: macKey)
        guard constantTimeEqual(mac, SecretBytes(sealed.extracting((sealed.count - macLength)...))),
            tag == finalTag || tag == messageTag && !marksEnd
        else { throw .authentication }
        var cipher = try BlockCipher(.chaCha20, .decrypt, key: messageKey, iv: ([2, 0, 0, 0] + nonce).span)
        var plaintext = SecretBytes(capacity: ciphertext.count)
        try cipher.process(ciphertext, into: &plaintext)
        return plaintext
    }

    /// HChaCha20: a key made from a key and 16 bytes.
    ///
    /// The subkey is the first and the last quarter of ChaCha20's final state, which is a block of the key stream
    /// without the words that ChaCha20 adds at its end.
    static func subkey(of key: borrowing SecretBytes, nonce: [UInt8]) throws(CryptographyFailure) -> SecretBytes {
        try LibCrypto.require(nonce.count, is: 16, "nonce length")
        var cipher = try BlockCipher(.chaCha20, .encrypt, key: key, iv: nonce.span)
        var block = SecretBytes(copying: repeatElement(0, count: 64))
        try cipher.process(inPlace: &block)
        let added = Array("expand 32-byte k".utf8) + nonce
        return block.withBytes { block in
            var subkey = SecretBytes(capacity: 32)
            for start in stride(from: 0, to: 32, by: 4) {
                let place = start < 16 ? start : start + 32
                var word: UInt32 = 0
                var other: UInt32 = 0
                for index in 0..<4 {
                    word |= UInt32(block[place + index]) << (8 * index)
                    other |= UInt32(added[start + index]) << (8 * index)
                }
                word &-= other
                for index in 0..<4 { subkey.append(UInt8(truncatingIfNeeded: word >> (8 * index))) }
            }
            return subkey
        }
    }

    private static func keyStream(
        _ key: borrowing SecretBytes, nonce: [UInt8], block: UInt8, count: Int
    ) throws(CryptographyFailure) -> SecretBytes {
        var cipher = try BlockCipher(.chaCha20, .encrypt, key: key, iv: ([block, 0, 0, 0] + nonce).span)
        var stream = SecretBytes(copying: repeatElement(0, count: count))
        try cipher.process(inPlace: &stream)
        return stream
    }

    /// The code of a message without associated data.
    private static func code(
        of block: borrowing SecretBytes, _ ciphertext: borrowing Span<UInt8>, key: borrowing SecretBytes
    ) throws(CryptographyFailure) -> SecretBytes {
        var message = block.withBytes { SecretBytes($0) }
        message.append(ciphertext)
        // libsodium pads by the length itself, and not up to a multiple of 16.
        for _ in 0..<ciphertext.count % 16 { message.append(0) }
        for number in [UInt64(0), UInt64(64 + ciphertext.count)] {
            for shift in stride(from: 0, to: 64, by: 8) { message.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        return try poly1305(of: message, key: key)
    }

    /// Poly1305 (RFC 8439, section 2.5) of one message; its key is used once.
    static func poly1305(
        of message: borrowing SecretBytes, key: borrowing SecretBytes
    ) throws(CryptographyFailure) -> SecretBytes {
        try LibCrypto.require(key.count, is: 32, "key length")
        var mac = SecretBytes(capacity: macLength)
        try key.withBytes { key throws(CryptographyFailure) in
            try message.withBytes { message throws(CryptographyFailure) in
                try unsafe key.withUnsafeBufferPointer { key throws(CryptographyFailure) in
                    try unsafe message.withUnsafeBufferPointer { message throws(CryptographyFailure) in
                        unsafe try mac.append(length: macLength, failure: .library("Poly1305")) { output in
                            var length = 0
                            let result = unsafe EVP_Q_mac(
                                nil, "POLY1305", nil, nil, nil, key.baseAddress, key.count, message.baseAddress,
                                message.count, output, macLength, &length)
                            return unsafe result != nil && length == macLength ? 1 : 0
                        }
                    }
                }
            }
        }
        return mac
    }
}
