package import KCAsking
internal import KCBackupArchive
package import KCBackupEngine
internal import KCByteStreams
package import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
package import KCStoreTasks

// Keys of a keychain, or the passcode of its time, open the secrets of an unencrypted archive.

extension TaskContext {
    /// Opens the secrets with the given passcode or, if one is needed, with a passcode from the user.
    ///
    /// - Parameters:
    ///   - source: where the passcode comes from; nil to ask a person, if one is needed.
    ///   - isNeeded: true if secrets that cannot be opened are of no use.
    ///   - filter: the items whose secrets are of use; nil for all.
    ///   - kept: a passcode read for an earlier archive of the run; a new one is stored there.
    /// - Throws: `ArchiveFailure` (`wrongPasscode`, `passcodeNeeded`), and errors of reading secrets.
    package func openSecrets(
        of proven: ProvenArchive, passcode source: SecretSource?, isNeeded: Bool, of filter: ItemFilter? = nil,
        at path: String, keptIn kept: KeptSecret = KeptSecret()
    ) throws {
        guard let stored = proven.stored, stored.hasPasscode, proven.isFromThisDevice else {
            if source != nil { tell(ArchiveEvent.passcodeUnneeded) }
            return
        }
        guard try source != nil || isNeeded && proven.needsPasscode(for: filter) else { return }
        guard source != nil || asking.isAttended else { throw ArchiveFailure.passcodeNeeded }
        let wanted = WantedSecret(.formerPasscode(archive: path), .archivePasscode, from: source)
        try kept.use(wanted, in: self) { passcode in
            try stored.unlock(passcode: passcode, minimumCost: machine.costs.lowestPasscode)
        }
    }

    /// Borrows the class keys of the keychain that an unencrypted archive was made from, if it is unlocked here.
    ///
    /// The keychain may be missing or damaged, which says nothing about the archive, and is only told.
    func borrowKeys(for proven: ProvenArchive) {
        guard let stored = proven.stored, stored.hasPasscode, !stored.opensUnconstrained, proven.isFromThisDevice
        else { return }
        do {
            let source = try proven.opened.source()
            guard source.kind == ArchiveSource.keychain, LocalKeychain.isName(source.name) else { return }
            let local = try LocalKeychain(source.name, in: machine)
            guard try Path.exists(local.path) else { return }
            let keychain = try local.open(in: machine)
            try local.naming {
                try machine.unlocked.resume(keychain)
                _ = try keychain.form(ofSecretsUnder: stored.keybag)
            }
        } catch {
            tell(ArchiveEvent.noKeysOfKeychain(error))
        }
    }
}
