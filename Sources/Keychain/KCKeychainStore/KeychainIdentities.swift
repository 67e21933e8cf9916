package import KCByteStreams
package import KCKeychainModel

/// An identity is a certificate with the private key whose `klbl` equals its `pkhh`. Several certificates may share one
/// key, as a renewed certificate does that keeps it.
extension KeychainWriter {
    /// Stores those halves of an identity that are not there yet; a failure leaves what was stored to the caller's
    /// transaction, which has to end with it.
    ///
    /// - Returns: the halves as they are stored.
    /// - Throws: `duplicateItem` if both are there, or another certificate with issuer and serial number of this one;
    ///   otherwise as `add`.
    package func addIdentity(
        certificate: ItemDraft, _ data: borrowing SecretBytes?, key: ItemDraft, _ keyData: borrowing SecretBytes?,
        now: Timestamp
    ) throws(KeychainStoreError) -> (certificate: Item, key: Item) {
        let newCertificate = try addUnlessThere(certificate, data, now)
        let newKey = try addUnlessThere(key, keyData, now)
        guard newCertificate.isNew || newKey.isNew else { throw .duplicateItem }
        if !newCertificate.isNew, try !isStored(data, of: newCertificate.item) { throw .duplicateItem }
        return (newCertificate.item, newKey.item)
    }

    private func addUnlessThere(
        _ draft: ItemDraft, _ secret: borrowing SecretBytes?, _ now: Timestamp
    ) throws(KeychainStoreError) -> (item: Item, isNew: Bool) {
        do throws(KeychainStoreError) {
            return (try add(draft, secret: secret, now: now), true)
        } catch {
            guard error == .duplicateItem else { throw error }
            let wanted = try draft.item(
                now: now, secretSize: secret.size, accessGroup: ItemDraft.defaultAccessGroup)
            guard let there = try tables.row(withKeyOf: wanted)?.item else { throw error }
            return (there, false)
        }
    }

    private func isStored(_ secret: borrowing SecretBytes?, of item: Item) throws(KeychainStoreError) -> Bool {
        switch secret {
        case .some(let secret): try isSecret(of: item, secret)
        case .none: false
        }
    }

    /// Deletes certificates and then those of the keys that no certificate uses any more; a failure aborts the
    /// transaction.
    ///
    /// - Parameters:
    ///   - certificates: the certificates, each once or more often.
    ///   - keys: their private keys, each once or more often.
    ///   - groups: the access groups whose certificates keep a key; nil for all.
    ///   - leavingTombstones: as in `delete`.
    /// - Returns: the keys that stay.
    /// - Throws: as `delete`.
    @discardableResult
    package func deleteIdentities(
        certificates: [Item], keys: [Item], keepingKeysOf groups: [String]? = nil, now: Timestamp,
        leavingTombstones: Bool? = nil
    ) throws(KeychainStoreError) -> [Item] {
        var kept: [Item] = []
        var gone: Set<ItemUUID> = []
        for certificate in certificates where gone.insert(certificate.uuid).inserted {
            try delete(matching: ItemQuery(certificate), now: now, leavingTombstones: leavingTombstones)
        }
        for key in keys where gone.insert(key.uuid).inserted {
            if try isInUse(key, in: groups) {
                kept.append(key)
            } else {
                try delete(matching: ItemQuery(key), now: now, leavingTombstones: leavingTombstones)
            }
        }
        return kept
    }

    /// True if a certificate belongs to a key; a row that makes no item counts too.
    private func isInUse(_ key: Item, in groups: [String]?) throws(KeychainStoreError) -> Bool {
        guard let hash = key.attributes[.klbl] else { return false }
        let users = try find(
            ItemQuery(itemClass: .certificate, attributes: [.pkhh: hash], accessGroups: groups, limit: 1))
        return !users.items.isEmpty || users.damaged > 0
    }
}
