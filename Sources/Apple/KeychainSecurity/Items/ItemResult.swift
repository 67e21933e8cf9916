internal import Foundation
internal import KCByteStreams
internal import KCKeychainModel

/// Builds results: one kind of value is returned directly, several as a dictionary.
extension ItemCall {
    /// Returns the result for an item; nil if nothing is requested, or if the item has no object and only that is
    /// requested.
    func result(_ found: FoundItem, _ returns: ItemRequest.Returns) throws -> Any? {
        let reference = PersistentReference(.items(found.item.itemClass), found.item.uuid)
        return result(
            returns, of: found.item.itemClass.rawValue, data: found.data, object: found.object,
            reference: reference, attributes: found.item.dictionary)
    }

    /// Returns the result for an identity: the attributes of both halves, and the data of the certificate.
    func result(_ found: FoundIdentity, _ returns: ItemRequest.Returns) throws -> Any? {
        let reference = PersistentReference(.identities, found.certificate.item.uuid)
        var object: SecIdentity?
        if let certificate = found.certificate.object as? SecCertificate, let key = found.key.object as? SecKey {
            object = SecIdentity(certificate, key)
        }
        return result(
            returns, of: kSecClassIdentity as String, data: found.certificate.data, object: object,
            reference: reference,
            attributes: found.key.item.dictionary.merging(found.certificate.item.dictionary) { $1 })
    }

    private func result(
        _ returns: ItemRequest.Returns, of className: String, data: Data?, object: AnyObject?,
        reference: PersistentReference, attributes: @autoclosure () -> CallDictionary
    ) -> Any? {
        switch returns {
        case []: return nil
        case .data: return data ?? Data()
        case .reference: return object
        case .persistentReference: return reference.data
        default: break
        }
        var dictionary: CallDictionary = returns.contains(.attributes) ? attributes() : [:]
        if returns.contains(.data), let data { dictionary[kSecValueData] = data }
        if returns.contains(.persistentReference) { dictionary[kSecValuePersistentRef] = reference.data }
        if returns.contains(.reference) {
            dictionary[kSecClass] = className
            if let object { dictionary[kSecValueRef] = object }
        }
        return dictionary
    }
}

extension FoundItem {
    /// The object for a certificate or key; nil for passwords.
    fileprivate var object: AnyObject? {
        guard let data else { return nil }
        switch item.itemClass {
        case .genericPassword, .internetPassword: return nil
        case .certificate: return SecCertificate(data)
        case .key: return SecKey(item.attributes.ofKey, SecretBytes(copying: data))
        }
    }
}

extension Item {
    /// The attributes in a result, with the access control in addition to the accessibility.
    fileprivate var dictionary: CallDictionary {
        var dictionary = attributes.dictionary(of: itemClass)
        dictionary[kSecAttrAccessControl] = SecAccessControl(protection: accessibility.rawValue, constraint: constraint)
        return dictionary
    }
}

extension Attributes {
    /// The attributes of the key itself, without those of its item.
    fileprivate var ofKey: Attributes {
        var own = self
        for code in [AttributeCode.accc, .agrp, .cdat, .mdat, .pdmn, .sync, .vwht, .tkid, .musr, .ggrp] {
            own[code] = nil
        }
        return own
    }
}
