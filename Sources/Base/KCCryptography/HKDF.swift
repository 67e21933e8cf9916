package import KCByteStreams

/// HKDF with SHA-256 (RFC 5869).
package enum HKDF {
    /// The longest output: 255 blocks of 32 bytes (RFC 5869, section 2.3).
    package static let outputLimit = 255 * 32

    /// Extracts a 32-byte pseudo-random key from `inputKey`.
    package static func extract(
        salt: [UInt8], inputKey: borrowing SecretBytes
    ) throws(CryptographyFailure) -> SecretBytes {
        var hmac = try HMAC(publicKey: salt.span)
        try hmac.update(inputKey)
        var key = SecretBytes(capacity: 32)
        try hmac.finalize(into: &key)
        return key
    }

    /// Derives `count` bytes (1 to `outputLimit`) for the purpose that `info` names.
    package static func expand(
        pseudoRandomKey: borrowing SecretBytes, info: [UInt8], count: Int
    ) throws(CryptographyFailure) -> SecretBytes {
        guard (1...outputLimit).contains(count) else { throw .unsupportedParameters("HKDF output length") }
        var hmac = try HMAC(key: pseudoRandomKey)
        var output = SecretBytes(capacity: count + 32)
        var block = SecretBytes(capacity: 32)
        for number in 1...UInt8((count + 31) / 32) {
            try hmac.update(block)
            try hmac.update(info.span)
            try hmac.update([number].span)
            block.removeAll()
            try hmac.finalize(into: &block)
            block.withBytes { output.append($0) }
        }
        output.removeLast(output.count - count)
        return output
    }

    /// Extracts, then expands.
    package static func derive(
        inputKey: borrowing SecretBytes, salt: [UInt8], info: [UInt8], count: Int
    ) throws(CryptographyFailure) -> SecretBytes {
        let key = try extract(salt: salt, inputKey: inputKey)
        return try expand(pseudoRandomKey: key, info: info, count: count)
    }
}

/// HKDF-Expand to 32 bytes, repeatedly under one key, to derive a key for each item.
package struct HKDFExpander: ~Copyable {
    private var hmac: HMAC

    /// Keys the HMAC with `pseudoRandomKey`, which must be uniformly random.
    package init(pseudoRandomKey: borrowing SecretBytes) throws(CryptographyFailure) {
        hmac = try HMAC(key: pseudoRandomKey)
    }

    /// Replaces `key` with the 32 bytes for the purpose that `info` names.
    ///
    /// - Throws: `CryptographyFailure.library`; `key` is then empty.
    package mutating func expand(
        info: borrowing Span<UInt8>, into key: inout SecretBytes
    ) throws(CryptographyFailure) {
        key.removeAll()
        try hmac.update(info)
        try hmac.update(Self.firstBlock.span)
        try hmac.finalize(into: &key)
    }

    // 32 bytes are a single block, number 1.
    private static let firstBlock: [UInt8] = [1]
}
