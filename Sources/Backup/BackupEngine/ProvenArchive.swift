package import BackupArchive
internal import DeviceIdentity
internal import KeychainModel

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
        origin = Origin(signer: opened.signer, local: local, opening: opened.opening)
    }
}
