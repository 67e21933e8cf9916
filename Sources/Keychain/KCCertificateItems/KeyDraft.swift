package import KCCryptography
package import KCKeychainModel

/// The values of `kcls` (`kSecAttrKeyClass`).
package enum KeyClass: Int64, CaseIterable, Hashable, Sendable {
    case publicKey = 0
    case privateKey = 1
    case symmetric = 2
}

extension KeyKind {
    /// The value of `type` (`kSecAttrKeyType`); nil for kinds without an Apple number.
    package var keyType: Int64? {
        switch self {
        case .rsa: 42
        case .ec: 73
        case .ed25519: 105
        case .x25519: 106
        case .ed448: 107
        case .x448: 108
        case .other: nil
        }
    }

    /// The kind for a value of `type`; nil for any other number.
    package init?(keyType: Int64) {
        let kinds: [KeyKind] = [.rsa, .ec, .ed25519, .x25519, .ed448, .x448]
        guard let kind = kinds.first(where: { $0.keyType == keyType }) else { return nil }
        self = kind
    }
}

extension ItemDraft {
    /// The value of `type` for AES: CSSM's `CSSM_ALGID_AES`, `2147483649` in Apple's constants.
    package static let advancedEncryptionStandardType: Int64 = 2_147_483_649

    /// Creates the item of a private key, with the attributes that Apple's keychain sets.
    ///
    /// Its secret is `PrivateKey.externalRepresentation()`. The key may decrypt, derive, sign and unwrap, whatever its
    /// kind. Source: `SecKeyCopyAttributeDictionaryWithLocalKey`.
    ///
    /// - Throws: `CertificateFailure.unsupported` for a kind without a number, and for a curve that the length of its
    ///   points does not identify.
    package init(
        privateKey: PrivateKey, label: String? = nil, applicationTag: [UInt8]? = nil
    ) throws(CertificateFailure) {
        self = try Self.asymmetric(privateKey.publicKey, .privateKey, label, applicationTag)
    }

    /// Creates the item of a public key.
    ///
    /// Its secret is `PublicKey.externalRepresentation`, which is public. The key may encrypt, derive, verify and wrap.
    /// `priv` is 1 here too, as on Apple's systems.
    ///
    /// - Throws: `CertificateFailure.unsupported` for a kind without a number, and for a curve that the length of its
    ///   points does not identify.
    package init(
        publicKey: PublicKey, label: String? = nil, applicationTag: [UInt8]? = nil
    ) throws(CertificateFailure) {
        self = try Self.asymmetric(publicKey, .publicKey, label, applicationTag)
    }

    /// Creates the item of a symmetric AES key of `sizeInBits`, which may encrypt, decrypt, wrap and unwrap.
    ///
    /// Its secret is the key itself. The caller chooses `applicationLabel` (`klbl`), since a symmetric key has no
    /// public half to hash.
    package init(
        symmetricKeyOfBits sizeInBits: Int, applicationLabel: [UInt8], label: String? = nil,
        applicationTag: [UInt8]? = nil
    ) {
        self = Self.key(
            .symmetric, type: Self.advancedEncryptionStandardType, sizeInBits: sizeInBits, applicationLabel, label,
            applicationTag)
        allow([.encr, .decr, .wrap, .unwp])
    }

    private static func asymmetric(
        _ key: PublicKey, _ keyClass: KeyClass, _ label: String?, _ tag: [UInt8]?
    ) throws(CertificateFailure) -> ItemDraft {
        guard let type = key.kind.keyType else { throw .unsupported("a kind of key that a keychain has no number for") }
        guard key.isWholeInExternalRepresentation else {
            throw .unsupported("a key on a curve that a keychain cannot name")
        }
        var draft = Self.key(keyClass, type: type, sizeInBits: key.sizeInBits, key.hash, label, tag)
        draft.allow(keyClass == .privateKey ? [.decr, .drve, .sign, .unwp] : [.encr, .drve, .vrfy, .wrap])
        return draft
    }

    private static func key(
        _ keyClass: KeyClass, type: Int64, sizeInBits: Int, _ applicationLabel: [UInt8], _ label: String?,
        _ tag: [UInt8]?
    ) -> ItemDraft {
        var attributes = Attributes()
        attributes[.kcls] = .number(keyClass.rawValue)
        attributes[.type] = .number(type)
        attributes[.bsiz] = .number(Int64(sizeInBits))
        attributes[.esiz] = .number(Int64(sizeInBits))
        attributes[.klbl] = .data(applicationLabel)
        attributes[.atag] = tag.map { .data($0) }
        attributes[.labl] = label.map { .text($0) }
        for code in [AttributeCode.perm, .priv, .modi, .extr] { attributes[code] = .number(1) }
        for code in [AttributeCode.sens, .asen, .next] { attributes[code] = .number(0) }
        return ItemDraft(itemClass: .key, attributes: attributes)
    }

    /// Sets all usage attributes of a key: 1 for those in `uses`, 0 for the others.
    private mutating func allow(_ uses: Set<AttributeCode>) {
        let all: [AttributeCode] = [.encr, .decr, .drve, .sign, .vrfy, .snrc, .vyrc, .wrap, .unwp]
        for use in all { attributes[use] = .number(uses.contains(use) ? 1 : 0) }
    }
}
