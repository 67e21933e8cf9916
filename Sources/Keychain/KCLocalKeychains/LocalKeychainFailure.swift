package import KCByteStreams

/// Why a keychain of this user cannot be found or opened, before its file is examined.
package enum LocalKeychainFailure: Error, Hashable, Sendable {
    /// The name is empty.
    case emptyName
    /// The name has characters that a keychain's name cannot have.
    case invalidName
    /// The device key is missing, but this many keychains exist.
    case deviceKeyMissing(keychains: Int)
    /// The file with the default keychain and the search list is not in the form in which this program writes it.
    case listsDamaged(path: String)
    /// The process has the rights of a user or group other than that of the user who started it.
    case borrowedRights
    /// The file with the lists, or the data folder, cannot be trusted, read or written.
    case file(FileFailure)
}
