package import KCByteStreams
package import KCCryptography

/// A passphrase as the only recipient of a file (C2SP age, "The scrypt recipient type").
package final class ScryptRecipient: Recipient {
    /// The type of its stanzas.
    package static let type = "scrypt"
    static let saltSize = 16
    private static let label = Array("age-encryption.org/v1/scrypt".utf8)

    private let passphrase: SecretBytes
    private let cost: ScryptCost

    /// Wraps with `passphrase`; its bytes are used unchanged.
    ///
    /// - Parameter cost: age's default is 2¹⁸, about a second and 256 MiB.
    package init(passphrase: borrowing SecretBytes, cost: ScryptCost) {
        self.passphrase = passphrase.copy()
        self.cost = cost
    }

    /// Wraps the file key under a key derived with a new salt.
    package func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> WrappedFileKey {
        let salt = try cryptography(RandomBytes.bytes(count: Self.saltSize))
        let key = try cryptography(Self.wrapKey(passphrase, salt: salt, cost: cost))
        let stanza = Stanza(
            type: Self.type, arguments: [Base64.encode(salt, padded: false), String(cost.logN)],
            body: try cryptography(FileKeyWrap.wrap(fileKey, under: key)))
        return WrappedFileKey([stanza])
    }

    static func wrapKey(
        _ passphrase: borrowing SecretBytes, salt: [UInt8], cost: ScryptCost
    ) throws(CryptographyFailure) -> SecretBytes {
        try Scrypt.derive(passphrase: passphrase, salt: label + salt, cost: cost, count: 32)
    }
}

/// A passphrase that may open a file.
package final class ScryptIdentity: Identity {
    /// The default limit of the work factor: 2²⁰ takes about three seconds and 1 GiB.
    package static let defaultHighestCost = 20

    private let passphrase: SecretBytes
    private let highestCost: Int

    /// Tries `passphrase`; its bytes are used unchanged.
    ///
    /// - Parameter highestCost: the binary logarithm of the highest accepted work factor, clamped to
    ///   `ScryptCost.range`.
    package init(passphrase: borrowing SecretBytes, highestCost: Int = defaultHighestCost) {
        self.passphrase = passphrase.copy()
        self.highestCost = min(highestCost, ScryptCost.range.upperBound)
    }

    /// Derives the key if its cost is within the limit; nil if the passphrase is wrong.
    ///
    /// - Throws: `AgeFailure`: `workFactorTooHigh`, `mixedPassphrase`, `malformedHeader`, `cryptography`.
    package func unwrap(_ stanzas: [Stanza]) throws(AgeFailure) -> SecretBytes? {
        try AgeHeader.requireLonePassphrase(stanzas)
        guard let stanza = stanzas.first, stanza.type == ScryptRecipient.type else { return nil }
        let (salt, cost) = try ScryptRecipient.parameters(of: stanza, highestCost: highestCost)
        let key = try cryptography(ScryptRecipient.wrapKey(passphrase, salt: salt, cost: cost))
        return try cryptography(FileKeyWrap.unwrap(stanza.body, under: key))
    }
}

extension AgeHeader {
    /// Checks that the file has a passphrase as its only recipient, with an acceptable work factor.
    ///
    /// - Throws: `AgeFailure`: `malformedHeader`, `mixedPassphrase`, `workFactorTooHigh`.
    package func requirePassphrase(highestCost: Int = ScryptIdentity.defaultHighestCost) throws(AgeFailure) {
        try Self.requireLonePassphrase(stanzas)
        guard let stanza = stanzas.first, stanza.type == ScryptRecipient.type else {
            throw .malformedHeader("it is not for a passphrase")
        }
        _ = try ScryptRecipient.parameters(of: stanza, highestCost: highestCost)
    }
}

extension ScryptRecipient {
    /// Parses a stanza of this type.
    fileprivate static func parameters(
        of stanza: Stanza, highestCost: Int
    ) throws(AgeFailure) -> (salt: [UInt8], cost: ScryptCost) {
        guard stanza.arguments.count == 2 else {
            throw .malformedHeader("a scrypt recipient does not have two arguments")
        }
        guard let salt = Base64.decode(stanza.arguments[0], padded: false), salt.count == saltSize else {
            throw .malformedHeader("a scrypt salt is not 16 bytes of canonical base 64")
        }
        let cost = try cost(stanza.arguments[1], highestCost)
        guard stanza.body.count == wrappedFileKeySize else {
            throw .malformedHeader("a wrapped file key has a wrong size")
        }
        return (salt, cost)
    }

    private static func cost(_ text: String, _ highestCost: Int) throws(AgeFailure) -> ScryptCost {
        let digits = Array(text.utf8)
        guard let first = digits.first, (49...57).contains(first), digits.allSatisfy({ (48...57).contains($0) }) else {
            throw .malformedHeader("a scrypt work factor is not a decimal number")
        }
        // A number that overflows Int exceeds the limit in any case.
        let found = Int(text) ?? .max
        guard found <= highestCost, let cost = ScryptCost(logN: found) else {
            throw .workFactorTooHigh(found: found, allowed: highestCost)
        }
        return cost
    }
}
