internal import ByteStreams
internal import Cryptography

/// The textual header of an age file: who can open it, and a MAC (C2SP age, "Header").
///
/// What is accepted has one spelling: encoding what was read gives the same bytes.
public struct AgeHeader: Hashable, Sendable {
    /// No header is longer, in bytes: a thousand X25519 stanzas take 100,000.
    public static let sizeLimit = 1 << 20
    /// No file has more stanzas; each costs an identity a key agreement.
    public static let stanzaLimit = 1_000

    /// The ways into the file, in order; at least one.
    public let stanzas: [Stanza]
    /// The 32-byte code over everything before it; not yet checked against a file key.
    let code: [UInt8]

    static let versionStart = "age-encryption.org/"
    static let versionLine = "age-encryption.org/v1"
    static let stanzaStart = "-> "
    static let codeStart = "---"
    /// Base 64 characters in a full line of a body.
    static let columns = 64

    init(stanzas: [Stanza], code: [UInt8]) {
        self.stanzas = stanzas
        self.code = code
    }

    /// Makes the header of a new file.
    init(stanzas: [Stanza], fileKey: borrowing SecretBytes) throws(CryptographyFailure) {
        self.stanzas = stanzas
        code = try FileKey.headerCode(Self.authenticatedBytes(stanzas), fileKey)
    }

    /// The bytes of the header, with its last line feed.
    public var encoded: [UInt8] {
        Self.authenticatedBytes(stanzas) + Array(" \(Base64.encode(code, padded: false))\n".utf8)
    }

    /// The length in bytes; the payload begins there.
    public var length: Int { encoded.count }

    /// True when a passphrase opens the file.
    public var isForPassphrase: Bool { stanzas.contains { $0.type == ScryptRecipient.stanzaType } }

    /// Checks that the holder of `fileKey` made the header, in constant time.
    func authenticate(_ fileKey: borrowing SecretBytes) throws(AgeFailure) {
        let expected: [UInt8]
        do throws(CryptographyFailure) {
            expected = try FileKey.headerCode(Self.authenticatedBytes(stanzas), fileKey)
        } catch {
            throw .cryptography(error)
        }
        guard constantTimeEqual(expected, code) else { throw .headerAuthentication }
    }

    /// Refuses a passphrase beside anything else: whoever opens a file with a passphrase relies on its being the only
    /// way in (C2SP age, "scrypt recipient stanza").
    static func requireLonePassphrase(_ stanzas: [Stanza]) throws(AgeFailure) {
        if stanzas.count > 1, stanzas.contains(where: { $0.type == ScryptRecipient.stanzaType }) { throw .mixedScrypt }
    }

    private static func authenticatedBytes(_ stanzas: [Stanza]) -> [UInt8] {
        var bytes = Array((versionLine + "\n").utf8)
        for stanza in stanzas {
            let words = [stanza.type] + stanza.arguments
            bytes += Array("\(stanzaStart)\(words.joined(separator: " "))\n".utf8)
            let text = Array(Base64.encode(stanza.body, padded: false).utf8)
            // The last line is shorter than the others, so after full ones an empty one follows.
            for start in stride(from: 0, through: text.count, by: columns) {
                bytes += text[start..<min(start + columns, text.count)] + [UInt8(ascii: "\n")]
            }
        }
        return bytes + Array(codeStart.utf8)
    }
}
