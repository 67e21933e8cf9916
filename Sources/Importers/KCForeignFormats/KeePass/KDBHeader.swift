internal import KCByteStreams
internal import KCCryptography
internal import KCExportFormats
internal import KCItemSources

/// The unencrypted header of a KeePass 1 database; all numbers are little-endian.
///
/// Source: the description in KeePass 1's `DbFormat.txt`, and the reader of KeePassXC.
struct KDBHeader {
    static let signature: [UInt8] = [0x03, 0xd9, 0xa2, 0x9a, 0x65, 0xfb, 0x4b, 0xb5]
    static let size = 124

    let cipher: KDBX.Cipher
    let masterSeed: [UInt8]
    let iv: [UInt8]
    let groupCount: Int
    let entryCount: Int
    /// The SHA-256 hash of the decrypted content.
    let contentHash: [UInt8]
    let derivation: KDBXDerivation

    private static let flagAES: UInt32 = 2
    private static let flagTwofish: UInt32 = 8

    init(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        var cursor = try ByteCursor(from: Self.signature.count, of: bytes, .littleEndian)
        let flags = try cursor.uint32(in: bytes)
        let version = try cursor.uint32(in: bytes)
        guard version & 0xffff_ff00 == 0x0003_0000 else {
            throw .unknownVariant("KDB of version \(version >> 16).\(version & 0xffff)")
        }
        switch flags & (Self.flagAES | Self.flagTwofish) {
        case Self.flagAES: cipher = .aes256
        case Self.flagTwofish: cipher = .twofish
        default: throw .unknownVariant("an unknown cipher")
        }
        masterSeed = try cursor.array(16, in: bytes)
        iv = try cursor.array(16, in: bytes)
        groupCount = Int(try cursor.uint32(in: bytes))
        entryCount = Int(try cursor.uint32(in: bytes))
        contentHash = try cursor.array(32, in: bytes)
        let seed = try cursor.array(32, in: bytes)
        let rounds = UInt64(try cursor.uint32(in: bytes))
        guard rounds <= KDBXDerivation.roundsLimit else {
            throw .limit("rounds of its key", found: rounds, allowed: KDBXDerivation.roundsLimit)
        }
        derivation = .aes(rounds: rounds, seed: seed)
    }

    /// The decrypted content.
    ///
    /// - Throws: `ForeignFailure.wrongPasswordOrDamaged`, `CryptographyFailure`, `StreamFailure` (`interrupted`).
    func open(_ file: ForeignFile, key composite: borrowing SecretBytes) throws -> SecretBytes {
        let transformed = try derivation.transform(composite)
        var input = SecretBytes(copying: masterSeed)
        transformed.withBytes { input.append($0) }
        var content = file.bytes.withBytes { SecretBytes($0.extracting(Self.size...)) }
        guard !content.isEmpty, content.count.isMultiple(of: 16) else {
            throw ForeignFailure.damaged("it is truncated")
        }
        var cipher = try KDBXCipher(cipher, .decrypt, key: HashFunction.sha256.hash(input), iv: iv)
        try cipher.process(inPlace: &content)
        guard content.removePadding(blockSize: 16),
            constantTimeEqual(content.withBytes { SHA256.hash($0).bytes }, contentHash)
        else { throw ForeignFailure.wrongPasswordOrDamaged }
        return content
    }
}
