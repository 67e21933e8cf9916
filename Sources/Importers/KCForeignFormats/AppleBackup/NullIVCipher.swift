internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources

/// AES-256-GCM with an empty initialization vector, which libraries refuse, built from calls that they offer.
///
/// GHASH does not depend on the vector, so it is computed by a GCM operation with a nonce of 12 zero bytes.
enum NullIVCipher {
    /// - Throws: `ForeignFailure.damaged`, `CryptographyFailure`.
    static func open(_ ciphertext: [UInt8], tag: [UInt8], key: borrowing SecretBytes) throws -> SecretBytes {
        let zeros = [UInt8](repeating: 0, count: 15)
        let nonce = Nonce(field: 0, counter: 0)
        var probe = SecretBytes(ciphertext.span)
        var counter = try BlockCipher(.aes256CTR, .encrypt, key: key, iv: (zeros + [2]).span)
        try counter.process(inPlace: &probe)
        var sealed = SecretBytes(capacity: ciphertext.count + 16)
        var gcm = try AuthenticatedCipher(.aes256GCM, key: key)
        let nothing: [UInt8] = []
        try probe.withBytes { bytes throws(CryptographyFailure) in
            try gcm.seal(bytes, nonce: nonce, associatedData: nothing.span, into: &sealed)
        }
        // The key stream blocks that mask the tags: one for the empty vector and one for the zero nonce.
        var masks = SecretBytes((zeros + [0] + zeros + [1]).span)
        var ecb = try BlockCipher(.aes256ECB, .encrypt, key: key, iv: nothing.span)
        try ecb.process(inPlace: &masks)
        let expected = sealed.withBytes { sealed in
            masks.withBytes { masks in
                (0..<16).map { sealed[ciphertext.count + $0] ^ masks[$0] ^ masks[$0 + 16] }
            }
        }
        guard constantTimeEqual(expected, tag) else { throw ForeignFailure.damaged("its content was altered") }
        var plain = SecretBytes(ciphertext.span)
        var stream = try BlockCipher(.aes256CTR, .decrypt, key: key, iv: (zeros + [1]).span)
        try stream.process(inPlace: &plain)
        return plain
    }
}
