internal import BackupArchive
package import DeviceIdentity
internal import KeychainModel

/// Who made an archive, as far as that can be told here (docs/threat-model.md, "Origin").
package enum Origin: Hashable, Sendable {
    /// It bears the signature of this device.
    case thisDevice
    /// It bears the signature of a device that the user trusts under this name.
    case trustedDevice(name: String)
    /// Its passphrase is its only key, so only someone who knew the passphrase can have made it.
    case passphrase
    /// It is signed by a device that is neither this one nor trusted.
    case unknown

    /// Finds out who made a genuine archive.
    ///
    /// - Parameters:
    ///   - signer: the public key that signed it.
    ///   - local: nil where there is no device key yet.
    ///   - opening: how it was opened; nil where it was not.
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

    /// The stable name in JSON.
    package var name: String {
        switch self {
        case .thisDevice: "this-device"
        case .trustedDevice: "trusted-device"
        case .passphrase: "passphrase"
        case .unknown: "unknown"
        }
    }
}

/// What this device is and whom it trusts.
package struct LocalIdentity: Sendable {
    /// The key of this device.
    package let device: DeviceKey
    /// The names of trusted devices.
    package let trusted: [DeviceID: String]

    /// Collects both.
    package init(device: DeviceKey, trusted: [DeviceID: String] = [:]) {
        self.device = device
        self.trusted = trusted
    }
}
