internal import Foundation
internal import KCCertificateItems
internal import KCCryptography
internal import KCKeychainModel

/// A generated key, and the dictionaries that store it.
struct KeyPair {
    let privateKey: SecKey
    let publicKey: SecKey
    /// The dictionaries that add the halves that are to be permanent.
    private let additions: [CallDictionary]

    /// Generates the key that the parameters describe; stores nothing.
    ///
    /// - Throws: `CallFailure`: `errSecParam`, `errSecUnimplemented`, `errSecInternal`.
    init(_ parameters: CallDictionary) throws(CallFailure) {
        var both = parameters
        let given = try ItemRequest.changes(
            Self.only([kSecAttrKeyType, kSecAttrKeySizeInBits], of: both), of: .key
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
        var additions: [CallDictionary] = []
        // A shared `kSecAttrIsPermanent` applies to the private half only; the public half is stored only if its own
        // attributes say so.
        let halves = [
            (privateKey, both.merging(ofPrivate) { $1 }, ofPrivate[kSecAttrIsPermanent] ?? both[kSecAttrIsPermanent]),
            (publicKey, Self.withoutPermanence(both).merging(ofPublic) { $1 }, ofPublic[kSecAttrIsPermanent]),
        ]
        for (key, attributes, isPermanent) in halves {
            guard let isPermanent, try ItemRequest.flag(isPermanent) else { continue }
            var addition = attributes
            addition[kSecClass] = kSecClassKey
            addition[kSecValueRef] = key
            additions.append(addition)
        }
        self.additions = additions
    }

    private static func only(_ names: [CFString], of dictionary: CallDictionary) -> CallDictionary {
        var named: CallDictionary = [:]
        for name in names { named[name] = dictionary[name] }
        return named
    }

    private static func withoutPermanence(_ dictionary: CallDictionary) -> CallDictionary {
        var other = dictionary
        other[kSecAttrIsPermanent] = nil
        return other
    }

    private static func half(_ name: CFString, _ parameters: CallDictionary) throws(CallFailure) -> CallDictionary {
        guard let given = parameters[name] else { return [:] }
        guard let dictionary = given as? CallDictionary else { throw CallFailure(errSecParam) }
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
