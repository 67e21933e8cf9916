internal import KCByteStreams
internal import KCCryptography

/// Encrypts the content of a KDBX 4 file in blocks with their authentication codes.
struct KDBXSealing: ~Copyable {
    /// Content that is not yet encrypted.
    var pending = SecretBytes(capacity: blockSize)
    private let keys: KDBXKeys
    private var cipher: BlockCipher
    private var number: UInt64 = 0
    private var block = SecretBytes(capacity: blockSize)

    // Bytes of ciphertext per authentication code, as in KeePass.
    private static let blockSize = 1 << 20

    /// Begins behind the outer header.
    init(_ keys: consuming KDBXKeys, iv: [UInt8]) throws(CryptographyFailure) {
        let cipher = try BlockCipher(.aes256CBC, .encrypt, key: keys.payload, iv: iv.span)
        self.cipher = cipher
        self.keys = keys
    }

    /// Passes the blocks that are full to `output`.
    mutating func sealBlocks(_ output: (borrowing Span<UInt8>) throws -> Void) throws {
        while pending.count >= Self.blockSize { try seal(Self.blockSize, output) }
    }

    /// Passes the rest to `output`.
    consuming func finish(_ output: (borrowing Span<UInt8>) throws -> Void) throws {
        let padding = 16 - pending.count % 16
        for _ in 0..<padding { pending.append(UInt8(padding)) }
        try sealBlocks(output)
        if !pending.isEmpty { try seal(pending.count, output) }
        // The last block is empty.
        try seal(0, output)
    }

    private mutating func seal(_ size: Int, _ output: (borrowing Span<UInt8>) throws -> Void) throws {
        block.removeAll()
        pending.withBytes { block.append($0.extracting(..<size)) }
        pending.removeFirst(size)
        try cipher.process(inPlace: &block)
        try block.withBytes { bytes in
            let start = try keys.code(ofBlock: number, bytes) + KDBX.littleEndian(UInt32(size))
            try output(start.span)
            try output(bytes)
        }
        number += 1
    }
}
