package import AgeEncryption
package import DeviceIdentity
package import KeychainModel
package import TestSupport

/// A genuine archive, the device that made it and the identity that opens it.
package struct SampleArchive: Sendable {
    /// The passphrase of sample archives that have one.
    package static let passphrase = "horse"

    /// Its path.
    package let path: String
    /// How it is protected.
    package let mode: ArchiveMode
    /// The device that made it.
    package let device: DeviceKey
    /// The identity that opens an encrypted archive.
    package let identity: X25519Identity
    /// Removed with the last reference to it.
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

/// Returns the error that `body` throws, or nil.
package func failure(_ body: () throws -> Void) -> (any Error)? {
    do {
        try body()
        return nil
    } catch {
        return error
    }
}
