package import KCByteStreams
internal import KCCryptography

/// The header of an age file, which lists its recipients and is public (C2SP age, "Header").
///
/// The encoding is unique: `text` reproduces the bytes that were read.
package struct AgeHeader: Hashable, Sendable {
    /// The stanzas in order, at least one.
    package let stanzas: [Stanza]
    /// The header MAC, 32 bytes; it can be checked only once the file key is known.
    let mac: [UInt8]

    /// The size limit of a header in bytes, larger than a thousand stanzas of the largest type in use.
    package static let sizeLimit = 2 << 20
    /// The maximum number of stanzas in a header; each may cost a key exchange.
    package static let stanzaLimit = 1_000

    static let versionPrefix = "age-encryption.org/"
    static let version = "v1"
    /// The beginning of an armored file.
    static let armorPrefix = "-----BEGIN AGE"

    /// Creates a header from its parts.
    init(stanzas: [Stanza], mac: [UInt8]) {
        self.stanzas = stanzas
        self.mac = mac
    }

    /// Creates the header of a new file.
    init(stanzas: [Stanza], fileKey: borrowing SecretBytes) throws(AgeFailure) {
        self.init(stanzas: stanzas, mac: try Self.mac(of: stanzas, fileKey: fileKey))
    }

    /// Reads the header at the start of a file.
    ///
    /// - Throws: `AgeFailure`: `notAnAgeFile`, `armored`, `unsupportedVersion`, `malformedHeader`, `headerTooLarge`,
    ///   `stream`.
    package static func read<Source: ByteSource & ~Copyable>(
        from source: consuming Source
    ) throws(AgeFailure) -> AgeHeader {
        var reader = HeaderReader(source)
        return try reader.read()
    }

    /// The header as it is in the file, with its last line feed.
    package var text: String {
        Self.authenticatedText(stanzas) + " " + Base64.encode(mac, padded: false) + "\n"
    }

    /// The length of the header in bytes; the payload follows.
    var length: Int { text.utf8.count }

    /// Checks the MAC: only someone with the file key can change the header.
    func authenticate(fileKey: borrowing SecretBytes) throws(AgeFailure) {
        let expected = try Self.mac(of: stanzas, fileKey: fileKey)
        guard constantTimeEqual(expected, mac) else { throw .headerAuthentication }
    }

    /// Throws if a passphrase is combined with other recipients: a passphrase must be the only way to open a file (C2SP
    /// age, "The scrypt recipient type").
    static func requireLonePassphrase(_ stanzas: [Stanza]) throws(AgeFailure) {
        if stanzas.count > 1, stanzas.contains(where: { $0.type == ScryptRecipient.type }) { throw .mixedPassphrase }
    }

    /// The text covered by the MAC: the header up to and including `---`.
    private static func authenticatedText(_ stanzas: [Stanza]) -> String {
        versionPrefix + version + "\n" + stanzas.map(\.text).joined() + "---"
    }

    private static func mac(of stanzas: [Stanza], fileKey: borrowing SecretBytes) throws(AgeFailure) -> [UInt8] {
        let key = try cryptography(HKDF.derive(inputKey: fileKey, salt: [], info: Array("header".utf8), count: 32))
        var hmac = try cryptography(HMAC(key: key))
        return try cryptography(hmac.authenticate(Array(authenticatedText(stanzas).utf8).span))
    }
}
