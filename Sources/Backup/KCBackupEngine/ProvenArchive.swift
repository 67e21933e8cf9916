package import KCBackupArchive
internal import KCDeviceIdentity
package import KCKeychainModel

/// An opened archive and its origin.
package struct ProvenArchive {
    /// The archive.
    package let opened: OpenedArchive
    /// Who made the archive.
    package let origin: Origin
    /// True if this device made the archive.
    package let isFromThisDevice: Bool
    /// The secrets of an unencrypted archive; nil for an encrypted one.
    package let stored: StoredSecrets?
    let device: DeviceKey?

    /// The contents of its `kcbackup.json`.
    package var header: ArchiveHeader { opened.header }

    /// Determines who made `opened`.
    ///
    /// - Parameter local: nil if there is no device key yet; then no archive counts as made by this device.
    /// - Throws: `ArchiveFailure` (`damaged`, `limit`, `cryptography`) if the keybag of an unencrypted archive is
    ///   invalid.
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

    /// True if the archived passcode would open more secrets of the selected items than are open now.
    ///
    /// - Throws: `ArchiveFailure`, of reading the metadata.
    package func needsPasscode(for filter: ItemFilter? = nil) throws -> Bool {
        guard let stored, stored.hasPasscode, !stored.opensConstrained else { return false }
        return try hasItem(in: filter) { !stored.opens($0) }
    }

    /// True if a selected item meets a condition.
    ///
    /// - Throws: `ArchiveFailure`, of reading the metadata.
    package func hasItem(in filter: ItemFilter?, where meets: (Item) -> Bool) throws -> Bool {
        var found = false
        _ = try survey { if !found, filter?.matches($0) ?? true, meets($0) { found = true } }
        return found
    }
}
