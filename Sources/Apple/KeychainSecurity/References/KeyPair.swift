internal import KCCertificateItems
internal import KCCryptography
internal import Foundation
internal import KCKeychainModel

/// A generated key, and the dictionaries that store it.
struct KeyPair {
    let privateKey: SecKey
    let publicKey: SecKey
    /// The dictionaries that add the halves that are to be permanent.
    private let additions: [CFDictionary]

    /// Generates the key that the parameters describe; stores nothing.
    ///
    /// - Throws: `CallFailure`: `errSecParam`, `errSecUnimplemented`, `errSecInternal`.
    init(_ parameters: CFDictionary) throws(CallFailure) {
        var both = parameters
        let given = try ItemRequest.changes(
            both.filter { [kSecAttrKeyType, kSecAttrKeySizeInBits].contains($0.key) }, of: .key
        ).attributes
        guard case .number(let type) = given[.type], case .number(let size) = given[.bsiz],
            let bits = Int(exactly: size)
        else { throw CallFailure(errSecParam) }
        for name in [kSecAttrKeyType, kSecAttrKeySizeInBits, kSecPrivateKeyAttrs, kSecPublicKeyAttrs] {
            both[name] = nil
        }
        let ofPrivate = try Self.half(kSecPrivateKeyAttrs, parameters)
        let ofPublic = try Self.half(kSecPublicKeyAttrs, parameters)
        for dictionary in [both, ofPrivate, ofPublic] where dictionary[kSecAttrTokenID] != nil {
            throw CallFailure(errSecUnimplemented)
        }
        guard let kind = KeyKind(keyType: type) else { throw CallFailure(errSecUnimplemented) }
        do throws(CertificateFailure) {
            let made = try PrivateKey.generate(kind, sizeInBits: bits)
            privateKey = try SecKey(made)
            publicKey = try SecKey(made.publicKey)
        } catch {
            if case .library = error { throw CallFailure(errSecInternal) }
            throw CallFailure(errSecParam)
        }
        var additions: [CFDictionary] = []
        // A shared `kSecAttrIsPermanent` applies to the private half only; the public half is stored only if its own
        // attributes say so.
        let halves = [
            (privateKey, both.merging(ofPrivate) { $1 }, ofPrivate[kSecAttrIsPermanent] ?? both[kSecAttrIsPermanent]),
            (publicKey, Self.withoutPermanence(both).merging(ofPublic) { $1 }, ofPublic[kSecAttrIsPermanent]),
        ]
        for (key, attributes, isPermanent) in halves {
            guard let isPermanent, try ItemRequest.flag(isPermanent) else { continue }
            additions.append(attributes.merging([kSecClass: kSecClassKey, kSecValueRef: key]) { $1 })
        }
        self.additions = additions
    }

    private static func withoutPermanence(_ dictionary: CFDictionary) -> CFDictionary {
        dictionary.filter { $0.key != kSecAttrIsPermanent }
    }

    private static func half(_ name: String, _ parameters: CFDictionary) throws(CallFailure) -> CFDictionary {
        guard let given = parameters[name] else { return [:] }
        guard let dictionary = given as? CFDictionary else { throw CallFailure(errSecParam) }
        return dictionary
    }

    /// Adds the halves that are to be permanent, all or none.
    ///
    /// - Throws: `CallFailure` with the status of `SecItemAdd`.
    func stored(by client: KeychainClient) throws(CallFailure) -> KeyPair {
        var requests: [ItemRequest] = []
        for addition in additions { requests.append(try ItemRequest(addition, for: .add)) }
        if requests.isEmpty { return self }
        let status = client.change { call, writer in try call.addAll(requests, with: writer) }.status
        if status != errSecSuccess { throw CallFailure(status) }
        return self
    }
}
