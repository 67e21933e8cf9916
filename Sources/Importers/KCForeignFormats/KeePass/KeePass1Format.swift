internal import KCByteStreams
internal import KCCryptography
package import KCItemSources
internal import KCKeychainModel

/// Databases of KeePass 1 and of KeePassX before version 2 (`.kdb`).
package struct KeePass1Format: ForeignFormat {
    package let kind = ForeignKind.keePass1

    package init() {}

    package func recognises(_ input: ForeignInput) -> Bool {
        input.file?.starts(with: KDBHeader.signature) ?? false
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file, recognises(input) else { throw ForeignFailure.notOfFormat(title: title) }
        let header = try file.bytes.withBytes { bytes throws(ForeignFailure) in try KDBHeader(bytes) }
        let collector = RecordCollector(format: name, date: file.modified)
        try KDBEntries(header, collector).read(open(file, header, secrets))
        collector.remark("KeePass 1 does not protect the file against changes; KDBX 4 does")
        return try collector.finish(details: "", isPlaintext: false)
    }

    private func open(_ file: ForeignFile, _ header: KDBHeader, _ secrets: any ForeignSecrets) throws -> SecretBytes {
        let keyFile = try secrets.keyFile().map { try KeptKey(Self.key(of: $0)) }
        var opened: SecretBytes?
        if let keyFile, !secrets.isPasswordGiven {
            do {
                return try header.open(file, key: keyFile.bytes)
            } catch ForeignFailure.wrongPasswordOrDamaged {
                // The database needs a password too.
            }
        }
        try secrets.password(.file(.keePass1)) { password in
            // KeePass 1 takes a password in the encoding of Windows, KeePassX in that of the system.
            var failure = ForeignFailure.wrongPasswordOrDamaged
            var encodings = [KeptKey(password.copy())]
            if let encoded = password.latin1 { encodings.append(KeptKey(encoded)) }
            for encoded in encodings {
                do {
                    opened = try header.open(file, key: Self.composite(encoded.bytes, keyFile))
                    return
                } catch let other as ForeignFailure {
                    failure = other
                }
            }
            guard failure == .wrongPasswordOrDamaged else { throw failure }
            throw keyFile == nil
                ? ForeignFailure.wrongPasswordOrNoKeyFile(orDamaged: true)
                : ForeignFailure.wrongPasswordOrKeyFile(orDamaged: true)
        }
        guard let content = opened.take() else { throw ForeignFailure.wrongPasswordOrDamaged }
        return content
    }

    private final class KeptKey {
        let bytes: SecretBytes

        init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
    }

    private static func composite(_ password: borrowing SecretBytes, _ keyFile: KeptKey?) throws -> SecretBytes {
        let hash = try HashFunction.sha256.hash(password)
        guard let keyFile else { return hash }
        if password.isEmpty { return keyFile.bytes.copy() }
        var both = hash.copy()
        keyFile.bytes.withBytes { both.append($0) }
        return try HashFunction.sha256.hash(both)
    }

    /// The key in a key file: 32 bytes, 64 hexadecimal digits, or the hash of anything else.
    private static func key(of file: ForeignFile) throws -> SecretBytes {
        if file.bytes.count == 32 { return file.bytes.copy() }
        if file.bytes.count == 64,
            let key = file.bytes.withBytes({ $0.bytes(ofHexadecimal: $0.indices) })
        {
            return key
        }
        return try HashFunction.sha256.hash(file.bytes)
    }
}

extension SecretBytes {
    /// The UTF-8 text in Latin-1; nil if that is the same, or if the text has other characters.
    fileprivate var latin1: SecretBytes? {
        withBytes { bytes -> SecretBytes? in
            var text = SecretBytes(capacity: bytes.count)
            var index = 0
            while index < bytes.count {
                let byte = bytes[index]
                if byte < 0x80 {
                    text.append(byte)
                    index += 1
                    continue
                }
                guard byte == 0xc2 || byte == 0xc3, index + 1 < bytes.count else { return nil }
                text.append(byte << 6 | bytes[index + 1] & 0x3f)
                index += 2
            }
            if text.count == bytes.count { return nil }
            return text
        }
    }
}
