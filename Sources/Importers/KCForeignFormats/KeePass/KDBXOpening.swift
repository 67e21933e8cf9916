internal import KCByteStreams
internal import KCCryptography
internal import KCGzipStreams
internal import KCItemSources

/// The content of a KDBX file, decrypted with the key from password and key file.
struct KDBXOpening: ~Copyable {
    /// The XML; in version 4, the inner header precedes it.
    let payload: SecretBytes

    /// Decrypts a file with a key.
    ///
    /// - Throws: `ForeignFailure` (`wrongPassword`, `wrongPasswordOrDamaged` in version 3, `damaged`, `limit`),
    ///   `CryptographyFailure`.
    init(_ file: borrowing Span<UInt8>, _ header: KDBXHeader, key composite: borrowing SecretBytes) throws {
        let transformed = try header.derivation.transform(composite)
        let keys = try KDBXKeys(seed: header.masterSeed, transformed: transformed)
        var content =
            header.major == 4
            ? try Self.blocks(of: file, header, keys) : try Self.hashedBlocks(of: file, header, keys)
        if header.isCompressed { content = try Self.decompressed(content) }
        payload = content
    }

    /// Version 4: the authentication code of each block is checked before anything is decrypted.
    private static func blocks(
        of file: borrowing Span<UInt8>, _ header: KDBXHeader, _ keys: KDBXKeys
    ) throws -> SecretBytes {
        var cursor = try ByteCursor(from: header.size, of: file, .littleEndian)
        let hash = try cursor.array(32, in: file)
        let code = try cursor.array(32, in: file)
        let headerBytes = file.extracting(..<header.size)
        guard constantTimeEqual(SHA256.hash(headerBytes).bytes, hash) else {
            throw ForeignFailure.damaged("its header does not match its hash")
        }
        guard try constantTimeEqual(keys.code(ofHeader: headerBytes), code) else { throw ForeignFailure.wrongPassword }
        var ciphertext = SecretBytes(capacity: file.count - cursor.position)
        var number: UInt64 = 0
        while true {
            let code = try cursor.array(32, in: file)
            let count = try cursor.number(4, in: file)
            let block = file.extracting(try cursor.take(count))
            guard try constantTimeEqual(keys.code(ofBlock: number, block), code) else {
                throw ForeignFailure.damaged("a block does not match its authentication code")
            }
            if block.isEmpty { break }
            ciphertext.append(block)
            number += 1
        }
        guard cursor.position == file.count else { throw ForeignFailure.damaged("data follows its end") }
        return try decrypted(ciphertext, header, keys)
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
        switch header.cipher {
        case .chaCha20:
            var cipher = try BlockCipher(.chaCha20, .decrypt, key: keys.payload, iv: ([0, 0, 0, 0] + header.iv).span)
            try cipher.process(inPlace: &ciphertext)
        case .aes256:
            guard ciphertext.count.isMultiple(of: 16) else { throw ForeignFailure.damaged("it is truncated") }
            var cipher = try BlockCipher(.aes256CBC, .decrypt, key: keys.payload, iv: header.iv.span)
            try cipher.process(inPlace: &ciphertext)
            guard ciphertext.removePadding(blockSize: 16) else { throw ForeignFailure.damaged("its end is malformed") }
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
