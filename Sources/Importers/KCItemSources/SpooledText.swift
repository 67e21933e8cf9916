internal import KCByteStreams

/// Secret bytes that are written from start to end and then read: those that exceed a limit wait in an encrypted file
/// without a name.
package final class SpooledText {
    private let folder: String
    private let limit: Int
    private var spool: SealedSpool?
    private var held = SecretBytes(capacity: 4_096)
    /// The number of bytes in the file.
    private var spooled = 0
    /// The most bytes that were in memory at a time.
    package private(set) var mostHeld = 0

    // In bytes: so much is read at once.
    private static let pieceSize = 65_536

    /// - Parameters:
    ///   - folder: where the encrypted file is made, if one is needed.
    ///   - limit: how many bytes are in memory.
    package init(spoolingIn folder: String, limit: Int = 1 << 20) {
        self.folder = folder
        self.limit = limit
    }

    /// - Throws: `FileFailure`, `StreamFailure`, `CryptographyFailure`.
    package func append(_ bytes: borrowing Span<UInt8>) throws {
        held.append(bytes)
        mostHeld = max(mostHeld, held.count)
        if held.count <= limit { return }
        let spool = try self.spool ?? SealedSpool(inFolder: folder)
        self.spool = spool
        try held.withBytes { try spool.write($0) }
        spooled += held.count
        held.removeAll()
    }

    /// Passes all bytes to `body`, piece by piece; no more can be appended then.
    ///
    /// - Throws: what `body` throws, and as `append`.
    package func finish(_ body: (borrowing Span<UInt8>) throws -> Void) throws {
        if let spool {
            let reader = try SealedSpool.Reader(spool.endPiece())
            var piece = SecretBytes(capacity: Self.pieceSize)
            while !reader.isAtEnd {
                let size = min(spooled, Self.pieceSize)
                try reader.read(size, into: &piece)
                spooled -= size
                try piece.withBytes(body)
                piece.removeAll()
            }
        }
        try held.withBytes(body)
    }
}
