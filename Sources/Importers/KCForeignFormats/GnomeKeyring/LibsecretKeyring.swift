internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel

/// The file of libsecret and oo7, version 1: GVariants of items, each encrypted and authenticated separately.
///
/// Nothing else in the file is authenticated, so the removal of an item is not detected.
struct LibsecretKeyring {
    private static let ivLength = 16
    private static let codeLength = 32
    private static let keyLength = 16

    private let salt: Range<Int>
    private let rounds: Int
    private let items: [Range<Int>]

    static func read(
        _ source: KeyringFile, _ secrets: any ForeignSecrets, number: Int
    ) throws -> ForeignContents {
        let file = source.file
        let keyring = try file.bytes.withBytes { bytes throws(ForeignFailure) in try LibsecretKeyring(bytes) }
        let collector = KeyringCollector(keyring: KeyringName(label: source.labelOfName, number: number), file)
        var key = SecretBytes(capacity: 0)
        var valid: [Bool] = []
        try secrets.password(.file(.gnomeKeyring)) { password in
            try file.bytes.withBytes { bytes in
                key = try PBKDF2.derive(
                    password: password, salt: bytes.extracting(keyring.salt), rounds: keyring.rounds, hash: .sha256,
                    count: keyLength)
                var hmac = try HMAC(key: key)
                valid = []
                for item in keyring.items { valid.append(try isValid(item, &hmac, bytes)) }
                if !valid.isEmpty, !valid.contains(true) { throw ForeignFailure.wrongPasswordOrDamaged }
            }
        }
        try file.bytes.withBytes { bytes in
            var hmac = try HMAC(key: key)
            for (index, item) in keyring.items.enumerated() {
                // Each item is authenticated separately, so the others can be trusted.
                try collector.record("item \(index + 1)") {
                    guard valid[index] else {
                        throw ForeignFailure.damaged("its authentication code does not match its content")
                    }
                    try keyring.add(item, to: collector, key, &hmac, bytes)
                }
            }
        }
        return try collector.finish("of libsecret, encrypted", isPlaintext: false)
    }

    /// The number of items, which needs no password.
    static func itemCount(of file: ForeignFile) throws(ForeignFailure) -> Int {
        try file.bytes.withBytes { bytes throws(ForeignFailure) in try LibsecretKeyring(bytes).items.count }
    }

    /// Reads the outermost tuple, `(uayutua(a{say}ay))`, and finds its items.
    private init(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        let tuple = try Variant(GnomeKeyringFormat.magic.count + 2..<bytes.count, alignment: 8)
        let saltEnd = try tuple.framing(0, in: bytes)
        var head = ByteCursor(tuple.range, .littleEndian)
        let saltLength = Int(try head.uint32(in: bytes))
        guard saltEnd - 4 == saltLength, saltLength <= 1_024 else { throw Variant.failure }
        salt = try head.take(saltLength)
        _ = try head.take(tuple.padding(at: head.position, 4))
        let found = try head.uint32(in: bytes)
        guard found <= KeyringLimits.derivationRounds else {
            throw .limit("iterations", found: UInt64(found), allowed: UInt64(KeyringLimits.derivationRounds))
        }
        guard found > 0 else { throw .damaged("its number of iterations is 0") }
        rounds = Int(found)
        // When it was changed, and how often it was used.
        _ = try head.take(tuple.padding(at: head.position, 8) + 8 + 4)
        let end = try tuple.contentEnd(framings: 1)
        guard head.position <= end else { throw Variant.failure }
        let items = try Variant(head.position..<end, alignment: 1)
        self.items = try items.elements("items", limit: KeyringLimits.items, in: bytes)
    }

