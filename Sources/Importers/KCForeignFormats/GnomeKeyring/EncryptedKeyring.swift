internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel

/// The encrypted file of gnome-keyring-daemon, version 0.
///
/// The only check of the password and the content is an MD5 hash inside the encryption, which does not detect
/// deliberate changes. The decrypted data is therefore parsed as strictly as the clear part.
struct EncryptedKeyring {
    private static let headerLength = GnomeKeyringFormat.magic.count + 2
    private static let hashLength = 16
    /// The minimum sizes in bytes, without texts: of an item in the clear part, of one in the encrypted part, of an
    /// attribute.
    private static let shortestIndexEntry = 12
    private static let shortestItem = 52
    private static let shortestAttribute = 12

    private var label = ""
    private var iterations = 0
    private var salt = 0..<0
    private var index: [IndexEntry] = []
    private var ciphertext = 0..<0

    /// The clear part's information about an item.
    private struct IndexEntry {
        let number: UInt32
        let type: UInt32
        var attributes: [(name: [UInt8], value: HashedValue)]
    }

    private enum HashedValue: Equatable {
        /// An MD5 hash in hexadecimal digits.
        case text([UInt8])
        case number(UInt32)
    }

    static func read(_ file: ForeignFile, _ secrets: any ForeignSecrets, number: Int) throws -> ForeignContents {
        let keyring = try file.bytes.withBytes { bytes throws(ForeignFailure) in try EncryptedKeyring(bytes) }
        var plaintext = SecretBytes(capacity: 0)
        try secrets.password(.file(.gnomeKeyring)) { password in
            plaintext = try file.bytes.withBytes { bytes in try keyring.decrypt(bytes, password) }
        }
        let collector = KeyringCollector(keyring: KeyringName(label: keyring.label, number: number), file)
        try plaintext.withBytes { bytes in try keyring.addItems(to: collector, bytes) }
        return try collector.finish("encrypted", isPlaintext: false)
    }

    /// The label and the number of items, which need no password.
    static func outline(of file: ForeignFile) throws(ForeignFailure) -> (label: String, items: Int) {
        let keyring = try file.bytes.withBytes { bytes throws(ForeignFailure) in try EncryptedKeyring(bytes) }
        return (keyring.label, keyring.index.count)
    }

    /// Reads the clear part.
    private init(_ bytes: borrowing Span<UInt8>) throws(ForeignFailure) {
        var cursor = ByteCursor(Self.headerLength..<bytes.count)
        let algorithms = try cursor.take(2)
        guard bytes[algorithms.lowerBound] == 0, bytes[algorithms.lowerBound + 1] == 0 else {
            throw .unknownVariant("a cipher or hash other than AES and MD5")
        }
        guard let label = try cursor.string(in: bytes) else { throw .damaged("its name is not UTF-8") }
        self.label = label
        // Both times, flags, and the lock timeout.
        _ = try cursor.take(8 + 8 + 4 + 4)
        let found = try cursor.uint32(in: bytes)
        guard found <= KeyringLimits.iterations else {
            throw .limit("iterations", found: UInt64(found), allowed: UInt64(KeyringLimits.iterations))
        }
        guard found > 0 else { throw .damaged("its number of iterations is 0") }
        iterations = Int(found)
        salt = try cursor.take(8)
        _ = try cursor.take(4 * 4)
        let count = try cursor.count(
            ofAtLeast: Self.shortestIndexEntry, "items", limit: KeyringLimits.items, in: bytes)
        for _ in 0..<count { index.append(try Self.indexEntry(&cursor, bytes)) }
        let length = Int(try cursor.uint32(in: bytes))
        guard length.isMultiple(of: 16) else { throw .damaged("its encrypted part does not consist of whole blocks") }
        ciphertext = try cursor.take(length)
        guard cursor.left == 0 else { throw .damaged("data follows its last record") }
    }

    private static func indexEntry(
        _ cursor: inout ByteCursor, _ bytes: borrowing Span<UInt8>
    ) throws(ForeignFailure) -> IndexEntry {
        let number = try cursor.uint32(in: bytes)
        var entry = IndexEntry(number: number, type: try cursor.uint32(in: bytes), attributes: [])
        let count = try cursor.count(
            ofAtLeast: shortestAttribute, "attributes", limit: KeyringLimits.attributes, in: bytes)
        for _ in 0..<count {
            let name = bytes.array(try cursor.piece(in: bytes) ?? 0..<0)
            switch try cursor.uint32(in: bytes) {
            case 0: entry.attributes.append((name, .text(bytes.array(try cursor.piece(in: bytes) ?? 0..<0))))
            case 1: entry.attributes.append((name, .number(try cursor.uint32(in: bytes))))
            default: throw .damaged("an attribute is neither a string nor a number")
            }
        }
        return entry
    }

