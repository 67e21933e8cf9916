/// Why a file of certificates or keys could not be read or written.
package enum CertificateFailure: Error, Hashable, Sendable {
    /// The file breaks a rule of its format; the text names the rule and contains no foreign text.
    case malformed(String)
    /// The file is in none of the known formats.
    case unknownFormat
    /// The content is encrypted and no passphrase was given.
    case passphraseRequired
    /// The passphrase is wrong, or a protected part was altered: a MAC cannot tell the two apart.
    case wrongPassphrase
    /// The file is well-formed but uses a feature that is not supported; the text names it, in printable ASCII.
    case unsupported(String)
    /// A limit is exceeded.
    case tooLarge(limit: CertificateLimit)
    /// libcrypto failed for a reason other than the input (memory, randomness, a broken configuration).
    case library(String)
}

/// The limits for reading a file of certificates or keys.
package enum CertificateLimit: String, CaseIterable, Hashable, Sendable {
    /// Bytes of a file, or of one certificate or key in it.
    case fileSize
    /// Certificates, keys and other entries of one file.
    case entryCount
    /// Safe contents inside safe contents of a PKCS#12 file.
    case nesting
    /// Iterations of one key derivation.
    case iterations
    /// Iterations of all key derivations of a file together.
    case totalIterations
    /// Work of scrypt, as the product of N, r and p.
    case scryptWork
    /// Memory of scrypt in bytes, as 128 · N · r.
    case scryptMemory
    /// Bits of a public or private key.
    case keySize
    /// Bytes of a passphrase.
    case passphraseSize

    /// The largest value that is accepted.
    package var value: Int {
        switch self {
        // A system's complete set of root certificates takes about 200 kB.
        case .fileSize: 16 << 20
        case .entryCount: 10_000
        case .nesting: 4
        // Firefox writes 600,000 and OpenSSL 2,048; this many take seconds.
        case .iterations: 10_000_000
        // About a minute; each private key has a derivation of its own.
        case .totalIterations: 200_000_000
        // OpenSSL writes 2^17; this is some seconds.
        case .scryptWork: 1 << 22
        // libcrypto's own bound for encrypted keys.
        case .scryptMemory: 32 << 20
        case .keySize: 16_384
        case .passphraseSize: 64 << 10
        }
    }

    /// Throws if the value exceeds the limit.
    func check(_ value: Int) throws(CertificateFailure) {
        guard value <= self.value else { throw .tooLarge(limit: self) }
    }
}
