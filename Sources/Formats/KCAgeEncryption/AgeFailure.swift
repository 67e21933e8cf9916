package import KCByteStreams
package import KCCryptography

/// Why an age file cannot be created or opened.
package enum AgeFailure: Error, Hashable, Sendable {
    /// Not an age file.
    case notAnAgeFile
    /// The file is in text armor (`-----BEGIN AGE ENCRYPTED FILE-----`), which only key files may be.
    case armored
    /// The text armor breaks this rule of the specification.
    case malformedArmor(String)
    /// The file has a version other than `v1`.
    case unsupportedVersion
    /// The header breaks this rule of the specification.
    case malformedHeader(String)
    /// The header exceeds this limit.
    case headerTooLarge(String, allowed: Int)
    /// The header MAC is wrong: the header was changed.
    case headerAuthentication
    /// No identity opens any stanza; the value lists the stanza types in order, with `unknown` for types that are not
    /// age's.
    case noMatchingIdentity([String])
    case wrongPassphrase
    /// The file is encrypted, but not with a passphrase.
    case notForPassphrase
    /// The passphrase stanza has a higher work factor than allowed; the values are binary logarithms.
    case workFactorTooHigh(found: Int, allowed: Int)
    /// A passphrase cannot be combined with other recipients.
    case mixedPassphrase
    /// The recipients require different labels (`WrappedFileKey.labels`).
    case incompatibleRecipients
    case noRecipients
    /// A recipient is not an `age1…` X25519 recipient, or no identity can exist for it.
    case malformedRecipient
    /// A line of a recipients file, or a recipient by itself (no line), has an unsupported type, such as an ECDSA key.
    case unsupportedRecipient(line: Int?, kind: String)
    /// A line of a recipients file is not a recipient.
    case malformedRecipientLine(Int)
    /// A line of an identity file is not an identity; its text is not repeated, since it may be a secret.
    case malformedIdentityLine(Int)
    /// A line of an identity file has an unsupported type, such as a key in PEM below other lines.
    case unsupportedIdentity(line: Int, kind: String)
    /// The identity file is a private key in PEM that is not an SSH key that decrypts.
    case sshIdentity(SSHKeyFailure)
    /// The identity file is not plain text: it is UTF-16, or begins with a byte order mark.
    case identityFileEncoded(isUTF16: Bool)
    /// The identity file contains no identity.
    case noIdentities
    /// The identity file is itself encrypted with a passphrase.
    case identityFileNeedsPassphrase
    /// A plugin did not do what it was asked for.
    case plugin(PluginName, PluginFailure)
    /// Reading or writing the underlying stream failed.
    case stream(StreamFailure)
    /// libcrypto failed for a reason other than the data.
    case cryptography(CryptographyFailure)

    init(_ failure: CryptographyFailure) {
        self = .cryptography(failure)
    }
}

/// Runs a cryptographic call that can fail only for reasons other than the data.
func cryptography<R: ~Copyable>(_ call: @autoclosure () throws(CryptographyFailure) -> R) throws(AgeFailure) -> R {
    try failing(as: AgeFailure.init, call())
}
