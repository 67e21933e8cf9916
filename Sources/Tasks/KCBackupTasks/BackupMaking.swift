internal import KCAsking
package import KCBackupArchive
package import KCBackupEngine
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCHomeFiles
package import KCItemStores
package import KCKeychainModel
internal import KCLocalKeychains
package import KCStoreTasks

/// A clock whose date an archive cannot tell: an archive holds dates from 1970 to 2241.
package struct ClockProblem: Error, Hashable, Sendable {
    package let now: Timestamp
}

/// An event while an archive is made.
package enum BackupEvent: TaskEvent {
    /// Items that restore on this device alone; told if that was asked for.
    case bound([Item])
    /// The key of this device is in its chip, with which the keychain could be lost.
    case couldBeLost(keychain: String)
    /// Whether the keychain could be lost with the chip is not known.
    case notLookedAt(any Error)
    /// No desktop keyring runs here, and none is backed up.
    case noKeyring
    /// So many archives in a folder are not in its catalogue, and nothing is compared with them.
    case unlisted(Int, folder: String)
    /// The archive is saved, and the next run enters it into the catalogue.
    case enteredLater(any Error)
}

extension TaskContext {
    /// Refuses a clock that an archive cannot tell.
    package func requireClock() throws(ClockProblem) {
        // The date of a tar member is 11 octal digits of seconds since 1970.
        guard (0..<(1 << 33)).contains(now.seconds) else { throw ClockProblem(now: now) }
    }

    /// Tells if a keychain could be lost with the chip of this device.
    ///
    /// - Parameter identity: the ID of its file, in hexadecimal.
    package func tellIfLosable(_ store: any NamedStore, _ identity: String) {
        guard let keychain = store as? LocalKeychain else { return }
        do {
            let archives = try machine.isHeldByChip ? EncryptedArchives(on: machine) : nil
            guard let archives, try !archives.isRecent(of: keychain, identity, at: now) else { return }
            tell(BackupEvent.couldBeLost(keychain: keychain.name))
        } catch {
            // The backup is done.
            tell(BackupEvent.notLookedAt(error))
        }
    }
}

extension BackupRequest {
    /// Makes the archive of an open source: an encrypted one with `keys`, an unencrypted one without.
    ///
    /// - Parameter namesBound: true to tell which items restore on this device alone.
    package func make(
        _ backup: CreateBackup, of source: any ReadableStore, with keys: ArchiveKeys?, namesBound: Bool,
        in context: TaskContext
    ) throws -> CreateReport {
        guard let keys else {
            let stored = try source.stored(LocalDevice(context.machine).key())
            let progress = try context.asking.follow(
                .archivingItems, total: { UInt64(try source.itemCount()) }, done: nil)
            defer { progress.finish() }
            return try backup.unencrypted(stored, step: progress.step)
        }
        let progress = try context.asking.follow(
            .archivingItems, total: { UInt64(try source.itemCount()) }, done: nil)
        var bound: [Item] = []
        let report = try backup.encrypted(
            source, with: keys, isOfMachine: \.isOfOneMachine, bound: { if namesBound { bound.append($0) } },
            step: progress.step)
        progress.finish()
        if !bound.isEmpty { context.tell(BackupEvent.bound(bound)) }
        return report
    }
}
