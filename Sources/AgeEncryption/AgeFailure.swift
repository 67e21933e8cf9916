public import ByteStreams
public import Cryptography

/// Why an age file cannot be begun or opened, or a file of keys cannot be read.
///
/// What goes wrong later, while the payload moves, is a `StreamFailure`.
public enum AgeFailure: Error, Hashable, Sendable {
    /// The bytes do not begin as an age file does.
    case notAnAgeFile
    /// The file is in age's text armor, which is not read here; `age -d` reads it.
    case armored
    /// The file has another version than v1.
    case unsupportedVersion
    /// The header breaks this rule of the specification.
    case malformedHeader(String)
    /// The header has more of the named thing than allowed.
    case headerLimit(String, allowed: Int)
    /// The header was changed after it was made: its MAC does not fit.
    case headerAuthentication
    /// A passphrase stands beside another way in, which the specification forbids.
    case mixedScrypt
    /// No identity fits; the known types of the file's stanzas, in order, and `unknown` for each other one.
    case noMatchingIdentity(stanzaTypes: [String])
    /// The passphrase does not fit.
    case wrongPassphrase
    /// Trying a passphrase would take more work than allowed (base-two logarithms, as in `ScryptCost`).
    case workFactorTooHigh(found: Int, allowed: Int)
    /// Encrypting to nobody, or to more than `AgeHeader.stanzaLimit`, makes no sense.
    case recipientCount(Int)
    /// A recipient's public key is one that no identity has.
    case unusableRecipient
    /// A line of a file of keys is neither a key nor a comment.
    case malformedKey(line: Int)
    /// A line of a file of keys has a key of a kind that is not supported: `ssh`, `plugin`, `post-quantum`, `tag`,
    /// or `private` where public keys belong.
    case unsupportedKey(line: Int, kind: String)
    /// A file of keys holds none.
    case noKeys
    /// The identity file is encrypted, and needs its passphrase.
    case encryptedIdentityFile
    /// Reading or writing failed below.
    case stream(StreamFailure)
    /// libcrypto refused.
    case cryptography(CryptographyFailure)
}

extension AgeFailure {
    /// Runs cryptographic operations and gives their failures this target's type.
    static func crypto<R: ~Copyable>(_ body: () throws(CryptographyFailure) -> R) throws(AgeFailure) -> R {
        do throws(CryptographyFailure) { return try body() } catch { throw .cryptography(error) }
    }

    /// Runs stream operations and gives their failures this target's type.
    static func streams<R: ~Copyable>(_ body: () throws(StreamFailure) -> R) throws(AgeFailure) -> R {
        do throws(StreamFailure) { return try body() } catch { throw .stream(error) }
    }
}
