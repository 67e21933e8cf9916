package import KCAgeEncryption
package import KCDeviceIdentity
package import KCKeychainModel
package import KCTestSupport

/// A genuine archive, with the device that made it and the keys that open it.
package struct SampleArchive: Sendable {
    /// The passphrase of archives that have one.
    package static let passphrase = "horse"

    /// The path of the archive.
    package let path: String
    /// How it is protected.
    package let mode: ArchiveMode
    /// The device that made it.
    package let device: DeviceKey
    /// The identity that opens an encrypted archive.
    package let identity: NativeIdentity
    /// Removed with the last reference to it.
    private let folder: TemporaryFolder

    /// Describes an archive in `folder`.
    package init(
        _ name: String, in folder: TemporaryFolder, _ mode: ArchiveMode, by device: DeviceKey,
        to identity: NativeIdentity
    ) {
        path = folder.path(name)
        self.mode = mode
        self.device = device
        self.identity = identity
        self.folder = folder
    }
}

/// The error that `body` throws, if any.
package func failure(_ body: () throws -> Void) -> (any Error)? {
    do {
        try body()
        return nil
    } catch {
        return error
    }
}
