package import KCBackupArchive
internal import KCDeviceIdentity
internal import KCItemMatching
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

    /// True if the archived passcode would open more secrets that the selected items need than are open now.
    ///
    /// - Throws: `ArchiveFailure`, of reading the metadata.
    package func needsPasscode(for filter: ItemFilter? = nil) throws -> Bool {
        guard let stored, stored.hasPasscode, !stored.opensConstrained else { return false }
        let needed = try selectedSecrets(of: filter)
        return try hasItem(in: nil) { !stored.opens($0) && needed.contains($0) }
    }

    /// The items whose secrets a restore of the selected ones must know.
    ///
    /// - Throws: `ArchiveFailure`, of reading the metadata.
    func selectedSecrets(of filter: ItemFilter?) throws -> SelectedSecrets {
        guard let filter else { return .all }
        var series: Set<ItemUUID> = []
        _ = try survey { item in
            if item.uuid.isDerived, filter.matches(item) { series.insert(item.uuid.with(ordinal: 0)) }
        }
        return SelectedSecrets(filter: filter, series: series)
    }

    /// The UUIDs, with the ordinal 0, of imported items of which only their secrets tell several apart.
    ///
    /// - Throws: `ArchiveFailure`, of reading the metadata.
    package func alikeItems() throws -> Set<ItemUUID> {
        var derived: [ItemUUID] = []
        _ = try survey { if $0.uuid.isDerived { derived.append($0.uuid) } }
        return ImportedUUIDs(derived).several
    }

    /// True if a selected item meets a condition.
    ///
    /// - Throws: `ArchiveFailure`, of reading the metadata, and what `meets` throws.
    package func hasItem(in filter: ItemFilter?, where meets: (Item) throws -> Bool) throws -> Bool {
        var found: Result<Bool, any Error> = .success(false)
        _ = try survey { item in
            guard case .success(false) = found, filter?.matches(item) ?? true else { return }
            found = Result { try meets(item) }
        }
        return try found.get()
    }
}

/// Items of an archive whose secrets must be known: those that were selected, and imported ones that only their secrets tell
/// from a selected one.
struct SelectedSecrets {
    /// The selected items; nil for all.
    fileprivate let filter: ItemFilter?
    /// The UUIDs of the selected items, each without its ordinal.
    fileprivate let series: Set<ItemUUID>

    static let all = SelectedSecrets(filter: nil, series: [])

    /// True if the secret of an item must be known.
    func contains(_ item: Item) -> Bool {
        guard let filter else { return true }
        return filter.matches(item) || item.uuid.isDerived && series.contains(item.uuid.with(ordinal: 0))
    }
}
