public import ByteStreams
public import Cryptography

/// A passphrase to encrypt with (C2SP age, "The scrypt recipient type"); it stands alone in a file.
public final class ScryptRecipient: Recipient {
    static let stanzaType = "scrypt"
    static let saltLength = 16
    private static let label = Array("age-encryption.org/v1/scrypt".utf8)

    private let passphrase: SecretBytes
    private let cost: ScryptCost

    /// Copies the passphrase, whose bytes are used as they are; age itself writes a cost of 18.
    public init(passphrase: borrowing SecretBytes, cost: ScryptCost) {
        self.passphrase = passphrase.copy()
        self.cost = cost
    }

    /// Wraps the file key under a key that is derived with a fresh salt; as slow and large as the cost says.
    ///
    /// - Throws: `AgeFailure.cryptography`.
    public func wrap(fileKey: borrowing SecretBytes) throws(AgeFailure) -> Stanza {
        do throws(CryptographyFailure) {
            let salt = try RandomBytes.bytes(count: Self.saltLength)
            let key = try Self.wrapKey(passphrase, salt, cost)
            let body = try FileKey.wrap(fileKey, with: key)
            return Stanza(
                type: Self.stanzaType, arguments: [Base64.encode(salt, padded: false), String(cost.logN)], body: body)
        } catch {
            throw .cryptography(error)
        }
    }

    static func wrapKey(
        _ passphrase: borrowing SecretBytes, _ salt: [UInt8], _ cost: ScryptCost
    ) throws(CryptographyFailure) -> SecretBytes {
        try Scrypt.derive(passphrase: passphrase, salt: label + salt, cost: cost, count: 32)
    }
}

/// A passphrase to decrypt with.
public final class ScryptIdentity: Identity {
    /// The cost up to which a file is tried: 2^20 takes 1 GiB and some 3 seconds.
    public static let defaultHighestCost = 20

    private let passphrase: SecretBytes
    private let highestCost: Int

    /// Copies the passphrase; a `highestCost` above `ScryptCost.range` counts as that range's end.
    public init(passphrase: borrowing SecretBytes, highestCost: Int = defaultHighestCost) {
        self.passphrase = passphrase.copy()
        self.highestCost = min(highestCost, ScryptCost.range.upperBound)
    }

    /// Tries the file's only stanza; nil when it is of another type or the passphrase does not fit.
    ///
    /// - Throws: `AgeFailure` (`mixedScrypt`, `malformedHeader`, `workFactorTooHigh` before any work is done,
    ///   `cryptography`).
    public func unwrap(_ stanzas: [Stanza]) throws(AgeFailure) -> SecretBytes? {
        try AgeHeader.requireLonePassphrase(stanzas)
        guard let stanza = stanzas.first, stanza.type == ScryptRecipient.stanzaType else { return nil }
        guard stanza.arguments.count == 2,
            let salt = Base64.decode(stanza.arguments[0], padded: false), salt.count == ScryptRecipient.saltLength
        else { throw .malformedHeader("a scrypt stanza has a salt of 16 bytes and a work factor") }
        let cost = try cost(stanza.arguments[1])
        let key: SecretBytes
        do throws(CryptographyFailure) {
            key = try ScryptRecipient.wrapKey(passphrase, salt, cost)
        } catch {
            throw .cryptography(error)
        }
        return try FileKey.unwrap(stanza.body, with: key)
    }

    /// The cost that the digits spell, if it is allowed.
    private func cost(_ digits: String) throws(AgeFailure) -> ScryptCost {
        guard digits.utf8.allSatisfy({ (48...57).contains($0) }), !digits.hasPrefix("0"), let logN = Int(digits)
        else { throw .malformedHeader("a work factor is a decimal number without leading zeros") }
        guard logN <= highestCost, let cost = ScryptCost(logN: logN) else {
            throw .workFactorTooHigh(found: logN, allowed: highestCost)
        }
        return cost
    }
}
