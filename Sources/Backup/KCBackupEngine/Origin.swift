internal import KCBackupArchive
package import KCDeviceIdentity
internal import KCKeychainModel

/// Who made an archive, as far as this device can tell (docs/threat-model.md, "Origin").
package enum Origin: Hashable, Sendable {
    /// This device signed it.
    case thisDevice
    /// A device that the user trusts under this name signed it.
    case trustedDevice(name: String)
    /// A passphrase is its only key, so someone who knew the passphrase made it.
    case passphrase
    /// A device that is neither this one nor trusted signed it.
    case unknown

    /// Determines who made a genuine archive.
    ///
    /// - Parameters:
    ///   - signer: the public key of the signature.
    ///   - local: nil if there is no device key yet.
    ///   - opening: how the archive was opened; nil if it was not.
    init(signer: [UInt8], local: LocalIdentity?, opening: OpenedArchive.Opening?) {
        self =
            if let local, local.device.signingPublicKey == signer {
                .thisDevice
            } else if let name = local?.trusted[DeviceID(publicKey: signer)] {
                .trustedDevice(name: name)
            } else if opening == .passphraseAlone {
                .passphrase
            } else {
                .unknown
            }
    }

    /// The stable name used in JSON.
    package var name: String {
        switch self {
        case .thisDevice: "this-device"
        case .trustedDevice: "trusted-device"
        case .passphrase: "passphrase"
        case .unknown: "unknown"
        }
    }
}

/// This device and the devices that it trusts.
package struct LocalIdentity: Sendable {
    /// The key of this device.
    package let device: DeviceKey
    /// The names of trusted devices.
    package let trusted: [DeviceID: String]

    /// Creates an instance from a device key and the trusted devices.
    package init(device: DeviceKey, trusted: [DeviceID: String] = [:]) {
        self.device = device
        self.trusted = trusted
    }
}
