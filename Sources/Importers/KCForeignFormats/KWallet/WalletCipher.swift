internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources

/// The encryption of a wallet: Blowfish with a key derived from a password.
///
/// A wallet does not state its byte order. KDE 4 swaps the bytes of each word before and after Blowfish, and uses SHA-1
/// as checksum. Frameworks 5 (since 2020) and 6 do not swap bytes, and use a SHA-1 variant of their own. The checksum
/// tells which of the two wrote a wallet.
struct WalletCipher {
    enum Kind: UInt8 {
        case ecb = 0
        case cbc = 3
    }

    enum Derivation: UInt8 {
        case sha1 = 0
        case pbkdf2 = 2
    }

    let kind: Kind
    let derivation: Derivation
    /// Empty for the old key derivation.
    let salt: [UInt8]

    private static let blockSize = 8
    private static let checkLength = 20
    private static let rounds = 50_000
    private static let hashRounds = 2_000
    private static let keyLength = 56

    /// The two kinds of writers, whose wallets differ in their byte order.
    private enum Writer: CaseIterable {
        case standard
        case swapping
    }

    /// The data between the random bytes at both ends.
    ///
    /// - Throws: `ForeignFailure.wrongPasswordOrDamaged`, `CryptographyFailure`.
    func open(_ ciphertext: borrowing Span<UInt8>, _ password: borrowing SecretBytes) throws -> SecretBytes {
        for writer in Writer.allCases {
            let plain = try decrypt(ciphertext, key(password, writer), writer)
            if let data = try Self.data(in: plain, writer) { return SecretBytes(copying: data, of: plain) }
        }
        throw ForeignFailure.wrongPasswordOrDamaged
    }

    private func decrypt(
        _ ciphertext: borrowing Span<UInt8>, _ key: borrowing SecretBytes, _ writer: Writer
    ) throws -> SecretBytes {
        var plain = SecretBytes(ciphertext)
        if writer == .swapping { plain.swapWords() }
        let iv = [UInt8](repeating: 0, count: kind == .cbc ? Self.blockSize : 0)
        var cipher = try BlockCipher(kind == .cbc ? .blowfishCBC : .blowfishECB, .decrypt, key: key, iv: iv.span)
        try cipher.process(inPlace: &plain)
        if writer == .swapping { plain.swapWords() }
        return plain
    }

    /// The position of the data, if the checksum at the end matches it; 8 random bytes and the length precede the data.
    private static func data(in plain: borrowing SecretBytes, _ writer: Writer) throws -> Range<Int>? {
        try plain.withBytes { span in
            guard span.count >= blockSize + 4 + checkLength else { return nil }
            let length = (blockSize..<blockSize + 4).reduce(0) { $0 << 8 | Int(span[$1]) }
            let start = blockSize + 4
            guard length <= span.count - start - checkLength else { return nil }
            var check = SecretBytes(capacity: checkLength)
            try hash(span.extracting(start..<start + length), writer, into: &check)
            let stored = SecretBytes(span.extracting((span.count - checkLength)...))
            return constantTimeEqual(check, stored) ? start..<start + length : nil
        }
    }

    private static func hash(
        _ bytes: borrowing Span<UInt8>, _ writer: Writer, into output: inout SecretBytes
    ) throws {
        switch writer {
        case .standard: LittleEndianSHA1.hash(bytes, into: &output)
        case .swapping: try HashFunction.sha1.hash(bytes, into: &output)
        }
    }

    private func key(_ password: borrowing SecretBytes, _ writer: Writer) throws -> SecretBytes {
        if derivation == .pbkdf2 {
            return try PBKDF2.derive(
                password: password, salt: salt.span, rounds: Self.rounds, hash: .sha512, count: Self.keyLength)
        }
        // The password is split into pieces of 16 bytes, of which the fourth holds all the rest. Each number is the
        // count of bytes used from the hash of one piece.
        let pieces = min(4, max(1, (password.count + 15) / 16))
        let lengths = [[20], [20, 20], [20, 20, 16], [14, 14, 14, 14]][pieces - 1]
        var key = SecretBytes(capacity: Self.keyLength)
        for (index, length) in lengths.enumerated() {
            let end = index == 3 ? password.count : min(password.count, 16 * (index + 1))
            var hash = password.withBytes { SecretBytes($0.extracting(16 * index..<end)) }
            var next = SecretBytes(capacity: Self.checkLength)
            for _ in 0..<Self.hashRounds {
                next.removeAll()
                try hash.withBytes { span in try Self.hash(span, writer, into: &next) }
                swap(&hash, &next)
            }
            hash.withBytes { key.append($0.extracting(..<length)) }
        }
        return key
    }
}

extension SecretBytes {
    fileprivate init(copying range: Range<Int>, of other: borrowing SecretBytes) {
        self = other.withBytes { SecretBytes($0.extracting(range)) }
    }

    fileprivate mutating func swapWords() {
        withMutableBytes { span in
            for start in stride(from: 0, to: span.count - 3, by: 4) {
                span.swapAt(start, start + 3)
                span.swapAt(start + 1, start + 2)
            }
        }
    }
}
