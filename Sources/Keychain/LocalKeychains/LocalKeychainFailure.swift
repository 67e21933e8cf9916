package import ByteStreams

/// Why a keychain of this user cannot be found or opened, before its file is looked at.
package enum LocalKeychainFailure: Error, Hashable, Sendable {
    /// The name is empty.
    case emptyName
    /// The name has characters that a keychain's name cannot have.
    case invalidName
    /// The device key is gone while this many keychains are still there.
    case deviceKeyMissing(keychains: Int)
    /// The file with the default keychain and the search list is not as this program writes it.
    case listsDamaged(path: String)
    /// The process has the rights of another user or group than the one who started it.
    case borrowedRights
    /// That file, or the data folder, cannot be trusted, read or written.
    case file(FileFailure)
}
