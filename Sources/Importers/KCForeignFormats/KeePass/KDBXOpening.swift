internal import KCByteStreams
internal import KCCryptography
internal import KCExportFormats
internal import KCGzipStreams
internal import KCItemSources

/// The content of a KDBX file, decrypted with the key from password and key file: the XML; in version 4, the inner header
/// precedes it.
struct KDBXOpening: ~Copyable {
    /// Version 4 without compression, which is decrypted when it is read.
    private var blocks: KDBXBlocks?
    /// All other content that was not read yet.
    private var whole = SecretBytes(capacity: 0)

    /// Opens a file with a key.
    ///
    /// - Throws: `ForeignFailure` (`wrongPassword`, `wrongPasswordOrDamaged` in version 3, `damaged`, `limit`),
    ///   `CryptographyFailure`, `StreamFailure` (`interrupted`).
    init(_ file: ForeignFile, _ header: KDBXHeader, key composite: borrowing SecretBytes) throws {
        let transformed = try header.derivation.transform(composite)
        let keys = try KDBXKeys(seed: header.masterSeed, transformed: transformed)
        if header.major == 4 {
            var blocks = try KDBXBlocks(file, header, keys)
            guard header.isCompressed else {
                self.blocks = consume blocks
                return
            }
            while try blocks.read(into: &whole) {}
        } else {
            whole = try file.bytes.withBytes { bytes in try Self.hashedBlocks(of: bytes, header, keys) }
        }
        if header.isCompressed { whole = try Self.decompressed(whole) }
    }

    /// Appends more of the content; false at its end.
    ///
    /// - Throws: `ForeignFailure.damaged`, `CryptographyFailure`.
    mutating func read(into output: inout SecretBytes) throws -> Bool {
        if let isMore = try blocks?.read(into: &output) { return isMore }
        if whole.isEmpty { return false }
        if output.isEmpty { swap(&whole, &output) } else { whole.withBytes { output.append($0) } }
        whole = SecretBytes(capacity: 0)
        return true
    }

    /// Version 3: blocks are only protected by hashes inside the encryption.
    private static func hashedBlocks(
        of file: borrowing Span<UInt8>, _ header: KDBXHeader, _ keys: KDBXKeys
    ) throws -> SecretBytes {
        let plain: SecretBytes
        do {
            plain = try decrypted(SecretBytes(file.extracting(header.size...)), header, keys)
        } catch ForeignFailure.damaged {
            // A wrong key yields a wrong padding.
            throw ForeignFailure.wrongPasswordOrDamaged
        }
        return try plain.withBytes { bytes in
            guard bytes.count >= 32, (0..<32).allSatisfy({ bytes[$0] == header.startBytes[$0] }) else {
                throw ForeignFailure.wrongPasswordOrDamaged
            }
            var content = SecretBytes(capacity: bytes.count)
            var cursor = try ByteCursor(from: 32, of: bytes, .littleEndian)
            var index: UInt64 = 0
            while true {
                let number = try cursor.number(4, in: bytes)
                let hash = try cursor.array(32, in: bytes)
                let block = bytes.extracting(try cursor.take(cursor.number(4, in: bytes)))
                guard number == index else { throw ForeignFailure.damaged("a block is out of order") }
                if block.isEmpty {
                    guard hash.allSatisfy({ $0 == 0 }), cursor.position == bytes.count else {
                        throw ForeignFailure.damaged("its last block is not the end")
                    }
                    break
                }
                guard SHA256.hash(block).bytes == hash else {
                    throw ForeignFailure.damaged("a block does not match its hash")
                }
                content.append(block)
                index += 1
            }
            return content
        }
    }

    private static func decrypted(
        _ ciphertext: consuming SecretBytes, _ header: KDBXHeader, _ keys: KDBXKeys
    ) throws -> SecretBytes {
        var cipher = try KDBXCipher(header.cipher, .decrypt, key: keys.payload, iv: header.iv)
        if header.cipher.isOfBlocks, !ciphertext.count.isMultiple(of: 16) {
            throw ForeignFailure.damaged("it is truncated")
        }
        try cipher.process(inPlace: &ciphertext)
        if header.cipher.isOfBlocks, !ciphertext.removePadding(blockSize: 16) {
            throw ForeignFailure.damaged("its end is malformed")
        }
        return ciphertext
    }

    // Text compresses well, and a small file may be nothing else; a decompression bomb exceeds these limits by far.
    private static let ratioLimit = 200
    private static let smallSize = 64 << 20
    private static let sizeLimit = 1 << 30

    static func decompressed(_ bytes: borrowing SecretBytes) throws -> SecretBytes {
        let limit = min(sizeLimit, max(smallSize, bytes.count * ratioLimit))
        let member = try bytes.withBytes { span in try plainMember(span) }
        do throws(StreamFailure) {
            var source = try GzipDecoder(MemorySource(member), outputLimit: UInt64(limit))
            return try source.readAll(limit: limit, as: "decompressed size")
        } catch {
            if case .limitExceeded = error.kind {
                throw ForeignFailure.limit("decompressed bytes", found: UInt64(limit) + 1, allowed: UInt64(limit))
            }
            throw ForeignFailure.damaged("it does not decompress")
        }
    }

    /// A gzip member with a header that `GzipDecoder` accepts: without time, operating system and name, which are not
    /// needed.
    private static func plainMember(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> SecretBytes {
        var cursor = try ByteCursor(of: bytes, .littleEndian)
        let fixed = try cursor.array(10, in: bytes)
        guard fixed[0] == 0x1f, fixed[1] == 0x8b, fixed[2] == 8, fixed[3] & ~0x1d == 0 else {
            throw .damaged("it does not decompress")
        }
        if fixed[3] & 4 != 0 { _ = try cursor.take(cursor.number(2, in: bytes)) }
        for flag: UInt8 in [8, 16] where fixed[3] & flag != 0 {
            while try cursor.number(1, in: bytes) != 0 {}
        }
        var member = SecretBytes(capacity: bytes.count)
        member.append([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255].span)
        member.append(bytes.extracting(cursor.position...))
        return member
    }
}
