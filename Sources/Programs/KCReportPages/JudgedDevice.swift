package import KCBackupArchive
package import KCDeviceIdentity

/// The device for which `inspect` shows what would restore.
package enum JudgedDevice: Hashable, Sendable {
    /// This device.
    case here
    /// Any device other than the one that made the archive.
    case other
    case device(DeviceID)

    /// Whether the device made the archive; nil if only the signature can tell.
    package func isMaker(of header: ArchiveHeader) -> Bool? {
        switch self {
        case .here: nil
        case .other: false
        case .device(let id): id == header.device
        }
    }
}
