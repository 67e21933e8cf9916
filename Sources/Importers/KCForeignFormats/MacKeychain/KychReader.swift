internal import KCByteStreams
internal import KCCertificateItems
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel

/// Makes items from the records of a macOS keychain.
struct KychReader: ~Copyable {
    private typealias Table = MacKeychainFormat.Table

    /// The accessibility of passwords and keys.
    var accessibility = Accessibility.whenUnlocked
    private let collector: RecordCollector
    private let fileName: String
    /// The keys that encrypt passwords, concatenated, and their positions by label.
    private var passwordKeys = SecretBytes(capacity: 4_096)
    private var places: [[UInt8]: Range<Int>] = [:]
    /// Why keys for passwords could not be read, by label.
    private var keyProblems: [[UInt8]: String] = [:]

    init(_ file: ForeignFile, identity: [UInt8]) {
        collector = RecordCollector(format: "macos-keychain", file: identity, date: file.modified)
        fileName = file.name
    }

    consuming func finish() throws(ForeignFailure) -> ForeignContents {
        collector.remark(
            "the password of this file can be guessed fast, since it is protected by 1,000 rounds and 3DES only")
        return try collector.finish(details: "keychain '\(fileName)'", isPlaintext: false)
    }

    mutating func add(_ tables: KychFile, _ keys: borrowing KychKeys, _ bytes: borrowing Span<UInt8>) throws {
        for record in tables.records[Table.symmetricKey] ?? [] { try addSymmetricKey(record, keys, bytes) }
        for (table, itemClass) in [
            (Table.generic, ItemClass.genericPassword), (Table.internet, .internetPassword),
            (Table.appleShare, .internetPassword),
        ] {
            for record in tables.records[table] ?? [] { try addPassword(record, itemClass, bytes) }
        }
        for record in tables.records[Table.certificate] ?? [] { try addCertificate(record, bytes) }
        for table in [Table.privateKey, Table.publicKey] {
            for record in tables.records[table] ?? [] { try addKey(record, keys, bytes) }
        }
        for (table, kind) in [
            (Table.trust, "trust setting"), (Table.revocationList, "revocation list"),
            (Table.unlockReferral, "unlock referral"), (Table.extended, "extended attribute"),
        ] { collector.leaveOut(kind, tables.records[table]?.count ?? 0) }
    }

    // MARK: Passwords

    private mutating func addPassword(
        _ record: KychFile.Record, _ itemClass: ItemClass, _ bytes: borrowing Span<UInt8>
    ) throws {
        var draft = ItemDraft(itemClass: itemClass)
        draft.attributes[.pdmn] = .text(accessibility.rawValue)
        for (name, value) in record.values.sorted(by: { $0.key < $1.key }) {
            set(value, of: name.string, in: &draft, bytes)
        }
        if record.table == Table.appleShare {
            draft.attributes[.ptcl] = .number(WebAddress.protocolCode(ofScheme: "afp"))
            if draft.attributes[.srvr] == nil { draft.attributes[.srvr] = record.text("addr", bytes) }
        }
        let kind = draft.attributes.number(.type) == Self.note ? "note" : "password"
        let name = record.name(bytes)
        if record.data.isEmpty {
            return try collector.add(RecordPart(kind, draft, secret: nil, record: record.identity, name: name))
        }
        guard let label = KychKeys.label(of: record.data, bytes) else {
            return collector.refuse(name, .damaged("its data is not an encrypted password"))
        }
        guard let place = places[label] else {
            return collector.refuse(name, .damaged(keyProblems[label] ?? "the keychain has no key for it"))
        }
        let password = try passwordKeys.withBytes { keys in
            try KychKeys.password(record.data, SecretBytes(keys.extracting(place)), bytes)
        }
        switch consume password {
        case .some(let secret):
            try collector.add(RecordPart(kind, draft, secret: secret, record: record.identity, name: name))
        case .none: collector.refuse(name, .damaged("its password does not decrypt"))
        }
    }

    /// Apple's code for a secure note, `note` as a number.
    private static let note: Int64 = 1_852_798_053

