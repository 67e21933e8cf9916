internal import KCArgon2
package import KCByteStreams
internal import KCCryptography
package import KCItemSources
package import KCKeychainModel

/// Writes a KeePass database (KDBX 4.0): Argon2id, AES-256, and every secret protected.
package final class KDBXWriter: ProtectedExportWriter {
    private let memoryInKiB: UInt32
    private let date: Timestamp
    private let streamKey: SecretBytes
    private let stream: KDBXStream
    private var entries = SecretBytes(capacity: 4_096)
    private var binaries = SecretBytes(capacity: 0)
    private var binaryCount = 0

    /// Starts a database that is encrypted with a password.
    ///
    /// - Parameters:
    ///   - date: the date of the database.
    ///   - memoryInKiB: the memory that testing one password takes; less only in tests.
    /// - Throws: `CryptographyFailure`.
    package init(date: Timestamp, memoryInKiB: UInt32 = 65_536) throws {
        self.memoryInKiB = memoryInKiB
        self.date = date
        streamKey = try RandomBytes.secret(count: 64)
        stream = try KDBXStream(.chaCha20, key: streamKey)
    }

    package func add(_ item: Item, secret: borrowing SecretBytes) throws -> ExportProblem? {
        let record = ExportedRecord(item)
        // Other programs end a text at a zero byte.
        let isText = secret.isUTF8 && secret.withBytes { span in !span.indices.contains { span[$0] == 0 } }
        literal("<Entry><UUID>\(Base64.encode(item.uuid.bytes))</UUID><IconID>0</IconID><Times>")
        time("CreationTime", item.created)
        for name in ["LastModificationTime", "LastAccessTime", "ExpiryTime", "LocationChanged"] {
            time(name, item.modified)
        }
        literal("<Expires>False</Expires><UsageCount>0</UsageCount></Times>")
        try string("Title", record.title)
        if let account = record.account { try string("UserName", account) }
        for (index, address) in record.addresses.enumerated() {
            try string(index == 0 ? "URL" : index == 1 ? "KP2A_URL" : "KP2A_URL_\(index - 1)", address)
        }
        if item.secretSize != nil, isText {
            try record.kind == .oneTimePassword
                ? oneTimePassword(secret, record) : protected(Self.field(of: record.kind), secret.copy())
        }
        if item.secretSize != nil, !isText {
            literal("<Binary><Key>\(KDBXWriter.binaryName)</Key><Value Ref=\"\(binaryCount)\"/></Binary>")
            add(binary: secret)
        }
        attributes(of: item)
        literal("</Entry>")
        return nil
    }

    /// The name of the string that holds the secret of an item.
    static func field(of kind: ExportedRecord.Kind) -> String {
        switch kind {
        case .note: "Notes"
        case .oneTimePassword: "otp"
        case .password, .passkey, .wifi, .other: "Password"
        }
    }

    /// Writes a one-time password as an address, the only form that other programs know; what cannot be one is a
    /// password.
    private func oneTimePassword(_ secret: borrowing SecretBytes, _ record: ExportedRecord) throws(CryptographyFailure)
    {
        let address = OneTimePasswordAddress.make(of: secret, issuer: record.title, user: record.account)
        let isAddress = address.withBytes { bytes in bytes.isEmpty || bytes.matches("otpauth://".utf8) }
        let isChanged = address.count != secret.count
        try protected(isAddress ? Self.field(of: .oneTimePassword) : "Password", address)
        if isChanged { try protected(Self.seedName, secret.copy()) }
    }

    /// The name of the string that holds a one-time password as it is in the keychain.
    static let seedName = "kcbackup.seed"

    /// The name of the attachment that holds a secret that is not text.
    static let binaryName = "secret.bin"

    package func finish(password: borrowing SecretBytes) throws -> SecretBytes {
        let salt = try RandomBytes.bytes(count: 32)
        let cost = Argon2.Cost(iterations: 10, memoryInKiB: memoryInKiB, lanes: 2)
        let seed = try RandomBytes.bytes(count: 32)
        let iv = try RandomBytes.bytes(count: 16)
        let header = Self.header(seed: seed, iv: iv, cost, salt: salt)
        let keys = try KDBXKeys(seed: seed, transformed: transformed(password, cost, salt: salt))
        let ciphertext = try encrypted(keys, iv: iv)

        let start = try header + SHA256.hash(header.span).bytes + keys.code(ofHeader: header.span)
        var file = SecretBytes(capacity: ciphertext.count + ciphertext.count / 1_024 + 1_024)
        file.append(start.span)
        try ciphertext.withBytes { bytes throws(CryptographyFailure) in
            try Self.append(blocksOf: bytes, keys, to: &file)
        }
        return file
    }

    private static func append(
        blocksOf bytes: borrowing Span<UInt8>, _ keys: KDBXKeys, to file: inout SecretBytes
    ) throws(CryptographyFailure) {
        // The last block is empty.
        for number in 0...(bytes.count + blockSize - 1) / blockSize {
            let first = min(bytes.count, number * blockSize)
            let block = bytes.extracting(first..<min(bytes.count, first + blockSize))
            let start = try keys.code(ofBlock: UInt64(number), block) + KDBX.littleEndian(UInt32(block.count))
            file.append(start.span)
            file.append(block)
        }
    }

    // Bytes of ciphertext per authentication code, as in KeePass.
    private static let blockSize = 1 << 20

    private static func header(seed: [UInt8], iv: [UInt8], _ cost: Argon2.Cost, salt: [UInt8]) -> [UInt8] {
        var derivation = KDBXDictionary()
        derivation.add("$UUID", .bytes(KDBX.bytes(ofUUID: KDBXDerivation.argon2id)))
        derivation.add("V", .uint32(cost.version.rawValue))
        derivation.add("I", .uint64(UInt64(cost.iterations)))
        derivation.add("M", .uint64(UInt64(cost.memoryInKiB) << 10))
        derivation.add("P", .uint32(cost.lanes))
        derivation.add("S", .bytes(salt))
        let fields: [(KDBX.Field, [UInt8])] = [
            (.cipher, KDBX.bytes(ofUUID: KDBX.Cipher.aes256.rawValue)),
            // The payload is not compressed, because a compressed size reveals something about the content.
            (.compression, KDBX.littleEndian(UInt32(0))), (.masterSeed, seed), (.iv, iv),
            (.derivation, derivation.encoded), (.end, Array("\r\n\r\n".utf8)),
        ]
        return fields.reduce(KDBX.signature + [0, 0, 4, 0]) { header, field in
            header + [field.0.rawValue] + KDBX.littleEndian(UInt32(field.1.count)) + field.1
        }
    }

    private func transformed(
        _ password: borrowing SecretBytes, _ cost: Argon2.Cost, salt: [UInt8]
    ) throws(CryptographyFailure) -> SecretBytes {
        var composite = KDBXCompositeKey()
        try composite.add(password: password)
        return try KDBXDerivation.argon2(.id, cost, salt: salt).transform(composite.bytes())
    }

    private func encrypted(_ keys: KDBXKeys, iv: [UInt8]) throws(CryptographyFailure) -> SecretBytes {
        var bytes = payload()
        let padding = 16 - bytes.count % 16
        for _ in 0..<padding { bytes.append(UInt8(padding)) }
        var cipher = try BlockCipher(.aes256CBC, .encrypt, key: keys.payload, iv: iv.span)
        try cipher.process(inPlace: &bytes)
        return bytes
    }

    /// The inner header, the binaries and the XML.
    private func payload() -> SecretBytes {
        var payload = SecretBytes(capacity: entries.count + binaries.count + 4_096)
        payload.append(([1, 4, 0, 0, 0] + KDBX.littleEndian(KDBX.Stream.chaCha20.rawValue)).span)
        payload.append(([2] + KDBX.littleEndian(UInt32(streamKey.count))).span)
        streamKey.withBytes { payload.append($0) }
        binaries.withBytes { payload.append($0) }
        payload.append([0, 0, 0, 0, 0].span)
        payload.append(prologue.utf8.span)
        entries.withBytes { payload.append($0) }
        payload.append("</Group><DeletedObjects/></Root></KeePassFile>".utf8.span)
        return payload
    }

    /// The XML up to the first entry.
    private var prologue: String {
        let times = ["CreationTime", "LastModificationTime", "LastAccessTime", "ExpiryTime", "LocationChanged"]
            .map { "<\($0)>\(Self.spelled(date))</\($0)>" }.joined()
        return """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <KeePassFile><Meta><Generator>kcbackup</Generator><DatabaseName>kcbackup</DatabaseName>\
            <MemoryProtection><ProtectTitle>False</ProtectTitle><ProtectUserName>False</ProtectUserName>\
            <ProtectPassword>True</ProtectPassword><ProtectURL>False</ProtectURL>\
            <ProtectNotes>False</ProtectNotes></MemoryProtection><RecycleBinEnabled>False</RecycleBinEnabled></Meta>\
            <Root><Group><UUID>\(Base64.encode(ItemUUID().bytes))</UUID><Name>kcbackup</Name><IconID>48</IconID>\
            <Times>\(times)<Expires>False</Expires><UsageCount>0</UsageCount></Times><IsExpanded>True</IsExpanded>
            """
    }

    private func add(binary: borrowing SecretBytes) {
        binaries.append([3].span)
        binaries.append(KDBX.littleEndian(UInt32(binary.count + 1)).span)
        // This flag requests protection in memory.
        binaries.append(1)
        binary.withBytes { binaries.append($0) }
        binaryCount += 1
    }

    private static func spelled(_ date: Timestamp) -> String {
        Base64.encode(KDBX.littleEndian(date.seconds + KDBX.secondsBefore1970))
    }

    private func time(_ name: String, _ date: Timestamp) {
        literal("<\(name)>\(Self.spelled(date))</\(name)>")
    }

    /// Writes all attributes of the item as custom data, where programs keep data that only others understand.
    ///
    /// In a string, KeePass would interpret the braces as placeholders.
    private func attributes(of item: Item) {
        var line = SecretBytes(capacity: 512)
        item.writeImportLine(into: &line)
        literal("<CustomData><Item><Key>\(ExportName.item)</Key><Value>")
        line.withBytes { bytes in
            if Self.isXML(bytes) { escaped(bytes) } else { Base64.encode(bytes, into: &entries) }
        }
        literal("</Value></Item></CustomData>")
    }

    private func string(_ key: String, _ value: String) throws(CryptographyFailure) {
        try string(key, SecretBytes(copying: value.utf8))
    }

    /// Writes text in the clear, or protected if XML cannot represent it.
    private func string(_ key: String, _ value: consuming SecretBytes) throws(CryptographyFailure) {
        let isPlain = value.withBytes { Self.isXML($0) }
        guard isPlain else { return try protected(key, value) }
        literal("<String><Key>\(key)</Key><Value>")
        value.withBytes { escaped($0) }
        literal("</Value></String>")
    }

    private func escaped(_ bytes: borrowing Span<UInt8>) {
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "&"): literal("&amp;")
            case UInt8(ascii: "<"): literal("&lt;")
            case UInt8(ascii: ">"): literal("&gt;")
            // XML parsers convert an unescaped carriage return to a line feed.
            case 0x0d: literal("&#xD;")
            default: entries.append(bytes[index])
            }
        }
    }

    private func protected(_ key: String, _ value: consuming SecretBytes) throws(CryptographyFailure) {
        try stream.process(&value)
        literal("<String><Key>\(key)</Key><Value Protected=\"True\">")
        value.withBytes { Base64.encode($0, into: &entries) }
        literal("</Value></String>")
    }

    private func literal(_ text: String) {
        entries.append(text.utf8.span)
    }

    /// False for text with characters that XML 1.0 does not allow: controls, U+FFFE, U+FFFF.
    private static func isXML(_ bytes: borrowing Span<UInt8>) -> Bool {
        bytes.indices.allSatisfy { index in
            let byte = bytes[index]
            if byte < 0x20 { return byte == 0x09 || byte == 0x0a || byte == 0x0d }
            let isNonCharacter =
                byte == 0xef && index + 2 < bytes.count && bytes[index + 1] == 0xbf && bytes[index + 2] >= 0xbe
            return !isNonCharacter
        }
    }
}
