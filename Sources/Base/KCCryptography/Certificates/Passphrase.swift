internal import CKCLibCrypto
internal import KCByteStreams

/// How a passphrase is passed to libcrypto.
///
/// PKCS#12 has two forms of "no password": the empty one, encoded as a BMPString of two zero bytes, and no bytes at
/// all. Programs write both.
enum Passphrase {
    /// No bytes at all.
    case null
    /// The empty text.
    case empty
    /// The passphrase that was given.
    case bytes

    /// Passes libcrypto the bytes and their count; `given` is used by `bytes` only.
    func with<R>(
        _ given: borrowing SecretBytes, _ body: (UnsafePointer<CChar>?, Int32) -> R
    ) throws(CertificateFailure) -> R {
        try CertificateLimit.passphraseSize.check(given.count)
        let count = Int32(given.count)
        switch self {
        case .null: return body(nil, 0)
        case .empty: return unsafe "".withCString { unsafe body($0, 0) }
        case .bytes where count == 0: return unsafe "".withCString { unsafe body($0, 0) }
        case .bytes:
            return given.withBytes { bytes in
                unsafe bytes.withUnsafeBufferPointer { buffer in
                    unsafe buffer.withMemoryRebound(to: CChar.self) { unsafe body($0.baseAddress, count) }
                }
            }
        }
    }
}
