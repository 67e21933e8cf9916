package import KCAgeEncryption
import KCBackupArchive
import KCByteStreams
import KCCryptography
import KCTarArchive
import KCTestSupport

/// Encrypts `payload` under the file key of a genuine member, with a header that keeps only the passphrase's stanza.
///
/// - Parameter payload: an age file for the identity of `archive`, whose plaintext is used.
package func reducedToOneRecipient(_ archive: SampleArchive, _ member: String, payload: [UInt8]) throws -> [UInt8] {
    let file = try OpenFile.reading(archive.path)
    guard let place = try TarDirectory.read(file).members.first(where: { $0.name == member }) else {
        throw ArchiveFailure.damaged(rule: "'\(member)' is missing")
    }
    let header = try AgeHeader.read(from: FileSlice(file, offset: place.offset, length: place.length))
    guard let fileKey = try archive.identity.unwrap(header.stanzas) else { throw AgeFailure.noMatchingIdentity([]) }
    var stanza = header.stanzas[0]
    for candidate in header.stanzas {
        if case .none = try archive.identity.unwrap([candidate]) { stanza = candidate }
    }

    var text = "age-encryption.org/v1\n-> \(([stanza.type] + stanza.arguments).joined(separator: " "))\n"
    text += Base64.encode(stanza.body, padded: false) + "\n---"
    var code = try HMACSHA256(
        key: HKDF.derive(inputKey: fileKey, salt: [], info: Array("header".utf8), count: 32))
    let mac = try code.authenticate(Array(text.utf8).span)
    text += " " + Base64.encode(mac, padded: false) + "\n"

    let nonce = try RandomBytes.bytes(count: 16)
    let plaintext = try drain(AgeDecryptor(MemorySource(copying: payload), identities: [archive.identity]))
    precondition(plaintext.count <= 65_536, "one chunk is enough for a test")
    let key = try HKDF.derive(inputKey: fileKey, salt: nonce, info: Array("payload".utf8), count: 32)
    var cipher = try AuthenticatedCipher(.chaCha20Poly1305, key: key)
    var chunk = SecretBytes(capacity: plaintext.count + 16)
    guard let last = Nonce(bytes: [UInt8](repeating: 0, count: 11) + [1]) else { throw CryptographyFailure.randomness }
    try cipher.seal(plaintext.span, nonce: last, associatedData: Span<UInt8>(), into: &chunk)
    return Array(text.utf8) + nonce + chunk.bytesForTest()
}

/// Encrypts `bytes` to `recipients` as an age file.
package func ageFile(_ bytes: [UInt8], to recipients: [any Recipient]) throws -> [UInt8] {
    var encryptor = try AgeEncryptor(recipients: recipients, to: MemorySink())
    try encryptor.write(bytes.span)
    return try encryptor.finish()
}
