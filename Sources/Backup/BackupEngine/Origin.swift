package import BackupArchive
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

/// An opened archive together with who made it.
package struct ProvenArchive {
    /// The archive.
    package let opened: OpenedArchive
    /// Who made it.
    package let origin: Origin
    /// True when this device made it.
    package let isFromThisDevice: Bool
    /// The secrets of an unencrypted archive; nil in an encrypted one.
    package let stored: StoredSecrets?
    let device: DeviceKey?

    /// What its `kcbackup.json` says.
    package var header: ArchiveHeader { opened.header }

    /// Finds out who made `opened`.
    ///
    /// - Parameter local: nil where there is no device key yet; then no archive is from this device.
    /// - Throws: `ArchiveFailure` (`damaged`, `limit`, `cryptography`) for the keybag of an unencrypted one.
    package init(_ opened: OpenedArchive, local: LocalIdentity?) throws(ArchiveFailure) {
        self.opened = opened
        device = local?.device
        let maker = local.flatMap { $0.device.signingPublicKey == opened.signer ? $0.device : nil }
        isFromThisDevice = maker != nil
        if let store = opened.header.store {
            stored = try StoredSecrets(opened.header, store.keychain, device: maker)
        } else {
            stored = nil
        }
        origin =
            if isFromThisDevice {
                .thisDevice
            } else if let name = local?.trusted[opened.header.device] {
                .trustedDevice(name: name)
            } else if opened.opening == .passphraseAlone {
                .passphrase
            } else {
                .unknown
            }
    }
}
