internal import CKCLibCrypto
package import KCByteStreams

/// The key derivation of ANSI X9.63.
package enum X963 {
    /// Derives `count` bytes from a secret.
    ///
    /// - Throws: `CertificateFailure.library`, also if the function cannot produce that many bytes with this hash.
    package static func derive(
        _ secret: borrowing SecretBytes, info: [UInt8], count: Int, hash: HashFunction
    ) throws(CertificateFailure) -> SecretBytes {
        unsafe try LibCrypto.secret(length: count) { output in
            secret.withBytes { secret in
                unsafe secret.withUnsafeBufferPointer { secret in
                    unsafe kcbackup_x963(
                        hash.rawValue, secret.baseAddress, secret.count, info, info.count, output, count)
                }
            } == 1
        }
    }
}

/// AES-GCM with a 16-byte nonce, as Apple's key functions use it; for keys that encrypt only once.
package enum WideNonceGCM {
    package static let nonceSize = 16
    package static let tagSize = 16

    /// The ciphertext and its tag.
    ///
    /// - Parameters:
    ///   - key: 16 or 32 bytes.
    ///   - nonce: 16 bytes.
    package static func seal(
        _ plain: borrowing Span<UInt8>, key: borrowing SecretBytes, nonce: [UInt8], data: [UInt8] = []
    ) throws(CertificateFailure) -> [UInt8] {
        try CertificateLimit.fileSize.check(plain.count)
        var sealed = [UInt8](repeating: 0, count: plain.count + tagSize)
        var tag = [UInt8](repeating: 0, count: tagSize)
        let status = key.withBytes { key in
            unsafe key.withUnsafeBufferPointer { key in
                unsafe plain.withUnsafeBufferPointer { plain in
                    unsafe kcbackup_gcm(
                        1, key.baseAddress, key.count, nonce, data, Int32(data.count), plain.baseAddress,
                        Int32(plain.count), &sealed, &tag)
                }
            }
        }
        try LibCrypto.check(status, else: .library("encrypting"))
        sealed.replaceSubrange(plain.count..., with: tag)
        return sealed
    }

    /// The plaintext.
    ///
    /// - Throws: `CertificateFailure` (`malformed` if the tag is invalid, `tooLarge`).
    package static func open(
        _ sealed: ArraySlice<UInt8>, key: borrowing SecretBytes, nonce: [UInt8], data: [UInt8] = []
    ) throws(CertificateFailure) -> SecretBytes {
        let failure = CertificateFailure.malformed("the bytes are not encrypted for this key")
        guard sealed.count >= tagSize else { throw failure }
        try CertificateLimit.fileSize.check(sealed.count)
        var tag = Array(sealed.suffix(tagSize))
        let bytes = Array(sealed.dropLast(tagSize))
        let count = bytes.count
        var status: Int32 = 0
        var plain = SecretBytes(capacity: count + tagSize)
        try plain.append(upTo: count + tagSize) { output throws(CertificateFailure) in
            unsafe output.withUnsafeMutableBufferPointer { room, written in
                status = key.withBytes { key in
                    unsafe key.withUnsafeBufferPointer { key in
                        unsafe kcbackup_gcm(
                            0, key.baseAddress, key.count, nonce, data, Int32(data.count), bytes, Int32(count),
                            room.baseAddress, &tag)
                    }
                }
                if status == 1 { written = count }
            }
            if status != 1 { throw LibCrypto.failing(failure) }
        }
        return plain
    }
}
