package import ByteStreams
package import Cryptography
package import KeychainModel

/// One item of an imported file: what is to be added, and its secret.
@safe package final class ImportedItem: Sendable {
    /// The attributes; a copy may be given an access group, an accessibility or a label before it is added.
    package let draft: ItemDraft
    /// The DER of a certificate, or the external representation of a key.
    package let secret: SecretBytes

    init(_ draft: ItemDraft, _ secret: consuming SecretBytes) {
        self.draft = draft
        self.secret = secret
    }
}

/// What a file of certificates and keys holds, whatever its format: the items that an import adds.
///
/// Formats: certificates in DER and PEM, PEM bundles, private keys as PKCS#8 (encrypted or not), PKCS#1 and SEC 1 in DER
/// and PEM, public keys, PKCS#12, certificates in PKCS#7. One file gives equal items once.
package struct ImportedItems: Sendable {
    /// Private keys, public keys, then certificates, each in the order of the file.
    package let items: [ImportedItem]
    /// Places in `items` of each private key and each certificate of its public key.
    package let identities: [IdentityPair]
    /// What else the file holds and an import leaves out, in words or as labels of PEM; printable ASCII.
    package let skipped: [String]

    /// Reads a file; `passphrase` opens what is encrypted in it.
    ///
    /// - Throws: `CertificateFailure` (`unknownFormat`; `unsupported` also when a file holds nothing but what is skipped;
    ///   `passphraseRequired`; `wrongPassphrase`; `malformed`; `tooLarge`; `library`). Nothing of a file that has a
    ///   broken part is imported.
    package init(
        reading file: borrowing Span<UInt8>, passphrase: borrowing SecretBytes?
    ) throws(CertificateFailure) {
        var collected = try CollectedItems(file, passphrase)
        try collected.makeItems()
        items = collected.items
        identities = collected.identities
        skipped = collected.skipped
    }
}
