internal import Glibc
internal import KCByteStreams
internal import KCCryptography

/// A temporary folder does not take what has to be written there.
package struct SpoolFailure: Error {
    package let folder: String
    /// A `FileFailure`, `StreamFailure` or `ArchiveFailure`.
    package let cause: any Error

    package init(folder: String, cause: any Error) {
        (self.folder, self.cause) = (folder, cause)
    }
}

/// An unnamed file of sealed blocks, under a key that is in the memory of this process alone.
///
/// The data is secret also on a disk that is stolen or examined later: the key is wiped with the last owner, and
/// the file disappears with it. A block that was changed or moved does not open.
final class SealedSpool {
    /// Bytes that were written one after the other.
    struct Piece: Sendable {
        fileprivate let storage: Storage
        fileprivate let firstBlock: Int
        /// Where its first block is in the file.
        fileprivate let offset: UInt64
        fileprivate let size: Int
    }

    /// The file and its key.
    fileprivate final class Storage: Sendable {
        let file: OpenFile
        let key: SecretBytes

        init(_ file: OpenFile, key: consuming SecretBytes) {
            self.file = file
            self.key = key
        }

        func cipher() throws(CryptographyFailure) -> AuthenticatedCipher {
            try AuthenticatedCipher(.aes256GCM, key: key)
        }
    }

    // In bytes; many pieces are read at the same time.
    private static let blockSize = 65_536
    private static let sealedSize = blockSize + authenticationTagLength

    private let folder: String
    private let storage: Storage
    private var cipher: AuthenticatedCipher
    private var block = SecretBytes(capacity: blockSize)
    private var sealed = SecretBytes(capacity: sealedSize)
    /// The number of blocks that were written.
    private var blocks = 0
    /// The size of the file.
    private var size: UInt64 = 0
    /// Where the piece begins that is being written.
    private var start = (block: 0, offset: UInt64(0))

    /// The file, which has no name.
    var file: OpenFile { storage.file }

    /// Creates the file in a folder.
    ///
    /// - Throws: `SpoolFailure`, `CryptographyFailure`.
    init(inFolder folder: String) throws {
        self.folder = folder
        let key = try RandomBytes.secret(count: 32)
        do {
            // Without its owner it never gets a name.
            storage = Storage(try UnnamedFile(inFolder: folder).file, key: key)
        } catch {
            throw SpoolFailure(folder: folder, cause: error)
        }
        cipher = try storage.cipher()
    }

    /// Writes bytes.
    ///
    /// - Throws: `SpoolFailure`, `CryptographyFailure`.
    func write(_ bytes: borrowing Span<UInt8>) throws {
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Self.blockSize - block.count)
            block.append(bytes.extracting(start..<end))
            start = end
            if block.count == Self.blockSize { try writeBlock() }
        }
    }

    /// Returns the piece that was written since the last call; bytes written later begin another one.
    ///
    /// - Throws: as `write`.
    func endPiece() throws -> Piece {
        let length = (blocks - start.block) * Self.blockSize + block.count
        if !block.isEmpty { try writeBlock() }
        defer { start = (blocks, size) }
        return Piece(storage: storage, firstBlock: start.block, offset: start.offset, size: length)
    }

    private func writeBlock() throws {
        sealed.removeAll()
        try block.withBytes { bytes in
            try cipher.seal(bytes, nonce: Self.nonce(blocks), associatedData: Span(), into: &sealed)
        }
        do {
            try sealed.withBytes { bytes throws(StreamFailure) in try file.write(bytes) }
        } catch {
            throw SpoolFailure(folder: folder, cause: error)
        }
        size += UInt64(sealed.count)
        block.removeAll()
        blocks += 1
    }

    /// No two blocks under the key have the same number.
    private static func nonce(_ number: Int) -> Nonce { Nonce(field: 0, counter: UInt64(number)) }

    /// Reads a piece from its start; several can be read at the same time.
    final class Reader {
        private let piece: Piece
        private var cipher: AuthenticatedCipher
        private var block = SecretBytes(capacity: SealedSpool.blockSize)
        private var sealed = SecretBytes(capacity: SealedSpool.sealedSize)
        private var position = 0
        private var nextBlock: Int
        private var offset: UInt64
        /// The number of bytes that are in no block yet.
        private var rest: Int

        /// Starts at the first byte.
        init(_ piece: Piece) throws(CryptographyFailure) {
            self.piece = piece
            cipher = try piece.storage.cipher()
            nextBlock = piece.firstBlock
            offset = piece.offset
            rest = piece.size
        }

        /// True if everything was read.
        var isAtEnd: Bool { rest == 0 && position == block.count }

        /// Appends the next `count` bytes, which must have been written.
        ///
        /// - Throws: `FileFailure` (also if a block is not as it was written), `StreamFailure` (`interrupted`),
        ///   `CryptographyFailure`.
        func read(_ count: Int, into output: inout SecretBytes) throws {
            var missing = count
            while missing > 0 {
                if position == block.count { try readBlock() }
                let end = min(block.count, position + missing)
                block.withBytes { output.append($0.extracting(position..<end)) }
                missing -= end - position
                position = end
            }
        }

        private func readBlock() throws {
            precondition(rest > 0, "what is read was written")
            let file = piece.storage.file
            sealed.removeAll()
            do {
                try sealed.append(upTo: min(rest, SealedSpool.blockSize) + authenticationTagLength) {
                    output throws(StreamFailure) in try file.read(at: offset, into: &output)
                }
            } catch {
                guard case .system(let code) = error.kind else { throw error }
                throw FileFailure(file.path, .system(code, doing: "reading"))
            }
            offset += UInt64(sealed.count)
            block.removeAll()
            position = 0
            guard try opensBlock() else { throw FileFailure(file.path, .system(EIO, doing: "reading back")) }
            rest -= block.count
            nextBlock += 1
        }

        /// Opens the block that was read; false if it is not as it was written.
        private func opensBlock() throws(CryptographyFailure) -> Bool {
            do throws(CryptographyFailure) {
                try sealed.withBytes { bytes throws(CryptographyFailure) in
                    try cipher.open(bytes, nonce: SealedSpool.nonce(nextBlock), associatedData: Span(), into: &block)
                }
                return true
            } catch {
                guard error == .authentication else { throw error }
                return false
            }
        }
    }
}
