package import KCByteStreams
package import KCCryptography
package import KCKeychainModel

/// An item of an imported file: its attributes and its secret.
@safe package final class ImportedItem: Sendable {
    /// The attributes; access group, accessibility or label can be set on a copy before adding it.
    package let draft: ItemDraft
    /// The DER of a certificate, or the external representation of a key.
    package let secret: SecretBytes

    init(_ draft: ItemDraft, _ secret: consuming SecretBytes) {
        self.draft = draft
        self.secret = secret
    }
}

/// The items in a file of certificates and keys, in any supported format.
///
/// Formats: certificates in DER and PEM, PEM bundles, private keys as PKCS#8 (encrypted or not), PKCS#1 and SEC 1 in
/// DER and PEM, public keys, PKCS#12, certificates in PKCS#7. Duplicates are dropped.
package struct ImportedItems: Sendable {
    /// The items: private keys, public keys, then certificates, each in the order of the file.
    package let items: [ImportedItem]
    /// The indices in `items` of each private key and each matching certificate.
    package let identities: [IdentityPair]
    /// The contents that an import skips, in words or as PEM labels; printable ASCII.
    package let skipped: [String]

    /// Parses a file; `passphrase` decrypts its encrypted parts.
    ///
    /// - Throws: `CertificateFailure` (`unknownFormat`; `unsupported` also if everything in the file would be skipped;
    ///   `passphraseRequired`; `wrongPassphrase`; `malformed`; `tooLarge`; `library`). If any part is broken, nothing
    ///   is imported.
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
