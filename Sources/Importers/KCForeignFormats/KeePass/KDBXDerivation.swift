internal import KCByteStreams
internal import KCCryptography
internal import KCExportFormats

/// How the key is derived, and made slow to guess.
enum KDBXDerivation: Hashable {
    /// AES-256, applied to the key this many times.
    case aes(rounds: UInt64, seed: [UInt8])
    case argon2(Argon2.Kind, Argon2.Cost, salt: [UInt8])

    static let aesNames = ["c9d9f39a628a4460bf740d08c18a4fea", "7c02bb8279a74ac0927d114a00648238"]
    static let argon2d = "ef636ddf8c29444b91f7a9a403e30a0c"
    static let argon2id = KDBX.argon2id

    // Far more than programs choose; some ten seconds of work.
    static let roundsLimit: UInt64 = 100_000_000
    static let iterationsLimit: UInt64 = 1_000
    // In bytes; more than this may not be available.
    static let memoryLimit: UInt64 = 1 << 30
    static let lanesLimit: UInt32 = 64
    // Passes times memory; a pass over 1 GiB takes some seconds, and cannot be interrupted.
    static let workLimit: UInt64 = 64 << 30

    /// The transformed key, 32 bytes.
    ///
    /// A signal ends the work with AES at once, and that with Argon2 at its end.
    ///
    /// - Throws: `CryptographyFailure`, `StreamFailure` (`interrupted`).
    func transform(_ composite: borrowing SecretBytes) throws -> SecretBytes {
        switch self {
        case .argon2(let kind, let cost, let salt):
            return try Argon2.derive(password: composite, salt: salt, kind, cost, count: 32)
        case .aes(let rounds, let seed):
            let key = SecretBytes(copying: seed)
            var both = SecretBytes(capacity: 32)
            for half in 0..<2 {
                let start = composite.withBytes { bytes in SecretBytes(bytes.extracting(half * 16..<half * 16 + 16)) }
                try Self.encrypt(start, rounds, key, into: &both)
            }
            return try HashFunction.sha256.hash(both)
        }
    }

    /// Encrypts a block repeatedly: CBC over zeros does this, with one call of the library for many rounds.
    private static func encrypt(
        _ block: borrowing SecretBytes, _ rounds: UInt64, _ key: borrowing SecretBytes, into output: inout SecretBytes
    ) throws {
        let roundsAtOnce: UInt64 = 4_096
        var last = block.copy()
        var rest = rounds
        var cipher = try last.withBytes { iv throws(CryptographyFailure) in
            try BlockCipher(.aes256CBC, .encrypt, key: key, iv: iv)
        }
        let empty = [UInt8](repeating: 0, count: Int(min(rounds, roundsAtOnce)) * 16)
        var zeros = SecretBytes(capacity: empty.count)
        while rest > 0 {
            if Interruption.isRequested { throw StreamFailure(.decrypting, .interrupted) }
            let now = min(rest, roundsAtOnce)
            zeros.removeAll()
            zeros.append(empty.span.extracting(..<(Int(now) * 16)))
            try cipher.process(inPlace: &zeros)
            rest -= now
            if rest == 0 {
                last.removeAll()
                zeros.withBytes { bytes in last.append(bytes.extracting((bytes.count - 16)...)) }
            }
        }
        last.withBytes { output.append($0) }
    }
}