    private func decrypt(_ bytes: borrowing Span<UInt8>, _ password: borrowing SecretBytes) throws -> SecretBytes {
        var digest = password.copy()
        digest.append(bytes.extracting(salt))
        var next = SecretBytes(capacity: HashFunction.sha256.length)
        for _ in 0..<iterations {
            next.removeAll()
            try HashFunction.sha256.hash(digest, into: &next)
            swap(&digest, &next)
        }
        let plaintext = try digest.withBytes { digest in
            try BlockCipher.decrypt(
                bytes.extracting(ciphertext), .aes128CBC, key: SecretBytes(digest.extracting(..<16)),
                iv: digest.extracting(16...))
        }
        let isRight = try plaintext.withBytes { span in
            guard span.count >= Self.hashLength else { return false }
            let hash = try HashFunction.md5.hash(span.extracting(Self.hashLength...))
            return constantTimeEqual(hash, SecretBytes(span.extracting(..<Self.hashLength)))
        }
        guard isRight else { throw ForeignFailure.wrongPasswordOrDamaged }
        return plaintext
    }

    // MARK: What was encrypted

    private func addItems(to collector: KeyringCollector, _ bytes: borrowing Span<UInt8>) throws {
        var cursor = ByteCursor(Self.hashLength..<bytes.count)
        guard index.count <= cursor.left / Self.shortestItem else {
            throw ForeignFailure.damaged("it has fewer items than it declares")
        }
        for entry in index { try add(entry, to: collector, &cursor, bytes) }
        guard cursor.left < 16, (cursor.position..<cursor.end).allSatisfy({ bytes[$0] == 0 }) else {
            throw ForeignFailure.damaged("data follows its last record")
        }
    }

    private func add(
        _ entry: IndexEntry, to collector: KeyringCollector, _ cursor: inout ByteCursor,
        _ bytes: borrowing Span<UInt8>
    ) throws {
        let label = try cursor.piece(in: bytes) ?? 0..<0
        // The daemon writes an empty secret as a missing one.
        let secret = try cursor.piece(in: bytes) ?? 0..<0
        var item = KeyringItem(label: bytes.text(label).map { .text($0) } ?? .data(bytes.array(label)))
        item.number = entry.number
        item.type = entry.type
        item.created = try cursor.uint64(in: bytes)
        item.modified = try cursor.uint64(in: bytes)
        _ = try cursor.piece(in: bytes)
        _ = try cursor.take(4 * 4)
        let count = try cursor.count(
            ofAtLeast: Self.shortestAttribute, "attributes", limit: KeyringLimits.attributes, in: bytes)
        guard count == entry.attributes.count else { throw Self.indexFailure }
        var damage: ForeignFailure?
        for hashed in entry.attributes {
            let range = try cursor.piece(in: bytes) ?? 0..<0
            let (value, found) = try Self.value(&cursor, bytes)
            guard bytes.array(range) == hashed.name, found == hashed.value else { throw Self.indexFailure }
            guard let name = bytes.text(range), let value else {
                damage = .damaged("an attribute is not UTF-8")
                continue
            }
            item.attributes.append((name, value))
            if case .number = found { item.numbers.append(name) }
        }
        let entries = try cursor.count(ofAtLeast: 20, "access entries", limit: KeyringLimits.attributes, in: bytes)
        for _ in 0..<entries {
            _ = try cursor.uint32(in: bytes)
            for _ in 0..<3 { _ = try cursor.piece(in: bytes) }
            _ = try cursor.uint32(in: bytes)
        }
        // Where the next item begins is known, whatever this one holds.
        try collector.record(item.title.isEmpty ? "item \(entry.number)" : item.title) {
            if let damage { throw damage }
            try collector.add(item, secret: SecretBytes(bytes.extracting(secret)))
            collector.leaveOut("entry of an access list", entries)
        }
    }

    private static let indexFailure = ForeignFailure.damaged(
        "its unencrypted part contradicts its encrypted part")

    /// A value, nil if it is not UTF-8, and the form in which the clear part has it.
    private static func value(
        _ cursor: inout ByteCursor, _ bytes: borrowing Span<UInt8>
    ) throws -> (value: String?, hashed: HashedValue) {
        switch try cursor.uint32(in: bytes) {
        case 0:
            let range = try cursor.piece(in: bytes) ?? 0..<0
            let hash = try HashFunction.md5.hash(bytes.extracting(range))
            let digits = hash.withBytes { span in Hexadecimal.encode(span.array(0..<span.count)) }
            return (bytes.text(range), .text(Array(digits.utf8)))
        case 1:
            let number = try cursor.uint32(in: bytes)
            return (String(number), .number(0x1827_3645 ^ number ^ (number << 16 | number >> 16)))
        default: throw ForeignFailure.damaged("an attribute is neither a string nor a number")
        }
    }
}

extension ByteCursor {
    /// A text, empty if it is missing; nil if it is not UTF-8.
    fileprivate mutating func string(in bytes: borrowing Span<UInt8>) throws(ForeignFailure) -> String? {
        bytes.text(try piece(in: bytes) ?? 0..<0)
    }
}
