package import ByteStreams
internal import Cryptography

/// The header of an age file: who can open it, readable by everybody (C2SP age, "Header").
///
/// A header has one spelling: `text` of what was read is what was read.
package struct AgeHeader: Hashable, Sendable {
    /// The stanzas in order, at least one.
    package let stanzas: [Stanza]
    /// The header MAC, 32 bytes; not checked before a file key is known.
    let mac: [UInt8]

    /// Bytes of a header: a thousand stanzas of the largest kind in use are smaller.
    package static let sizeLimit = 1 << 20
    /// Stanzas of a header; each may cost a key exchange.
    package static let stanzaLimit = 1_000

    static let versionPrefix = "age-encryption.org/"
    static let version = "v1"
    /// What a file in the text armor begins with instead.
    static let armorPrefix = "-----BEGIN AGE"

    /// Puts together what was read.
    init(stanzas: [Stanza], mac: [UInt8]) {
        self.stanzas = stanzas
        self.mac = mac
    }

    /// Makes the header of a new file.
    ///
    /// - Throws: `AgeFailure.cryptography`.
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

    /// The header as it stands in the file, with its last line feed.
    var text: String {
        Self.authenticatedText(stanzas) + " " + Base64.encode(mac, padded: false) + "\n"
    }

    /// The bytes of the header; the payload begins behind them.
    var length: Int { text.utf8.count }

    /// Makes sure that nobody without the file key changed the header.
    ///
    /// - Throws: `AgeFailure` (`headerAuthentication`, `cryptography`).
    func authenticate(fileKey: borrowing SecretBytes) throws(AgeFailure) {
        let expected = try Self.mac(of: stanzas, fileKey: fileKey)
        guard constantTimeEqual(expected, mac) else { throw .headerAuthentication }
    }

    /// Refuses a passphrase beside anything else: whoever opens a file with a passphrase relies on its being the only
    /// way in (C2SP age, "The scrypt recipient type").
    static func requireLonePassphrase(_ stanzas: [Stanza]) throws(AgeFailure) {
        if stanzas.count > 1, stanzas.contains(where: { $0.type == ScryptRecipient.type }) { throw .mixedPassphrase }
    }

    /// Everything that the MAC covers: the header up to and including `---`.
    private static func authenticatedText(_ stanzas: [Stanza]) -> String {
        versionPrefix + version + "\n" + stanzas.map(\.text).joined() + "---"
    }

    private static func mac(of stanzas: [Stanza], fileKey: borrowing SecretBytes) throws(AgeFailure) -> [UInt8] {
        try cryptography { () throws(CryptographyFailure) in
            let key = try HKDF.derive(inputKey: fileKey, salt: [], info: Array("header".utf8), count: 32)
            var hmac = try HMACSHA256(key: key)
            return try hmac.authenticate(Array(authenticatedText(stanzas).utf8).span)
        }
    }
}
