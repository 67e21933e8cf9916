package import ByteStreams
package import Cryptography

/// Why an age file cannot be made or opened.
package enum AgeFailure: Error, Hashable, Sendable {
    /// The bytes do not begin as an age file does.
    case notAnAgeFile
    /// The file is in the text armor (`-----BEGIN AGE ENCRYPTED FILE-----`), which is not read here.
    case armored
    /// The file has a version other than `v1`.
    case unsupportedVersion
    /// The header breaks this rule of the specification.
    case malformedHeader(String)
    /// The header is larger than allowed: what, and how much is allowed.
    case headerTooLarge(String, allowed: Int)
    /// The header MAC does not fit: the header was changed.
    case headerAuthentication
    /// No identity opens any stanza; the kinds of the stanzas, in order, and `unknown` for each that is not age's own.
    case noMatchingIdentity([String])
    case wrongPassphrase
    /// The passphrase needs more work than allowed: base-2 logarithms.
    case workFactorTooHigh(found: Int, allowed: Int)
    /// A passphrase cannot stand beside other recipients.
    case mixedPassphrase
    /// Recipients of a file do not agree on what it is to withstand (`WrappedFileKey.labels`).
    case incompatibleRecipients
    case noRecipients
    /// A recipient is not an `age1…` X25519 recipient, or is one that no identity has.
    case malformedRecipient
    /// A line of a recipients file is of a kind that is not supported, such as an SSH key.
    case unsupportedRecipient(line: Int, kind: String)
    /// A line of a recipients file is no recipient.
    case malformedRecipientLine(Int)
    /// A line of an identity file is no identity; its text is not repeated, for it may be a secret.
    case malformedIdentityLine(Int)
    /// A line of an identity file is of a kind that is not supported, such as a plug-in.
    case unsupportedIdentity(line: Int, kind: String)
    /// The identity file holds no identity.
    case noIdentities
    /// The identity file is itself encrypted with a passphrase.
    case identityFileNeedsPassphrase
    /// Reading or writing failed below.
    case stream(StreamFailure)
    /// A cryptographic library call failed for a reason that is not in the data.
    case cryptography(CryptographyFailure)

    init(_ failure: CryptographyFailure) {
        self = .cryptography(failure)
    }
}

/// Runs a cryptographic call whose failure says nothing about the data.
func cryptography<R: ~Copyable>(_ body: () throws(CryptographyFailure) -> R) throws(AgeFailure) -> R {
    do {
        return try body()
    } catch {
        throw AgeFailure(error)
    }
}
