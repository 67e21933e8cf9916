internal import KCByteStreams
internal import KCCryptography
internal import KCItemSources
internal import KCKeychainModel

/// The keys with which Chromium and the browsers made from it encrypt passwords on Linux, and on macOS.
///
/// Source: `components/os_crypt` of Chromium.
final class ChromiumKeys {
    /// The result of opening an encrypted value.
    enum Opened: ~Copyable {
        case plain(SecretBytes)
        /// The value needs a key that was not found.
        case noKey
        case damaged
    }

    /// An AES key.
    private final class Key {
        let bytes: SecretBytes

        init(_ password: borrowing SecretBytes, rounds: Int = 1) throws(CryptographyFailure) {
            bytes = try PBKDF2.derive(
                password: password, salt: Array("saltysalt".utf8).span, rounds: rounds, hash: .sha1, count: 16)
        }
    }

    /// The key that every installation has.
    private let common: Key
    /// The key that Chromium took by mistake for some values.
    private let empty: Key
    /// The keys from passwords that were found, as on Linux and as on macOS.
    private var found: [Key] = []
    private var foundOnMac: [Key] = []
    private var isSearched = false
    private let secrets: any ForeignSecrets

    // The end of the label of the password's item: "Chrome Safe Storage", "Chromium Safe Storage".
    fileprivate static let labelEnding = KeyringItems.browserEnding
    private static let roundsOnMac = 1_003
    private static let iv = [UInt8](repeating: 0x20, count: 16)

    init(_ secrets: any ForeignSecrets) throws(CryptographyFailure) {
        common = try Key(SecretBytes(copying: "peanuts".utf8))
        empty = try Key(SecretBytes(capacity: 0))
        self.secrets = secrets
    }

    /// Decrypts a value; the keys that some values need are looked for when the first of them is decrypted.
    ///
    /// - Throws: `ForeignFailure`, `CryptographyFailure`, and what asking for secrets throws.
    func open(_ value: [UInt8]) throws -> Opened {
        let content = value.span.extracting(min(3, value.count)...)
        switch value.prefix(3) {
        case [0x76, 0x31, 0x30]:
            if let plain = try Self.decrypted(content, with: common) { return .plain(plain) }
            try search()
            for key in foundOnMac { if let plain = try Self.decrypted(content, with: key) { return .plain(plain) } }
            return foundOnMac.isEmpty ? .noKey : .damaged
        case [0x76, 0x31, 0x31]:
            try search()
            for key in found + [empty] {
                if let plain = try Self.decrypted(content, with: key) { return .plain(plain) }
            }
            return .noKey
        default:
            // Old versions did not encrypt on Linux. Text does not begin like the other ciphers, with "v12" or a zero.
            let isText = value.span.isUTF8 && !value.starts(with: [0x76, 0x31]) && !value.starts(with: [0x76, 0x32])
            return isText ? .plain(SecretBytes(copying: value)) : .noKey
        }
    }

    /// The plaintext; nil if the key is wrong: random bytes with valid padding are hardly ever UTF-8.
    private static func decrypted(_ content: borrowing Span<UInt8>, with key: Key) throws -> SecretBytes? {
        guard !content.isEmpty, content.count.isMultiple(of: 16) else { return nil }
        var plain = try BlockCipher.decrypt(content, .aes128CBC, key: key.bytes, iv: iv.span)
        guard plain.removePadding(blockSize: 16), plain.withBytes({ $0.isUTF8 }) else { return nil }
        return plain
    }

    /// Finds the passwords that keys are made from: in the key file, as given, or in the desktop keyring.
    private func search() throws {
        if isSearched { return }
        isSearched = true
        if let input = try secrets.keyInput() {
            try readKeyring(input)
        } else if secrets.isPasswordGiven {
            try secrets.password(.file(.chromium)) { try add($0) }
        } else {
            try secrets.keyringSecrets(.labeled(ending: Self.labelEnding)) { try add($0) }
        }
    }

    fileprivate func add(_ password: borrowing SecretBytes) throws {
        found.append(try Key(password))
        foundOnMac.append(try Key(password, rounds: Self.roundsOnMac))
    }

    private func readKeyring(_ input: ForeignInput) throws {
        var visitor = StorageKeys(keys: self)
        try KeyringAsKey.read(input, secrets).visitItems(&visitor)
        if found.isEmpty { throw ForeignFailure.damagedKeyFile("it has no item '… \(Self.labelEnding)'") }
    }
}

/// Adds the passwords of browsers among the items of a keyring.
private struct StorageKeys: ItemVisitor {
    let keys: ChromiumKeys

    func wants(_ item: Item) -> Bool {
        let names = [AttributeCode.labl, .acct, .svce].compactMap { item.attributes.text($0) }
        return item.secretSize != nil && names.contains { $0.exact.hasSuffix(ChromiumKeys.labelEnding) }
    }

    func take(_ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes) throws { try keys.add(secret) }

    func skip(damaged item: Item?) {}
}
