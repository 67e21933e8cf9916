package import ByteStreams

/// A place that keeps small payloads in memory between processes of one user, never in a file.
///
/// A name that is not there, has expired or was revoked is no failure: there is nothing under it. Every call stands for
/// itself; another process may change what is kept between any two.
package protocol KeyRetention: Sendable {
    /// The payload under a name; nil when there is none.
    ///
    /// - Throws: `KeyRetentionFailure`.
    func read(_ name: String) throws(KeyRetentionFailure) -> SecretBytes?

    /// Keeps a payload under a name, in the place of what is there.
    ///
    /// - Parameters:
    ///   - payload: 1 to 1,024 bytes.
    ///   - seconds: how long, 1 or more; nil for as long as the place lasts.
    /// - Throws: `KeyRetentionFailure`; the new payload is then kept nowhere.
    func keep(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure)

    /// Changes the payload under a name only where there is one, so that what is revoked at the same time stays so.
    ///
    /// - Parameters: as those of `keep`.
    /// - Returns: false when there is nothing under the name.
    /// - Throws: `KeyRetentionFailure`.
    func replace(
        _ name: String, _ payload: borrowing SecretBytes, expiresAfter seconds: Int?
    ) throws(KeyRetentionFailure) -> Bool

    /// Starts the clock of a payload anew; does nothing when there is none.
    ///
    /// - Parameter seconds: how long from now, 1 or more; nil stops the clock.
    /// - Throws: `KeyRetentionFailure`.
    func expire(_ name: String, after seconds: Int?) throws(KeyRetentionFailure)

    /// Destroys what is under a name, for everybody who knows of it; does nothing when there is nothing.
    ///
    /// - Throws: `KeyRetentionFailure`; it may then still be there.
    func revoke(_ name: String) throws(KeyRetentionFailure)

    /// The seconds until a payload expires, rounded down to what the place tells; nil when it never does, when there is
    /// none, and when the place does not tell.
    func remainingSeconds(_ name: String) -> Int?
}
