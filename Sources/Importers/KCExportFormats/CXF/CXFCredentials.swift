internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel

/// Writes the credentials of an item of CXF.
struct CXFCredentials {
    private let record: ExportedRecord
    /// The parts so far, with the places that they have in the file.
    private(set) var written: [ExportedRecord.Written] = []
    /// The parts that become custom fields.
    private var fields: [(name: String, part: ExportedPart)] = []
    /// The parts whose credential says the same in other words.
    private var translated: [ExportedPart] = []

    init(_ record: ExportedRecord) { self.record = record }

    /// True for a part that a credential holds in another form.
    func isTranslated(_ part: ExportedPart) -> Bool { translated.contains { $0 === part } }

    /// Writes a list without its brackets.
    mutating func write(into file: inout SecretBytes) {
        let start = file.count
        for part in record.parts {
            let before = file.count
            if before > start { CanonicalJSON.literal(",", into: &file) }
            let begin = file.count
            write(part, into: &file)
            // A part that becomes a custom field waits.
            if file.count == begin { file.removeLast(begin - before) }
        }
        if fields.isEmpty { return }
        CanonicalJSON.literal("\(file.count > start ? "," : ""){\"type\":\"custom-fields\",\"fields\":[", into: &file)
        for (index, field) in fields.enumerated() {
            CanonicalJSON.literal(index == 0 ? "{\"label\":" : ",{\"label\":", into: &file)
            CanonicalJSON.string(field.name, into: &file)
            CanonicalJSON.literal(",\"fieldType\":\"concealed-string\",\"value\":", into: &file)
            if field.part.isText {
                Self.text(field.part, into: &file)
            } else {
                CanonicalJSON.literal("\"", into: &file)
                field.part.secret.withBytes { Base64.encode($0, into: &file) }
                CanonicalJSON.literal("\"", into: &file)
            }
            CanonicalJSON.literal("}", into: &file)
        }
        CanonicalJSON.literal("]}", into: &file)
    }

    private mutating func write(_ part: ExportedPart, into file: inout SecretBytes) {
        switch part.place {
        case .login, .token: return login(part, into: &file)
        case .note where part.isText && part.hasSecret:
            CanonicalJSON.literal("{\"type\":\"note\",\"content\":{\"fieldType\":\"string\",\"value\":", into: &file)
            Self.text(part, into: &file)
            CanonicalJSON.literal("}}", into: &file)
        case .network(let name) where part.isText && part.hasSecret: network(part, name, into: &file)
        case .passkey(let host):
            guard let passkey = Passkey(json: part.secret), passkey.host.exact == host.exact else { return field(part) }
            translated.append(part)
            passkey.json(withType: true).withBytes { file.append($0) }
        case .oneTimePassword:
            guard let address = OneTimePasswordParts(part.secret), let code = CXF.Code(address) else {
                return field(part)
            }
            translated.append(part)
            oneTimePassword(part, address, code, into: &file)
        case .object(let kind): guard object(part, kind, into: &file) else { return field(part) }
        case .privateKey: guard privateKey(part, into: &file) else { return field(part) }
        case .note, .network, .field, .attachment: return field(part)
        }
        written.append(ExportedRecord.Written(part))
    }

    /// Keeps a part for the custom fields.
    private mutating func field(_ part: ExportedPart) {
        let isOnly = record.parts.count == 1 && !part.isText
        let own = part.place.fieldName
        let name = isOnly ? ExportName.bytes : own.isEmpty ? "field" : own
        fields.append((name, part))
        written.append(ExportedRecord.Written(part, as: .field(name), isBase64: !part.isText))
    }

    private mutating func login(_ part: ExportedPart, into file: inout SecretBytes) {
        let isBytes = part.hasSecret && !part.isText
        if isBytes { field(part) }
        let account = part.item.attributes.text(.acct)
        if isBytes, account == nil { return }
        CanonicalJSON.literal("{\"type\":\"basic-auth\"", into: &file)
        if let account {
            CanonicalJSON.literal(",\"username\":{\"fieldType\":\"string\",\"value\":", into: &file)
            CanonicalJSON.string(account, into: &file)
            CanonicalJSON.literal("}", into: &file)
        }
        if part.hasSecret, !isBytes {
            CanonicalJSON.literal(",\"password\":{\"fieldType\":\"concealed-string\",\"value\":", into: &file)
            Self.text(part, into: &file)
            CanonicalJSON.literal("}", into: &file)
        }
        CanonicalJSON.literal("}", into: &file)
        if !isBytes { written.append(ExportedRecord.Written(part, as: .login)) }
    }

