package import KCByteStreams

/// Keeps small payloads in memory for all processes of one user, never in a file.
///
/// A missing, expired or revoked name is not an error: it has no payload. Calls are independent: another process may
/// change the contents between any two of them.
package protocol KeyRetention: Sendable {
    /// The payload under a name; nil if there is none.
    func read(_ name: String) throws(KeyRetentionFailure) -> SecretBytes?

    /// Stores a payload under a name, replacing any other.
    ///
    /// - Parameters:
    ///   - payload: 1 to 1,024 bytes.
    ///   - seconds: its lifetime, 1 or more; nil for no timeout.
    /// - Throws: `KeyRetentionFailure`; the new payload is then not stored.
    func keep(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure)

    /// Replaces the payload under a name only if there is one, so that a concurrent revocation stays in effect.
    ///
    /// - Parameters: the same as those of `keep`.
    /// - Returns: false if there is no payload.
    func replace(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) -> Bool

    /// Restarts the timeout of a payload; does nothing if there is none.
    ///
    /// - Parameter seconds: the remaining lifetime, 1 or more; nil removes the timeout.
    func expire(_ name: String, after seconds: Int?) throws(KeyRetentionFailure)

    /// Destroys the payload under a name, for every process that refers to it; does nothing if there is none.
    ///
    /// - Throws: `KeyRetentionFailure`; the payload may then still exist.
    func revoke(_ name: String) throws(KeyRetentionFailure)

    /// The seconds until a payload expires, rounded down; nil if it never expires, does not exist, or this is unknown.
    func remainingSeconds(_ name: String) -> Int?
}
