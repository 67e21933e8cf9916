import KCAgeEncryption
import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

/// A scrypt work factor (log2 N) that is fast enough for tests and far too low for real files.
let quickCost = 2

/// `text` as a secret.
func secretText(_ text: String) -> SecretBytes {
    SecretBytes(copying: text.utf8)
}

/// The identity written in `text`, or nil if it does not contain one.
func parseIdentity(_ text: String) throws -> NativeIdentity? {
    try NativeIdentity.parse(Array(text.utf8).span)
}

/// Encrypts `plaintext`, written in pieces of `pieceSize`.
func encrypt(
    _ plaintext: [UInt8], to recipients: [any Recipient], pieceSize: Int = 10_000
) throws -> [UInt8] {
    var encryptor = try AgeEncryptor(recipients: recipients, to: MemorySink())
    for start in stride(from: 0, to: plaintext.count, by: pieceSize) {
        let piece = Array(plaintext[start..<min(start + pieceSize, plaintext.count)])
        try encryptor.write(piece.span)
    }
    return try encryptor.finish()
}

/// Decrypts a complete file.
func decrypt(_ file: [UInt8], with identities: [any Identity]) throws -> [UInt8] {
    try drain(AgeDecryptor(MemorySource(copying: file), identities: identities))
}

/// The hash of `bytes`, for comparing data that is too long to print when a test fails.
func fingerprint(_ bytes: some Collection<UInt8>) -> SHA256Digest {
    SHA256.hash(Array(bytes).span)
}

/// The plaintext released before decryption ended, and the failure that ended it.
struct Decryption {
    var released: [UInt8] = []
    var failure: (any Error)?

    init(_ file: [UInt8], with identities: [any Identity]) {
        do {
            var decryptor = try AgeDecryptor(MemorySource(copying: file), identities: identities)
            var bytes: [UInt8] = []
            defer { released = bytes }
            try decryptor.forEachPiece { piece throws(StreamFailure) in
                for index in piece.indices { bytes.append(piece[index]) }
            }
        } catch {
            failure = error
        }
    }
}

/// The `AgeFailure` that `body` throws, or nil.
func ageFailure(_ body: () throws -> Void) -> AgeFailure? {
    do {
        try body()
        return nil
    } catch {
        return error as? AgeFailure
    }
}
