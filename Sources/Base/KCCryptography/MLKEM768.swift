internal import CKCMLKEM
internal import KCByteStreams

/// ML-KEM-768 (FIPS 203), by mlkem-native.
///
/// All random bytes are arguments: each function is deterministic.
enum MLKEM768 {
    static let publicKeyLength = 1_184
    static let ciphertextLength = 1_088
    /// The length of `d ‖ z`, what a key pair is made from.
    static let seedLength = 64
    static let randomnessLength = 32
    private static let privateKeyLength = 2_400
    private static let sharedSecretLength = 32

    /// The two halves of a key.
    struct KeyPair: ~Copyable {
        /// The expanded form, 2,400 bytes.
        let privateKey: SecretBytes
        let publicKey: [UInt8]
    }

    /// A secret, and the form in which the owner of the key receives it.
    struct Encapsulated: ~Copyable {
        let sharedSecret: SecretBytes
        let ciphertext: [UInt8]
    }

    /// Makes the key pair of a seed (ML-KEM.KeyGen_internal).
    static func keyPair(of seed: borrowing SecretBytes) throws(CryptographyFailure) -> KeyPair {
        try LibCrypto.require(seed.count, is: seedLength, "seed length")
        var publicKey = [UInt8](repeating: 0, count: publicKeyLength)
        var privateKey = SecretBytes(capacity: privateKeyLength)
        try seed.withBytes { seed throws(CryptographyFailure) in
            try unsafe seed.withUnsafeBufferPointer { seed throws(CryptographyFailure) in
                unsafe try privateKey.append(length: privateKeyLength, failure: .library("making a key")) { output in
                    unsafe kcbackup_mlkem768_keypair_derand(&publicKey, output, seed.baseAddress) == 0 ? 1 : 0
                }
            }
        }
        return KeyPair(privateKey: privateKey, publicKey: publicKey)
    }

    /// False for bytes that are not the encoding of a public key (FIPS 203, section 7.2).
    static func isPublicKey(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == publicKeyLength else { return false }
        return unsafe kcbackup_mlkem768_check_pk(bytes) == 0
    }

    /// Makes a secret for the owner of a key that is valid (ML-KEM.Encaps_internal).
    static func encapsulate(
        to publicKey: [UInt8], randomness: borrowing SecretBytes
    ) throws(CryptographyFailure) -> Encapsulated {
        try LibCrypto.require(publicKey.count, is: publicKeyLength, "public key length")
        try LibCrypto.require(randomness.count, is: randomnessLength, "randomness length")
        var ciphertext = [UInt8](repeating: 0, count: ciphertextLength)
        var secret = SecretBytes(capacity: sharedSecretLength)
        try randomness.withBytes { randomness throws(CryptographyFailure) in
            try unsafe randomness.withUnsafeBufferPointer { randomness throws(CryptographyFailure) in
                unsafe try secret.append(length: sharedSecretLength, failure: .library("encapsulating")) { output in
                    unsafe kcbackup_mlkem768_enc_derand(&ciphertext, output, publicKey, randomness.baseAddress) == 0
                        ? 1 : 0
                }
            }
        }
        return Encapsulated(sharedSecret: secret, ciphertext: ciphertext)
    }

    /// Gets the secret (ML-KEM.Decaps); another one, which the ciphertext and the key determine, if it is for another key.
    static func decapsulate(
        _ ciphertext: [UInt8], with privateKey: borrowing SecretBytes
    ) throws(CryptographyFailure) -> SecretBytes {
        try LibCrypto.require(ciphertext.count, is: ciphertextLength, "ciphertext length")
        try LibCrypto.require(privateKey.count, is: privateKeyLength, "private key length")
        var secret = SecretBytes(capacity: sharedSecretLength)
        try privateKey.withBytes { privateKey throws(CryptographyFailure) in
            try unsafe privateKey.withUnsafeBufferPointer { privateKey throws(CryptographyFailure) in
                unsafe try secret.append(length: sharedSecretLength, failure: .library("decapsulating")) { output in
                    unsafe kcbackup_mlkem768_dec(output, ciphertext, privateKey.baseAddress) == 0 ? 1 : 0
                }
            }
        }
        return secret
    }
}
