package import KCByteStreams

/// A small key file that is itself an age file, as `age -p` and `age -a` write it: binary or in text armor.
package struct EncryptedKeyFile: ~Copyable {
    private let file: SecretBytes

    /// Recognizes an age file; nil for any other text.
    package init?(_ text: borrowing SecretBytes) throws(AgeFailure) {
        if TextArmor.isArmored(text) {
            file = try TextArmor.decode(text)
        } else if text.withBytes({ $0.starts(with: AgeHeader.versionPrefix) }) {
            file = text.copy()
        } else {
            return nil
        }
    }

    /// Checks that a passphrase can open the file, so that the user is not asked for one in vain.
    ///
    /// - Throws: `AgeFailure`: `notForPassphrase`, `workFactorTooHigh`, and the failures of reading the header.
    package func requirePassphrase() throws(AgeFailure) {
        let header = try AgeHeader.read(from: MemorySource(file.copy()))
        guard header.stanzas.contains(where: { $0.type == ScryptRecipient.type }) else { throw .notForPassphrase }
        try header.requirePassphrase()
    }

    /// Decrypts the file.
    package func open(with identities: [any Identity]) throws(AgeFailure) -> SecretBytes {
        var decryptor = try AgeDecryptor(MemorySource(file.copy()), identities: identities)
        return try failing(
            as: AgeFailure.stream, decryptor.readAll(limit: PrivateFile.sizeLimit, as: "size of what is encrypted"))
    }
}
