import AgeEncryption
import ByteStreams
import Cryptography
import TestSupport
import Testing

/// A cost that takes almost no time, only for tests.
let quickCost = 2

/// `text` as a secret.
func secretText(_ text: String) -> SecretBytes {
    SecretBytes(copying: text.utf8)
}

/// Parses the identity in `text`; nil if it is not one.
func parseIdentity(_ text: String) throws -> X25519Identity? {
    try X25519Identity.parse(Array(text.utf8).span)
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

/// The hash of bytes that are too many to print on failure.
func fingerprint(_ bytes: some Collection<UInt8>) -> SHA256Digest {
    SHA256.hash(Array(bytes).span)
}

/// The plaintext read from a file, and the failure that ended it.
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

/// The `AgeFailure` that `body` throws, if any.
func ageFailure(_ body: () throws -> Void) -> AgeFailure? {
    do {
        try body()
        return nil
    } catch {
        return error as? AgeFailure
    }
}
