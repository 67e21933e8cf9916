public import BackupArchive
public import DeviceIdentity
internal import KeychainModel

/// Who made an archive, as far as that can be told here (docs/threat-model.md, "Origin").
public enum Origin: Hashable, Sendable {
    /// It bears the signature of this device.
    case thisDevice
    /// It bears the signature of a device that the user trusts under this name.
    case trustedDevice(name: String)
    /// Its passphrase is its only key, so only somebody who knew the passphrase can have made it.
    case passphrase
    /// It is signed by a device that nobody here vouches for.
    case unknown

    /// The stable name in JSON.
    public var name: String {
        switch self {
        case .thisDevice: "this-device"
        case .trustedDevice: "trusted-device"
        case .passphrase: "passphrase"
        case .unknown: "unknown"
        }
    }
}

/// What this device is and whom it trusts.
public struct LocalIdentity: Sendable {
    /// The key of this device.
    public let device: DeviceKey
    /// The names of trusted devices.
    public let trusted: [DeviceID: String]

    /// Collects both.
    public init(device: DeviceKey, trusted: [DeviceID: String] = [:]) {
        self.device = device
        self.trusted = trusted
    }
}

/// An archive whose every byte is what its device signed, together with what opens it.
public struct ProvenArchive {
    /// The open archive.
    public let file: ArchiveFile
    /// What opens it; nil in an unencrypted archive, or when only the header is to be read.
    public let key: ArchiveKey?
    /// Who made it.
    public let origin: Origin
    /// True when this device made it.
    public let isFromThisDevice: Bool
    let device: DeviceKey?

    /// Proves `file` genuine and finds out who made it.
    ///
    /// - Parameter local: nil where there is no device key yet; then no archive is from this device.
    /// - Throws: `ArchiveFailure` (`damaged`, `stream`).
    public init(_ file: ArchiveFile, key: ArchiveKey?, local: LocalIdentity?) throws(ArchiveFailure) {
        let publicKey = try file.proveGenuine()
        self.file = file
        self.key = key
        device = local?.device
        isFromThisDevice = local.map { $0.device.signingPublicKey == publicKey } ?? false
        origin =
            if isFromThisDevice {
                .thisDevice
            } else if let name = local?.trusted[file.header.device] {
                .trustedDevice(name: name)
            } else if key?.provesOrigin == true {
                .passphrase
            } else {
                .unknown
            }
    }
}
