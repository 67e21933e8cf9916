/// The index of a key and the index of a matching certificate, in two lists.
package struct IdentityPair: Hashable, Sendable {
    /// The index of the private key.
    package let key: Int
    /// The index of the certificate.
    package let certificate: Int

    /// Creates a pair of two indices.
    package init(key: Int, certificate: Int) {
        self.key = key
        self.certificate = certificate
    }

    /// Pairs every key with every certificate of its public key, in the order of the keys.
    ///
    /// Among several certificates for one key, those for which `isPreferred` (indices of key and certificate) returns
    /// true come first.
    package static func all(
        keys: [PublicKey], certificates: [PublicKey], isPreferred: (Int, Int) -> Bool = { _, _ in false }
    ) -> [IdentityPair] {
        var positions: [PublicKey.Identity: [Int]] = [:]
        for (position, certificate) in certificates.enumerated() {
            positions[certificate.identity, default: []].append(position)
        }
        return keys.enumerated().flatMap { key, publicKey in
            let found = positions[publicKey.identity] ?? []
            let preferred = found.filter { isPreferred(key, $0) }
            return (preferred + found.filter { !isPreferred(key, $0) }).map { IdentityPair(key: key, certificate: $0) }
        }
    }
}
