internal import CKCLibCrypto
package import KCByteStreams

/// True if both hold the same bytes; timing reveals only the lengths (`CRYPTO_memcmp`).
package func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    unsafe left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
}

/// True if both hold the same bytes; timing reveals only the lengths (`CRYPTO_memcmp`).
package func constantTimeEqual(_ left: borrowing SecretBytes, _ right: borrowing SecretBytes) -> Bool {
    left.withBytes { left in
        right.withBytes { right in
            unsafe left.withUnsafeBufferPointer { left in
                unsafe right.withUnsafeBufferPointer { right in
                    unsafe left.count == right.count
                        && CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
                }
            }
        }
    }
}
