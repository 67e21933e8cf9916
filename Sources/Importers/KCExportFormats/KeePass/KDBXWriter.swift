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

    package func add(_ record: ExportedRecord) throws -> ExportOutcome {
        let start = entries.end
        literal("<Entry><UUID>\(Base64.encode(record.uuid.bytes))</UUID><IconID>0</IconID>")
        if let tags = record.tags {
            literal("<Tags>")
            entries.append(escaped: (KDBXFragment.isXML(tags.utf8.span) ? tags : "").utf8.span)
            literal("</Tags>")
        }
        literal("<Times>")
        time("CreationTime", record.created)
        for name in ["LastModificationTime", "LastAccessTime", "LocationChanged"] { time(name, record.modified) }
        let expiry = record.free("expires").flatMap { Timestamp($0) }
        time("ExpiryTime", expiry ?? record.modified)
        literal("<Expires>\(expiry == nil ? "False" : "True")</Expires><UsageCount>0</UsageCount></Times>")
        string("Title", record.title)
        if let account = record.account { string("UserName", account) }
        for (index, address) in record.addresses.enumerated() {
            string(index == 0 ? "URL" : index == 1 ? "KP2A_URL" : "KP2A_URL_\(index - 1)", address)
        }
        var outcome = ExportOutcome()
        var names = KDBXNames()
        var written: [ExportedRecord.Written] = []
        for part in record.parts {
            if let place = add(part, &names, of: record) {
                written.append(ExportedRecord.Written(part, as: place))
            } else {
                outcome.apart.append(part)
            }
        }
        items(of: record, written)
        literal("</Entry>")
        root.add(entries.piece(from: start), path: KDBXGroup.path(of: record.folder))
        return outcome
    }

    /// Adds the secret of a part where KeePass and KeePassXC have it, or else as a field or an attachment.
    ///
    /// - Returns: the place that an import finds it in; nil for a part that would be one of two where only one can be.
    private func add(_ part: ExportedPart, _ names: inout KDBXNames, of record: ExportedRecord) -> RecordPlace? {
        // Other programs end a text at a zero byte.
        let isText = part.isText && part.secret.withBytes { span in !span.indices.contains { span[$0] == 0 } }
        if !isText || isAttachment(part.place) { return attach(part, &names) }
        switch part.place {
        case .network where record.login != nil: return field(part, &names)
        case .login, .token, .network:
            guard names.take("Password") else { return part.place == .login ? nil : field(part, &names) }
            if part.hasSecret { protected("Password", part.secret.copy()) }
            return .login
        case .note:
            guard names.take("Notes") else { return field(part, &names) }
            protected("Notes", part.secret.copy())
            return .note
        case .oneTimePassword:
            let address = OneTimePasswordAddress.make(of: part.secret, issuer: record.title, user: record.account)
            let isAddress = address.withBytes { bytes in bytes.matches("otpauth://".utf8) }
            guard isAddress else { return field(part, &names) }
            guard names.take("otp") else { return nil }
            if address.count != part.secret.count { protected(Self.seedName, part.secret.copy()) }
            protected("otp", address)
            return .oneTimePassword
        case .passkey(let host):
            guard let passkey = Passkey(json: part.secret), passkey.isKey, passkey.host.exact == host.exact else {
                return field(part, &names)
            }
            guard names.take("passkey") else { return nil }
            add(passkey, part.secret)
            return part.place
        case .field, .object, .privateKey, .attachment: return field(part, &names)
        }
    }

    private func isAttachment(_ place: RecordPlace) -> Bool { if case .attachment = place { true } else { false } }

    private func field(_ part: ExportedPart, _ names: inout KDBXNames) -> RecordPlace {
        let name = names.unique(part.place.fieldName)
        protected(name, part.secret.copy())
        return .field(name)
    }

    private func attach(_ part: ExportedPart, _ names: inout KDBXNames) -> RecordPlace {
        let isField = if case .field = part.place { true } else { isAttachment(part.place) }
        let name = names.uniqueFile(isField ? part.place.fieldName : Self.binaryName)
        literal("<Binary><Key>")
        entries.append(escaped: name.utf8.span)
        literal("</Key><Value Ref=\"\(binaryCount)\"/></Binary>")
        add(binary: part.secret)
        return .attachment(name)
    }

    /// Writes a passkey as KeePassXC does.
    private func add(_ passkey: borrowing Passkey, _ secret: borrowing SecretBytes) {
        let prefix = KDBXNames.passkeyPrefix
        protected(prefix + "CREDENTIAL_ID", SecretBytes(copying: passkey.id.utf8))
        if let pem = PasskeyKey.pem(passkey.key) { protected(prefix + "PRIVATE_KEY_PEM", pem) }
        string(prefix + "RELYING_PARTY", passkey.host)
        string(prefix + "USERNAME", passkey.userName ?? "")
        protected(prefix + "USER_HANDLE", SecretBytes(copying: (passkey.userHandle ?? "").utf8))
        for (name, flag) in Self.passkeyFlags {
            if let value = passkey.text(name) { string(prefix + flag, value) }
        }
        var back = Passkey(id: passkey.id, host: passkey.host, key: passkey.key)
        back.userName = passkey.userName ?? ""
        back.displayName = back.userName
        back.userHandle = passkey.userHandle ?? ""
        for (name, _) in Self.passkeyFlags { back.add(name, passkey.text(name)) }
        // KeePassXC has no place for some members.
        if !back.json().isEqual(to: secret) { protected(Self.passkeyName, secret.copy()) }
    }

    /// The flags of a passkey that KeePassXC keeps, by their names in an item.
    package static let passkeyFlags = [("backupEligible", "FLAG_BE"), ("backupState", "FLAG_BS")]

    /// The name of the string that holds a one-time password as it is in the keychain.
    package static let seedName = "kcbackup.seed"

    /// The name of the string that holds a passkey as it is in the keychain.
    package static let passkeyName = "kcbackup.passkey"

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

    /// Writes all attributes of the items as custom data, where programs keep data that only others understand.
    ///
    /// In a string, KeePass would interpret the braces as placeholders.
    private func items(of record: ExportedRecord, _ written: [ExportedRecord.Written]) {
        var text = SecretBytes(capacity: 512)
        record.writeItems(written, id: "\(record.uuid)", into: &text)
        literal("<CustomData><Item><Key>\(ExportName.item)</Key><Value>")
        text.withBytes { bytes in
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
        self.key(key)
        literal("<Value>")
        entries.append(escaped: value.utf8.span)
        literal("</Value></String>")
    }

    private func protected(_ key: String, _ value: consuming SecretBytes) {
        self.key(key)
        literal("<Value Protected=\"True\">")
        entries.append(protected: value)
        literal("</Value></String>")
    }

    private func key(_ name: String) {
        literal("<String><Key>")
        entries.append(escaped: name.utf8.span)
        literal("</Key>")
    }

    private func literal(_ text: String) { entries.append(text) }
}
