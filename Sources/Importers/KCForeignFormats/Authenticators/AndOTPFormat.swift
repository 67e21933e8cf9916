internal import KCByteStreams
internal import KCCryptography
package import KCItemSources
internal import KCKeychainModel

/// The backup of andOTP, plain or encrypted with a password.
///
/// Source: andOTP/andOTP wiki, "Backup and restore", and what beemdevelopment/Aegis reads.
package struct AndOTPFormat: ForeignFormat {
    package let kind = ForeignKind.andOTP

    package init() {}

    package func recognises(_ input: ForeignInput) throws -> Bool {
        guard let file = input.file else { return false }
        return file.bytes.withBytes { Self.isList($0) } || Self.isEncrypted(file)
    }

    /// True for a list of objects with the members of an entry.
    private static func isList(_ bytes: borrowing Span<UInt8>) -> Bool {
        let head = bytes.extracting(..<min(bytes.count, 64))
        guard
            let start = head.indices.first(where: { ![0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf].contains(head[$0]) }),
            head[start] == UInt8(ascii: "[")
        else { return false }
        let names = ["secret", "label", "type", "algorithm"]
        return JSONHead.names(names, in: bytes.extracting((start + 1)...)).count == names.count
    }

    /// True for a file that can only be known by its name, since all of it looks random.
    private static func isEncrypted(_ file: ForeignFile) -> Bool {
        file.name.lowercased().exact.hasSuffix(".json.aes") && file.bytes.count > AndOTPSeal.overhead
    }

    package func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents {
        guard let file = input.file else { throw ForeignFailure.notOfFormat(title: title) }
        let isEncrypted = Self.isEncrypted(file)
        let json = isEncrypted ? try AndOTPSeal(file).open(secrets) : try ForeignJSON(file)
        let collector = RecordCollector(format: name, date: file.modified)
        try AndOTPReader(json: json, collector: collector).add()
        collector.leaveOut(unknown: json.unread)
        return try collector.finish(details: isEncrypted ? "encrypted" : "", isPlaintext: !isEncrypted)
    }
}

/// Reads the entries of a backup.
private struct AndOTPReader: JSONRecords {
    let json: ForeignJSON
    let collector: RecordCollector

    func add() throws(ForeignFailure) {
        for (index, entry) in try json.list(json.root, required: "its list of entries").enumerated() {
            try collector.record(entry, of: json, title: entry["issuer"], number: index + 1) {
                () throws(ForeignFailure) in
                guard entry.isObject else { throw .damaged("it is not an object") }
                try add(entry)
            }
        }
    }

    private func add(_ entry: ForeignJSON.Value) throws(ForeignFailure) {
        guard let type = try text(entry["type"])?.lowercased() else { throw .damaged("its kind of code is missing") }
        let code = AuthenticatorCode(
            type: type, algorithm: try text(entry["algorithm"]), digits: try json.optionalInteger(entry["digits"]),
            period: try json.optionalInteger(entry["period"]), counter: try json.optionalInteger(entry["counter"]))
        var (issuer, user) = (try text(entry["issuer"]), try text(entry["label"]))
        // Old versions have both in the label.
        if issuer == nil, let label = user, let parts = Self.split(label) { (issuer, user) = parts }
        let tags = try texts(entry["tags"]).filter { !$0.isEmpty }
        if let thumbnail = try text(entry["thumbnail"]), thumbnail != "Default" { collector.leaveOut("icon") }
        if let count = try json.optionalInteger(entry["used_frequency"]), count > 0 {
            collector.leaveOut("number of uses")
        }
        if let date = try json.optionalInteger(entry["last_used"]), date > 0 { collector.leaveOut("date of last use") }
        try record(of: entry, issuer: issuer ?? "", user: user, code, seed: try filled(entry["secret"])) {
            record throws(ForeignFailure) in
            if !tags.isEmpty { record.describe("tags", tags.joined(separator: ", ")) }
        }
    }
}

extension AndOTPReader {
    /// The texts before and after the first ` - ` of a label; nil if there is none.
    private static func split(_ label: String) -> (String?, String?)? {
        let (bytes, mark) = (Array(label.utf8), Array(" - ".utf8))
        guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) else { return nil }
        return (
            String(decoding: bytes[..<place], as: UTF8.self),
            String(decoding: bytes[(place + mark.count)...], as: UTF8.self)
        )
    }
}

/// The encryption of a backup: rounds (4 bytes, big-endian), salt (12), nonce (12), ciphertext and tag.
private struct AndOTPSeal {
    /// andOTP uses 140,000 to 160,000.
    private static let roundLimit = 2_000_000
    private static let saltLength = 12
    private static let nonceLength = 12

    /// The number of bytes beside the plaintext.
    static let overhead = 4 + saltLength + nonceLength + authenticationTagLength

    private let rounds: Int
    private let salt: [UInt8]
    private let nonce: Nonce
    private let sealed: [UInt8]

    init(_ file: ForeignFile) throws(ForeignFailure) {
        let parts = try file.bytes.withBytes { bytes throws(ForeignFailure) in
            var cursor = try ByteCursor(of: bytes)
            let rounds = try cursor.uint32(in: bytes)
            return (
                rounds, bytes.array(try cursor.take(Self.saltLength)), bytes.array(try cursor.take(Self.nonceLength)),
                bytes.array(try cursor.take(cursor.left))
            )
        }
        guard (1...Self.roundLimit).contains(Int(parts.0)) else {
            throw .limit("rounds of PBKDF2", found: UInt64(parts.0), allowed: UInt64(Self.roundLimit))
        }
        guard let nonce = Nonce(bytes: parts.2) else { throw ByteCursor.early }
        (rounds, salt, sealed) = (Int(parts.0), parts.1, parts.3)
        self.nonce = nonce
    }

    /// The list of entries.
    ///
    /// - Throws: `ForeignFailure`, `CryptographyFailure`, and what `secrets` throws.
    func open(_ secrets: any ForeignSecrets) throws -> ForeignJSON {
        var opened: ForeignJSON?
        try secrets.password(.file(.andOTP)) { password in
            let key = try PBKDF2.derive(password: password, salt: salt.span, rounds: rounds, hash: .sha1, count: 32)
            guard let plaintext = try AuthenticatorSeal.open(sealed, key: key, nonce: nonce) else {
                throw ForeignFailure.wrongPasswordOrDamaged
            }
            opened = try ForeignJSON(plaintext)
        }
        guard let opened else { throw ForeignFailure.wrongPassword }
        return opened
    }
}