    private mutating func set(
        _ value: KychFile.Value, of name: String, in draft: inout ItemDraft, _ bytes: borrowing Span<UInt8>
    ) {
        let known: [ExactText: AttributeCode] = ["PrintName": .labl, "Alias": .alis]
        guard let code = known[name.exact] ?? AttributeCode(code: name), code != .accc,
            code.belongs(to: draft.itemClass)
        else {
            // `addr` becomes the server.
            if case .bytes(let range) = value, !range.isEmpty, name != "addr" {
                if let text = bytes.text(range) {
                    draft.extra.append(ExtraAttribute(name: "macos." + name, value: text))
                } else {
                    collector.leaveOut("attribute '\(name)'")
                }
            } else if case .number(let number) = value {
                draft.extra.append(ExtraAttribute(name: "macos." + name, value: String(number)))
            }
            return
        }
        switch (value, code.kind) {
        case (.bytes(let range), .textOrData), (.bytes(let range), .dataOrText):
            draft.attributes[code] = bytes.text(range).map { .text($0) } ?? .data(bytes.array(range))
        case (.bytes(let range), .data): draft.attributes[code] = .data(bytes.array(range))
        case (.number(let number), .number): draft.attributes[code] = .number(number)
        case (.time(let range), .date):
            draft.attributes[code] = collector.counted(ForeignDate.digits(bytes.text(range))).map { .date($0) }
        default: collector.leaveOut("attribute '\(name)'")
        }
    }

    // MARK: Certificates

    private mutating func addCertificate(_ record: KychFile.Record, _ bytes: borrowing Span<UInt8>) throws {
        let name = record.name(bytes)
        let certificate: X509Certificate
        do throws(CertificateFailure) {
            certificate = try X509Certificate(der: bytes.array(record.data))
        } catch {
            return collector.refuse(name, .damaged("it is not a certificate"))
        }
        // The record's own attributes differ from those in current keychains of Apple.
        var draft = ItemDraft(certificate: certificate)
        if let label = record.text("PrintName", bytes) { draft.attributes[.labl] = label }
        try collector.add(
            RecordPart(
                "certificate", draft, secret: certificate.keychainSecret, record: record.identity, name: name))
    }

    // MARK: Keys

    private mutating func addSymmetricKey(
        _ record: KychFile.Record, _ keys: borrowing KychKeys, _ bytes: borrowing Span<UInt8>
    ) throws {
        let name = record.name(bytes)
        let label = record.bytes("Label", bytes) ?? []
        let isForPasswords = label.starts(with: Array(KychKeys.passwordPrefix.utf8))
        let secret: SecretBytes
        do {
            secret = try keys.key(in: record.data, bytes)
        } catch let problem as KychKeys.KeyProblem {
            // The passwords that it encrypts are refused by name.
            if isForPasswords {
                keyProblems[label] = problem.words
            } else {
                collector.refuse(name, .damaged(problem.words))
            }
            return
        }
        if isForPasswords {
            let start = passwordKeys.count
            secret.withBytes { passwordKeys.append($0) }
            places[label] = start..<passwordKeys.count
            return
        }
        var draft = ItemDraft(symmetricKeyOfBits: secret.count * 8, applicationLabel: label)
        if case .number(let type)? = record.values["KeyType"] { draft.attributes[.type] = .number(type) }
        describe(&draft, record, bytes)
        try collector.add(
            RecordPart("symmetric key", draft, secret: secret, record: record.identity, name: name))
    }

    private mutating func addKey(
        _ record: KychFile.Record, _ keys: borrowing KychKeys, _ bytes: borrowing Span<UInt8>
    ) throws {
        let name = record.name(bytes)
        let secret: SecretBytes
        do {
            secret = try keys.key(in: record.data, bytes)
        } catch let problem as KychKeys.KeyProblem {
            return collector.refuse(name, .damaged(problem.words))
        }
        let kind = record.table == Table.privateKey ? "private key" : "public key"
        var part: RecordPart
        do throws(CertificateFailure) {
            part = try Self.part(of: secret, kind, record, name)
        } catch {
            return try addUnreadable(secret, kind, record, name, bytes)
        }
        describe(&part.draft, record, bytes)
        try collector.add(part)
    }

    private static func part(
        of secret: borrowing SecretBytes, _ kind: String, _ record: KychFile.Record, _ name: String
    ) throws(CertificateFailure) -> RecordPart {
        if record.table == Table.privateKey {
            let key = try secret.withBytes { der throws(CertificateFailure) in try PrivateKey(der: der) }
            return RecordPart(
                kind, try ItemDraft(privateKey: key), secret: try key.externalRepresentation(),
                record: record.identity, name: name)
        }
        let key = try publicKey(secret)
        return RecordPart(
            kind, try ItemDraft(publicKey: key), secret: SecretBytes(key.externalRepresentation.span),
            record: record.identity, name: name)
    }

