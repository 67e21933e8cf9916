package import KCAgeEncryption
import KCBackupArchive
package import KCByteStreams
import KCCryptography
import KCTarArchive
import KCTestSupport

/// The header of an age member of an archive, with the file key of the member.
package struct OpenedMember: ~Copyable {
    /// The key that the payload is encrypted under.
    package let fileKey: SecretBytes
    private let header: AgeHeader

    /// Opens a member of the archive at a path with one of its identities.
    package init(_ name: String, ofArchiveAt path: String, _ identity: any Identity) throws {
        let header = try AgeHeader.read(from: MemorySource(copying: try memberBytes(name, ofArchiveAt: path)))
        guard let fileKey = try identity.unwrap(header.stanzas) else { throw AgeFailure.noMatchingIdentity([]) }
        self.header = header
        self.fileKey = fileKey
    }

    /// The same header, with the only stanza that `identity` does not open.
    fileprivate func reduced(without identity: any Identity) throws -> [UInt8] {
        var stanza = header.stanzas[0]
        for candidate in header.stanzas {
            if case .none = try identity.unwrap([candidate]) { stanza = candidate }
        }
        var text = "age-encryption.org/v1\n-> \(([stanza.type] + stanza.arguments).joined(separator: " "))\n"
        text += Base64.encode(stanza.body, padded: false) + "\n---"
        var code = try HMAC(key: HKDF.derive(inputKey: fileKey, salt: [], info: Array("header".utf8), count: 32))
        let mac = try code.authenticate(Array(text.utf8).span)
        return Array((text + " " + Base64.encode(mac, padded: false) + "\n").utf8)
    }
}

/// The bytes before the payload of an age member.
package func headerBytes(_ name: String, ofArchiveAt path: String) throws -> [UInt8] {
    let bytes = try memberBytes(name, ofArchiveAt: path)
    guard let mark = bytes.firstRange(of: Array("\n--- ".utf8))?.upperBound,
        let end = bytes[mark...].firstIndex(of: UInt8(ascii: "\n"))
    else { throw ArchiveFailure.damaged(rule: "'\(name)' has no header") }
    return Array(bytes[...end])
}

/// The bytes of a member of the archive at a path.
package func memberBytes(_ name: String, ofArchiveAt path: String) throws -> [UInt8] {
    let file = try OpenFile.reading(path)
    guard let place = try TarDirectory.read(file).members.first(where: { $0.name == name }) else {
        throw ArchiveFailure.damaged(rule: "'\(name)' is missing")
    }
    return try drain(FileSlice(file, offset: place.offset, length: place.length))
}

/// The identity in the `identity.age` of the archive at a path.
package func ownIdentity(ofArchiveAt path: String, passphrase: String) throws -> NativeIdentity {
    var decryptor = try AgeDecryptor(
        MemorySource(copying: try memberBytes("identity.age", ofArchiveAt: path)),
        identities: [ScryptIdentity(passphrase: SecretBytes(copying: passphrase.utf8))])
    let identities = try IdentityFile.parse(try decryptor.readAll(limit: 65_536, as: "identity")).identities
    guard let identity = identities.first else { throw AgeFailure.noMatchingIdentity([]) }
    return identity
}

/// Encrypts `plaintext`, of at most one chunk, under a file key, as an age file that begins with `header`.
package func ageFile(
    _ plaintext: [UInt8], below header: [UInt8], fileKey: borrowing SecretBytes
) throws -> [UInt8] {
    precondition(plaintext.count <= 65_536, "one chunk is enough for a test")
    let nonce = try RandomBytes.bytes(count: 16)
    let key = try HKDF.derive(inputKey: fileKey, salt: nonce, info: Array("payload".utf8), count: 32)
    var cipher = try AuthenticatedCipher(.chaCha20Poly1305, key: key)
    var chunk = SecretBytes(capacity: plaintext.count + 16)
    guard let last = Nonce(bytes: [UInt8](repeating: 0, count: 11) + [1]) else { throw CryptographyFailure.randomness }
    try cipher.seal(plaintext.span, nonce: last, associatedData: Span<UInt8>(), into: &chunk)
    return header + nonce + chunk.bytesForTest()
}

/// Encrypts `payload` under the file key of a genuine member, with a header that keeps only the passphrase's stanza.
///
/// - Parameter payload: an age file for the identity of `archive`, whose plaintext is used.
package func reducedToOneRecipient(_ archive: SampleArchive, _ member: String, payload: [UInt8]) throws -> [UInt8] {
    let genuine = try OpenedMember(member, ofArchiveAt: archive.path, archive.identity)
    let plaintext = try drain(AgeDecryptor(MemorySource(copying: payload), identities: [archive.identity]))
    return try ageFile(plaintext, below: genuine.reduced(without: archive.identity), fileKey: genuine.fileKey)
}

/// Encrypts `bytes` to `recipients` as an age file.
package func ageFile(_ bytes: [UInt8], to recipients: [any Recipient]) throws -> [UInt8] {
    var encryptor = try AgeEncryptor(recipients: recipients, to: MemorySink())
    try encryptor.write(bytes.span)
    return try encryptor.finish()
}
