internal import ByteStreams
internal import CertificateItems
internal import Cryptography
internal import KeychainModel

/// What the value of `kSecValueRef` can be.
enum ReferencedObject {
    case certificate(SecCertificate)
    case key(SecKey)
    case identity(SecIdentity)

    /// - Throws: `CallFailure` (`errSecParam`) for an object of another kind.
    init(_ given: Any) throws(CallFailure) {
        switch given {
        case let certificate as SecCertificate: self = .certificate(certificate)
        case let key as SecKey: self = .key(key)
        case let identity as SecIdentity: self = .identity(identity)
        default: throw CallFailure(errSecParam)
        }
    }

    /// What a query with the object means.
    var subject: ItemRequest.Subject {
        switch self {
        case .certificate: .items(.certificate)
        case .key: .items(.key)
        case .identity: .identities
        }
    }

    /// The attributes by which the item of the object is found again.
    var conditions: [AttributeCode: AttributeValue] {
        switch self {
        case .certificate(let certificate): certificate.conditions
        case .identity(let identity): identity.certificate.conditions
        case .key(let key): key.attributes.entries(among: [.kcls, .klbl, .atag, .type, .bsiz])
        }
    }
}

extension SecCertificate {
    /// The item that the certificate makes.
    var draft: ItemDraft { ItemDraft(certificate: certificate) }

    fileprivate var conditions: [AttributeCode: AttributeValue] {
        draft.attributes.entries(among: [.ctyp, .issr, .slnr])
    }
}

extension Attributes {
    /// Those of the attributes that are there.
    fileprivate func entries(among codes: [AttributeCode]) -> [AttributeCode: AttributeValue] {
        var found: [AttributeCode: AttributeValue] = [:]
        for code in codes { found[code] = self[code] }
        return found
    }
}