    /// Adds a key of a kind that has no item of its own as a generic password, with its bytes unchanged.
    private mutating func addUnreadable(
        _ secret: borrowing SecretBytes, _ kind: String, _ record: KychFile.Record, _ name: String,
        _ bytes: borrowing Span<UInt8>
    ) throws {
        var draft = ItemDraft(itemClass: .genericPassword)
        draft.attributes[.pdmn] = .text(accessibility.rawValue)
        draft.attributes[.svce] = .text(name)
        draft.attributes[.acct] = (record.bytes("Label", bytes)).map { .data($0) }
        draft.attributes[.labl] = .text(name)
        draft.attributes[.desc] = .text(kind)
        try collector.add(RecordPart(kind, draft, secret: secret.copy(), record: record.identity, name: name))
    }

    /// Parses a public key; RSA keys are stored without the algorithm that others state.
    private static func publicKey(_ bytes: borrowing SecretBytes) throws(CertificateFailure) -> PublicKey {
        let der = bytes.withBytes { $0.array(0..<$0.count) }
        do throws(CertificateFailure) {
            return try PublicKey(der: der)
        } catch {
            return try PublicKey(externalRepresentation: der, kind: .rsa)
        }
    }

    /// Sets a key's own attributes, which override those that follow from its kind.
    private mutating func describe(
        _ draft: inout ItemDraft, _ record: KychFile.Record, _ bytes: borrowing Span<UInt8>
    ) {
        draft.attributes[.pdmn] = .text(accessibility.rawValue)
        if case .text(let name)? = record.text("PrintName", bytes) {
            // Some labels have a NUL at the end.
            draft.attributes[.labl] = .text(name.exact.removingSuffix("\0") ?? name)
        }
        if let label = record.bytes("Label", bytes), !label.isEmpty { draft.attributes[.klbl] = .data(label) }
        if let tag = record.text("ApplicationTag", bytes), record.bytes("ApplicationTag", bytes) != [] {
            draft.attributes[.atag] = tag
        }
        for (name, code) in Self.keyNumbers {
            if case .number(let number)? = record.values[name.exact] { draft.attributes[code] = .number(number) }
        }
        for (name, code) in [("StartDate", AttributeCode.sdat), ("EndDate", .edat)] {
            // A key without such a date has zero bytes in its place.
            if case .bytes(let range)? = record.values[name.exact], range.contains(where: { bytes[$0] != 0 }) {
                draft.attributes[code] = collector.counted(ForeignDate.digits(bytes.text(range))).map { .date($0) }
            }
        }
    }

    private static let keyNumbers: [(String, AttributeCode)] = [
        ("Permanent", .perm), ("Private", .priv), ("Modifiable", .modi), ("Sensitive", .sens),
        ("AlwaysSensitive", .asen), ("Extractable", .extr), ("NeverExtractable", .next), ("Encrypt", .encr),
        ("Decrypt", .decr), ("Derive", .drve), ("Sign", .sign), ("Verify", .vrfy), ("SignRecover", .snrc),
        ("VerifyRecover", .vyrc), ("Wrap", .wrap), ("Unwrap", .unwp), ("KeySizeInBits", .bsiz),
        ("EffectiveKeySize", .esiz),
    ]
}

extension KychFile.Record {
    /// Identifies the record in its keychain.
    var identity: String { "\(table)/\(number)" }

    /// The name in messages.
    func name(_ bytes: borrowing Span<UInt8>) -> String {
        for name in ["PrintName", "svce", "srvr", "acct"] {
            if case .text(let text)? = self.text(name, bytes), !text.isEmpty {
                return text.exact.replacing("\0", with: "")
            }
        }
        return "record \(number)"
    }

    /// The bytes of an attribute; nil if the record does not have it.
    func bytes(_ name: String, _ bytes: borrowing Span<UInt8>) -> [UInt8]? {
        if case .bytes(let range)? = values[name.exact] { bytes.array(range) } else { nil }
    }

    /// An attribute that should be text; bytes if it is not UTF-8.
    func text(_ name: String, _ bytes: borrowing Span<UInt8>) -> AttributeValue? {
        guard let value = self.bytes(name, bytes) else { return nil }
        return String(validating: value, as: UTF8.self).map { .text($0) } ?? .data(value)
    }
}
