package import KCByteStreams
internal import KCCryptography
package import KCItemSources
package import KCKeychainModel

/// Writes a KeePass database (KDBX 4.0): Argon2id, AES-256, and every secret protected.
package final class KDBXWriter: ProtectedExportWriter {
    private let memoryInKiB: UInt32
    private let date: Timestamp
    private let streamKey: SecretBytes
    private let entries = KDBXFragment()
    private var root = KDBXGroup(name: "kcbackup")
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
    }

    package func add(_ item: Item, secret: borrowing SecretBytes) throws -> ExportProblem? {
        let record = ExportedRecord(item)
        // Other programs end a text at a zero byte.
        let isText = secret.isUTF8 && secret.withBytes { span in !span.indices.contains { span[$0] == 0 } }
        let start = entries.end
        literal("<Entry><UUID>\(Base64.encode(item.uuid.bytes))</UUID><IconID>0</IconID><Times>")
        time("CreationTime", item.created)
        for name in ["LastModificationTime", "LastAccessTime", "ExpiryTime", "LocationChanged"] {
            time(name, item.modified)
        }
        literal("<Expires>False</Expires><UsageCount>0</UsageCount></Times>")
        string("Title", record.title)
        if let account = record.account { string("UserName", account) }
        for (index, address) in record.addresses.enumerated() {
            string(index == 0 ? "URL" : index == 1 ? "KP2A_URL" : "KP2A_URL_\(index - 1)", address)
        }
        if item.secretSize != nil, isText {
            if record.kind == .oneTimePassword {
                oneTimePassword(secret, record)
            } else {
                protected(Self.field(of: record.kind), secret.copy())
            }
        }
        if item.secretSize != nil, !isText {
            literal("<Binary><Key>\(KDBXWriter.binaryName)</Key><Value Ref=\"\(binaryCount)\"/></Binary>")
            add(binary: secret)
        }
        attributes(of: item)
        literal("</Entry>")
        root.add(entries.piece(from: start), path: KDBXGroup.path(of: record.folder))
        return nil
    }

    /// The name of the string that holds the secret of an item.
    package static func field(of kind: ExportedRecord.Kind) -> String {
        switch kind {
        case .note: "Notes"
        case .oneTimePassword: "otp"
        case .password, .passkey, .wifi, .other: "Password"
        }
    }

    /// Writes a one-time password as an address, the only form that other programs know; what cannot be one is a
    /// password.
    private func oneTimePassword(_ secret: borrowing SecretBytes, _ record: ExportedRecord) {
        let address = OneTimePasswordAddress.make(of: secret, issuer: record.title, user: record.account)
        let isAddress = address.withBytes { bytes in bytes.isEmpty || bytes.matches("otpauth://".utf8) }
        let isChanged = address.count != secret.count
        protected(isAddress ? Self.field(of: .oneTimePassword) : "Password", address)
        if isChanged { protected(Self.seedName, secret.copy()) }
    }

    /// The name of the string that holds a one-time password as it is in the keychain.
    package static let seedName = "kcbackup.seed"

    /// The name of the attachment that holds a secret that is not text.
    package static let binaryName = "secret.bin"

    package func finish(
        password: borrowing SecretBytes, to output: (borrowing Span<UInt8>) throws -> Void
    ) throws {
        let salt = try RandomBytes.bytes(count: 32)
        let cost = Argon2.Cost(iterations: 10, memoryInKiB: memoryInKiB, lanes: 2)
        let seed = try RandomBytes.bytes(count: 32)
        let iv = try RandomBytes.bytes(count: 16)
        let header = Self.header(seed: seed, iv: iv, cost, salt: salt)
        let keys = try KDBXKeys(seed: seed, transformed: transformed(password, cost, salt: salt))
        let start = try header + SHA256.hash(header.span).bytes + keys.code(ofHeader: header.span)
        try output(start.span)
        var file = try KDBXSealing(keys, iv: iv)
        try write(into: &file, output)
        try file.finish(output)
    }

    private static func header(seed: [UInt8], iv: [UInt8], _ cost: Argon2.Cost, salt: [UInt8]) -> [UInt8] {
        var derivation = KDBXDictionary()
        derivation.add("$UUID", .bytes(KDBX.bytes(ofUUID: KDBX.argon2id)))
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
    ) throws -> SecretBytes {
        var composite = KDBXCompositeKey()
        try composite.add(password: password)
        return try Argon2.derive(password: composite.bytes(), salt: salt, .id, cost, count: 32)
    }

    /// Writes the inner header, the binaries and the XML.
    private func write(
        into file: inout KDBXSealing, _ output: (borrowing Span<UInt8>) throws -> Void
    ) throws {
        let stream = try KDBXChaCha20(key: streamKey)
        file.pending.append(([1, 4, 0, 0, 0] + KDBX.littleEndian(KDBX.Stream.chaCha20.rawValue)).span)
        file.pending.append(([2] + KDBX.littleEndian(UInt32(streamKey.count))).span)
        streamKey.withBytes { file.pending.append($0) }
        binaries.withBytes { file.pending.append($0) }
        file.pending.append([0, 0, 0, 0, 0].span)
        file.pending.append(prologue.utf8.span)
        try root.write(times: Self.times(date), entries, stream, into: &file, output)
        file.pending.append("<DeletedObjects/></Root></KeePassFile>".utf8.span)
    }

    /// The dates of a group.
    private static func times(_ date: Timestamp) -> String {
        let dates = ["CreationTime", "LastModificationTime", "LastAccessTime", "ExpiryTime", "LocationChanged"]
            .map { "<\($0)>\(spelled(date))</\($0)>" }.joined()
        return "<Times>\(dates)<Expires>False</Expires><UsageCount>0</UsageCount></Times>"
    }

    /// The XML up to the topmost group.
    private let prologue = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <KeePassFile><Meta><Generator>kcbackup</Generator><DatabaseName>kcbackup</DatabaseName>\
        <MemoryProtection><ProtectTitle>False</ProtectTitle><ProtectUserName>False</ProtectUserName>\
        <ProtectPassword>True</ProtectPassword><ProtectURL>False</ProtectURL>\
        <ProtectNotes>False</ProtectNotes></MemoryProtection><RecycleBinEnabled>False</RecycleBinEnabled></Meta>\
        <Root>
        """

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
            if KDBXFragment.isXML(bytes) {
                entries.append(escaped: bytes)
            } else {
                Base64.encode(bytes, into: &entries.xml)
            }
        }
        literal("</Value></Item></CustomData>")
    }

    /// Writes text in the clear, or protected if XML cannot represent it.
    private func string(_ key: String, _ value: String) {
        guard KDBXFragment.isXML(value.utf8.span) else { return protected(key, SecretBytes(copying: value.utf8)) }
        literal("<String><Key>\(key)</Key><Value>")
        entries.append(escaped: value.utf8.span)
        literal("</Value></String>")
    }

    private func protected(_ key: String, _ value: consuming SecretBytes) {
        literal("<String><Key>\(key)</Key><Value Protected=\"True\">")
        entries.append(protected: value)
        literal("</Value></String>")
    }

    private func literal(_ text: String) { entries.append(text) }
}
