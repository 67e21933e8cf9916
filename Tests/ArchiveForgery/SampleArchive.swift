package import AgeEncryption
package import DeviceIdentity
package import KeychainModel
package import TestSupport

/// A genuine archive, and what made and opens it.
package struct SampleArchive: Sendable {
    /// The passphrase of those that have one.
    package static let passphrase = "horse"

    /// Where it is.
    package let path: String
    /// How it is protected.
    package let mode: ArchiveMode
    /// The device that made it.
    package let device: DeviceKey
    /// What opens an encrypted one.
    package let identity: X25519Identity
    /// Removed with its last user.
    private let folder: TemporaryFolder

    /// Describes an archive in `folder`.
    package init(
        _ name: String, in folder: TemporaryFolder, _ mode: ArchiveMode, by device: DeviceKey,
        to identity: X25519Identity
    ) {
        path = folder.path(name)
        self.mode = mode
        self.device = device
        self.identity = identity
        self.folder = folder
    }
}

/// What `body` throws.
package func failure(_ body: () throws -> Void) -> (any Error)? {
    do {
        try body()
        return nil
    } catch {
        return error
    }
}
