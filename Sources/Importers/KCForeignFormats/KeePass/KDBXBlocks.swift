internal import KCByteStreams
internal import KCCryptography
internal import KCExportFormats
internal import KCItemSources

/// Decrypts the content of a KDBX 4 file piece by piece; the authentication code of each block is checked before any of
/// it is decrypted.
struct KDBXBlocks: ~Copyable {
    private let file: ForeignFile
    private let keys: KDBXKeys
    private var cipher: KDBXCipher
    private let hasPadding: Bool
    private var cursor: ByteCursor
    private var number: UInt64 = 0
    /// The rest of a block whose code is right.
    private var block = 0..<0
    /// Ciphertext that is not a complete block of the cipher, and the place where it is decrypted.
    private var piece = SecretBytes(capacity: pieceSize)
    /// The last block of the cipher so far, which may have padding.
    private var last = SecretBytes(capacity: 16)
    private var isAtEnd = false

    // Small enough to stay in the cache.
    private static let pieceSize = 1 << 18
    private static let cipherBlock = 16

    /// Begins behind the header.
    ///
    /// - Throws: `ForeignFailure` (`wrongPassword`, `damaged`), `CryptographyFailure`.
    init(_ file: ForeignFile, _ header: KDBXHeader, _ keys: consuming KDBXKeys) throws {
        let cursor = try Self.start(file, header, keys)
        let cipher = try KDBXCipher(header.cipher, .decrypt, key: keys.payload, iv: header.iv)
        self.file = file
        self.keys = keys
        self.cipher = cipher
        self.cursor = cursor
        hasPadding = header.cipher.isOfBlocks
    }

    /// Checks the header and returns the position behind its code.
    private static func start(
        _ file: ForeignFile, _ header: KDBXHeader, _ keys: borrowing KDBXKeys
    ) throws -> ByteCursor {
        try file.bytes.withBytes { bytes in
            var cursor = try ByteCursor(from: header.size, of: bytes, .littleEndian)
            let hash = try cursor.array(32, in: bytes)
            let code = try cursor.array(32, in: bytes)
            let headerBytes = bytes.extracting(..<header.size)
            guard constantTimeEqual(SHA256.hash(headerBytes).bytes, hash) else {
                throw ForeignFailure.damaged("its header does not match its hash")
            }
            guard try constantTimeEqual(keys.code(ofHeader: headerBytes), code) else {
                throw ForeignFailure.wrongPassword
            }
            return cursor
        }
    }

    /// The number of bytes behind the last block, whose code says that the content ends there.
    ///
    /// - Throws: `ForeignFailure.damaged` for a file that ends before it.
    static func sizeBehindEnd(of file: ForeignFile, _ header: KDBXHeader) throws(ForeignFailure) -> Int {
        try file.bytes.withBytes { bytes throws(ForeignFailure) in
            var cursor = try ByteCursor(from: header.size, of: bytes, .littleEndian)
            _ = try cursor.take(64)
            var size: Int
            repeat {
                _ = try cursor.take(32)
                size = try cursor.take(cursor.number(4, in: bytes)).count
            } while size > 0
            return cursor.left
        }
    }

    /// Appends the next plaintext; false at the end of the file.
    ///
    /// - Throws: `ForeignFailure.damaged`, `CryptographyFailure`.
    mutating func read(into output: inout SecretBytes) throws -> Bool {
        if isAtEnd { return false }
        if block.isEmpty, try !startBlock() {
            isAtEnd = true
            if hasPadding { try removePadding() }
            last.withBytes { output.append($0) }
            return !last.isEmpty
        }
        let size = min(block.count, Self.pieceSize - piece.count)
        let range = block.lowerBound..<block.lowerBound + size
        block = range.upperBound..<block.upperBound
        file.bytes.withBytes { piece.append($0.extracting(range)) }
        if hasPadding { try decryptBlocks(into: &output) } else { try decryptAll(into: &output) }
        return true
    }

    /// Checks the next block; false at the last, which is empty.
    private mutating func startBlock() throws -> Bool {
        let file = file
        block = try file.bytes.withBytes { bytes in
            let code = try cursor.array(32, in: bytes)
            let range = try cursor.take(cursor.number(4, in: bytes))
            guard try constantTimeEqual(keys.code(ofBlock: number, bytes.extracting(range)), code) else {
                throw ForeignFailure.damaged("a block does not match its authentication code")
            }
            return range
        }
        number += 1
        return !block.isEmpty
    }

    private mutating func decryptAll(into output: inout SecretBytes) throws(CryptographyFailure) {
        try cipher.process(inPlace: &piece)
        piece.withBytes { output.append($0) }
        piece.removeAll()
    }

    /// Decrypts the complete blocks of the cipher, and keeps the last one back.
    private mutating func decryptBlocks(into output: inout SecretBytes) throws(CryptographyFailure) {
        let size = piece.count - piece.count % Self.cipherBlock
        if size == 0 { return }
        last.withBytes { output.append($0) }
        last.removeAll()
        let rest = piece.withBytes { SecretBytes($0.extracting(size...)) }
        piece.removeLast(rest.count)
        try cipher.process(inPlace: &piece)
        let kept = size - Self.cipherBlock
        piece.withBytes { bytes in
            output.append(bytes.extracting(..<kept))
            last.append(bytes.extracting(kept...))
        }
        piece.removeAll()
        rest.withBytes { piece.append($0) }
    }

    private mutating func removePadding() throws(ForeignFailure) {
        guard piece.isEmpty else { throw .damaged("it is truncated") }
        guard last.removePadding(blockSize: Self.cipherBlock) else { throw .damaged("its end is malformed") }
    }
}