    private func network(_ part: ExportedPart, _ name: String, into file: inout SecretBytes) {
        CanonicalJSON.literal("{\"type\":\"wifi\",\"ssid\":{\"fieldType\":\"string\",\"value\":", into: &file)
        CanonicalJSON.string(name, into: &file)
        CanonicalJSON.literal("},\"passphrase\":{\"fieldType\":\"concealed-string\",\"value\":", into: &file)
        Self.text(part, into: &file)
        for name in ["networkSecurityType", "hidden"] {
            guard let value = part.item.extra.first(where: { $0.name.exact == name.exact })?.value else { continue }
            CanonicalJSON.literal("},\"\(name)\":{\"fieldType\":\"string\",\"value\":", into: &file)
            CanonicalJSON.string(value, into: &file)
        }
        CanonicalJSON.literal("}}", into: &file)
    }

    private func oneTimePassword(
        _ part: ExportedPart, _ address: OneTimePasswordParts, _ code: CXF.Code, into file: inout SecretBytes
    ) {
        CanonicalJSON.literal("{\"type\":\"totp\",\"secret\":", into: &file)
        part.secret.withBytes { CanonicalJSON.string($0.extracting(address.seed), into: &file) }
        CanonicalJSON.literal(
            ",\"period\":\(code.period),\"digits\":\(code.digits),\"algorithm\":\"\(code.algorithm)\"", into: &file)
        for (name, value) in [("username", address.userName), ("issuer", address.issuer)] {
            guard let value else { continue }
            CanonicalJSON.literal(",\"\(name)\":", into: &file)
            CanonicalJSON.string(value, into: &file)
        }
        CanonicalJSON.literal("}", into: &file)
    }

    /// Writes the members of a credential that came from this format; false for anything else.
    private func object(_ part: ExportedPart, _ kind: String, into file: inout SecretBytes) -> Bool {
        guard record.id(in: ForeignKind.cxf.name) != nil, part.isText,
            let type = CXF.objects.first(where: { $0.kind.exact == kind.exact })?.type,
            part.secret.withBytes({ $0.starts(with: "{\"") })
        else { return false }
        CanonicalJSON.literal("{\"type\":\"\(type)\",", into: &file)
        part.secret.withBytes { file.append($0.extracting(1...)) }
        return true
    }

    /// Writes a key in PKCS #8; false for one in another form.
    private func privateKey(_ part: ExportedPart, into file: inout SecretBytes) -> Bool {
        guard !part.isText, let type = Self.keyType(part.secret) else { return false }
        CanonicalJSON.literal("{\"type\":\"ssh-key\",\"keyType\":\"\(type)\",\"privateKey\":\"", into: &file)
        PasskeyKey.base64URL(part.secret).withBytes { file.append($0) }
        CanonicalJSON.literal("\"}", into: &file)
        return true
    }

    /// The name that SSH has for the type of a key; nil for anything that is not a private key.
    private static func keyType(_ key: borrowing SecretBytes) -> String? {
        key.withBytes { bytes in
            do throws(CertificateFailure) {
                let key = try PrivateKey(der: bytes)
                return switch (key.kind, key.sizeInBits) {
                case (.rsa, _): "ssh-rsa"
                case (.ed25519, _): "ssh-ed25519"
                case (_, 256): "ecdsa-sha2-nistp256"
                case (_, 384): "ecdsa-sha2-nistp384"
                case (_, 521): "ecdsa-sha2-nistp521"
                default: nil
                }
            } catch {
                return nil
            }
        }
    }

    private static func text(_ part: ExportedPart, into file: inout SecretBytes) {
        part.secret.withBytes { CanonicalJSON.string($0, into: &file) }
    }
}
