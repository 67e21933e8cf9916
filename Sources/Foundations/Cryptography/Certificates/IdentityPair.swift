/// The places of a key and of a certificate about it, in two lists.
package struct IdentityPair: Hashable, Sendable {
    /// Place of the private key.
    package let key: Int
    /// Place of the certificate.
    package let certificate: Int

    /// Names two places.
    package init(key: Int, certificate: Int) {
        self.key = key
        self.certificate = certificate
    }

    /// Every key with every certificate of its public key, in the order of the keys.
    ///
    /// Of several certificates for one key, those that `isPreferred` (places of key and certificate) come first.
    package static func all(
        keys: [PublicKey], certificates: [PublicKey], isPreferred: (Int, Int) -> Bool = { _, _ in false }
    ) -> [IdentityPair] {
        var places: [PublicKey.Identity: [Int]] = [:]
        for (place, certificate) in certificates.enumerated() {
            places[certificate.identity, default: []].append(place)
        }
        return keys.enumerated().flatMap { key, publicKey in
            let found = places[publicKey.identity] ?? []
            let preferred = found.filter { isPreferred(key, $0) }
            return (preferred + found.filter { !isPreferred(key, $0) }).map { IdentityPair(key: key, certificate: $0) }
        }
    }
}