    /// The position of an item's blob, `(a{say}ay)`.
    private static func blob(_ item: Range<Int>, _ bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> Range<Int> {
        let tuple = try Variant(item, alignment: 1)
        let start = item.lowerBound + (try tuple.framing(0, in: bytes))
        let end = try tuple.contentEnd(framings: 1)
        guard start <= end else { throw Variant.failure }
        return start..<end
    }

    /// True if the code of an item is that of its content.
    private static func isValid(_ item: Range<Int>, _ hmac: inout HMAC, _ bytes: borrowing Span<UInt8>) throws -> Bool {
        let blob: Range<Int>
        do throws(ForeignFailure) {
            blob = try Self.blob(item, bytes)
        } catch {
            return false
        }
        guard blob.count >= ivLength + codeLength else { return false }
        let end = blob.upperBound - codeLength
        return try hmac.isValid(
            bytes.array(end..<blob.upperBound), of: bytes.extracting(blob.lowerBound..<end))
    }

    private func add(
        _ element: Range<Int>, to collector: KeyringCollector, _ key: borrowing SecretBytes,
        _ hmac: inout HMAC, _ bytes: borrowing Span<UInt8>
    ) throws {
        let blob = try Self.blob(element, bytes)
        let ivEnd = blob.upperBound - Self.codeLength
        let ciphertext = blob.lowerBound..<ivEnd - Self.ivLength
        guard ciphertext.count.isMultiple(of: 16) else { throw Variant.failure }
        var plaintext = try BlockCipher.decrypt(
            bytes.extracting(ciphertext), .aes128CBC, key: key, iv: bytes.extracting(ciphertext.upperBound..<ivEnd))
        guard plaintext.removePadding(blockSize: 16) else { throw ForeignFailure.damaged("an item has no padding") }
        let hashed = try Self.hashedAttributes(element, bytes)
        try plaintext.withBytes { plain in
            let (item, secret) = try Self.item(plain)
            guard item.attributes.count == hashed.count else { throw Self.hashFailure }
            for (name, value) in item.attributes {
                guard let code = hashed[Array(name.utf8)], try hmac.authenticate(Array(value.utf8).span) == code else {
                    throw Self.hashFailure
                }
            }
            try collector.add(item, secret: SecretBytes(plain.extracting(secret)))
        }
    }

    private static let hashFailure = ForeignFailure.damaged(
        "its unencrypted part contradicts its encrypted part")

    /// The authentication codes of an item's attributes, `a{say}`, by the attributes' names.
    private static func hashedAttributes(
        _ element: Range<Int>, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> [[UInt8]: [UInt8]] {
        let tuple = try Variant(element, alignment: 1)
        let end = element.lowerBound + (try tuple.framing(0, in: bytes))
        let entries = try Variant(element.lowerBound..<end, alignment: 1)
        var codes: [[UInt8]: [UInt8]] = [:]
        for entry in try entries.elements("attributes", limit: KeyringLimits.attributes, in: bytes) {
            let pair = try Variant(entry, alignment: 1)
            let nameEnd = entry.lowerBound + (try pair.framing(0, in: bytes))
            let name = try Variant.text(entry.lowerBound..<nameEnd, in: bytes)
            let code = bytes.array(nameEnd..<max(nameEnd, try pair.contentEnd(framings: 1)))
            guard codes.updateValue(code, forKey: Array(name.utf8)) == nil else { throw Variant.failure }
        }
        return codes
    }

    /// An item, `(a{ss}sttay)`, and the position of its secret.
    private static func item(
        _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> (item: KeyringItem, secret: Range<Int>) {
        let tuple = try Variant(0..<bytes.count, alignment: 8)
        let attributesEnd = try tuple.framing(0, in: bytes)
        let labelEnd = try tuple.framing(1, in: bytes)
        let end = try tuple.contentEnd(framings: 2)
        guard attributesEnd <= labelEnd, labelEnd <= end else { throw Variant.failure }
        var item = KeyringItem(label: .text(try Variant.text(attributesEnd..<labelEnd, in: bytes)))
        let entries = try Variant(0..<attributesEnd, alignment: 1)
        for entry in try entries.elements("attributes", limit: KeyringLimits.attributes, in: bytes) {
            let pair = try Variant(entry, alignment: 1)
            let nameEnd = entry.lowerBound + (try pair.framing(0, in: bytes))
            let name = try Variant.text(entry.lowerBound..<nameEnd, in: bytes)
            let value = try Variant.text(nameEnd..<max(nameEnd, try pair.contentEnd(framings: 1)), in: bytes)
            item.attributes.append((name, value))
        }
        var cursor = ByteCursor(labelEnd..<end, .littleEndian)
        _ = try cursor.take(tuple.padding(at: labelEnd, 8))
        item.created = try cursor.uint64(in: bytes)
        item.modified = try cursor.uint64(in: bytes)
        return (item, cursor.position..<end)
    }
}
