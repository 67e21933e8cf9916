internal import ByteStreams
internal import Foundation
internal import KeychainModel

/// The form of results: one kind of value is returned directly, several as a dictionary.
extension ItemCall {
    /// The result for an item; nil if nothing is requested, or an object of an item that has none.
    func result(_ found: FoundItem, _ returns: ItemRequest.Returns) throws -> Any? {
        let reference = PersistentReference(.items(found.item.itemClass), found.item.uuid)
        return result(
            returns, of: found.item.itemClass.rawValue, data: found.data, object: found.object,
            reference: reference, attributes: found.item.dictionary)
    }

    /// The result for an identity: the attributes of both halves, the data of the certificate.
    func result(_ found: FoundIdentity, _ returns: ItemRequest.Returns) throws -> Any? {
        let reference = PersistentReference(.identities, found.certificate.item.uuid)
        var object: SecIdentity?
        if let certificate = found.certificate.object as? SecCertificate, let key = found.key.object as? SecKey {
            object = SecIdentity(certificate, key)
        }
        return result(
            returns, of: kSecClassIdentity, data: found.certificate.data, object: object, reference: reference,
            attributes: found.key.item.dictionary.merging(found.certificate.item.dictionary) { $1 })
    }

    private func result(
        _ returns: ItemRequest.Returns, of className: String, data: Data?, object: AnyObject?,
        reference: PersistentReference, attributes: @autoclosure () -> CFDictionary
    ) -> Any? {
        switch returns {
        case []: return nil
        case .data: return data ?? Data()
        case .reference: return object
        case .persistentReference: return reference.data
        default: break
        }
        var dictionary: CFDictionary = returns.contains(.attributes) ? attributes() : [:]
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
    /// The object of a certificate or key; passwords have none.
    fileprivate var object: AnyObject? {
        guard let data else { return nil }
        switch item.itemClass {
        case .genericPassword, .internetPassword: return nil
        case .certificate: return SecCertificateCreateWithData(nil, data)
        case .key: return SecKey(item.attributes.ofKey, SecretBytes(copying: data))
        }
    }
}

extension Item {
    /// The attributes in a result: the access control in addition to the accessibility.
    fileprivate var dictionary: CFDictionary {
        var dictionary = attributes.dictionary(of: itemClass)
        dictionary[kSecAttrAccessControl] = SecAccessControl(protection: accessibility.rawValue)
        return dictionary
    }
}

extension Attributes {
    /// Without what belongs to the item rather than to its key.
    fileprivate var ofKey: Attributes {
        var own = self
        for code in [AttributeCode.agrp, .cdat, .mdat, .pdmn, .sync, .vwht, .tkid, .musr, .ggrp] { own[code] = nil }
        return own
    }
}
