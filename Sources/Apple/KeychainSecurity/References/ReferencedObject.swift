internal import KCByteStreams
internal import KCCertificateItems
internal import KCCryptography
internal import KCKeychainModel

/// The possible values of `kSecValueRef`.
enum ReferencedObject {
    case certificate(SecCertificate)
    case key(SecKey)
    case identity(SecIdentity)

    /// - Throws: `CallFailure` (`errSecParam`) for any other object.
    init(_ given: Any) throws(CallFailure) {
        switch given {
        case let certificate as SecCertificate: self = .certificate(certificate)
        case let key as SecKey: self = .key(key)
        case let identity as SecIdentity: self = .identity(identity)
        default: throw CallFailure(errSecParam)
        }
    }

    /// The subject of a query for the object.
    var subject: ItemRequest.Subject {
        switch self {
        case .certificate: .items(.certificate)
        case .key: .items(.key)
        case .identity: .identities
        }
    }

    /// The attributes that identify the object's item.
    var conditions: [AttributeCode: AttributeValue] {
        switch self {
        case .certificate(let certificate): certificate.conditions
        case .identity(let identity): identity.certificate.conditions
        case .key(let key): key.attributes.entries(among: [.kcls, .klbl, .atag, .type, .bsiz])
        }
    }
}

extension SecCertificate {
    /// A draft of the item for the certificate.
    var draft: ItemDraft { ItemDraft(certificate: certificate) }

    fileprivate var conditions: [AttributeCode: AttributeValue] {
        draft.attributes.entries(among: [.ctyp, .issr, .slnr])
    }
}

extension SecKey {
    /// A draft of the item for the key.
    var draft: ItemDraft { ItemDraft(itemClass: .key, attributes: attributes) }
}

extension Attributes {
    /// Returns those of the given attributes that exist.
    fileprivate func entries(among codes: [AttributeCode]) -> [AttributeCode: AttributeValue] {
        var found: [AttributeCode: AttributeValue] = [:]
        for code in codes { found[code] = self[code] }
        return found
    }
}
