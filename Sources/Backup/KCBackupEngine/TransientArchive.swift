internal import KCAgeEncryption
package import KCBackupArchive
package import KCDeviceIdentity
package import KCKeychainModel

/// An archive that is never named: it is encrypted to a key that only this process has, and is gone when it is closed.
///
/// With it, items that are in no archive are restored as archived ones are: by the same rules, in the same steps.
///
/// ```swift
/// let (archive, _) = try TransientArchive.make(of: fileItems, source, device, tool: tool, folder: folder, now: now)
/// let report = try RestoreBackup(archive, options: options).run(into: target)
/// ```
package enum TransientArchive {
    /// Archives items, and opens the archive.
    ///
    /// - Parameters:
    ///   - source: the source to name in the archive.
    ///   - folder: where the file without a name is.
    /// - Returns: the archive, and 32 bytes that are the same for the same items and secrets on this device.
    /// - Throws: `ArchiveFailure`, `AgeFailure`, and what the items throw.
    package static func make(
        of items: some ItemSource, _ source: ArchiveSource, _ device: DeviceKey, tool: String, folder: String,
        now: Timestamp
    ) throws -> (archive: ProvenArchive, fingerprint: [UInt8]) {
        let identity = try X25519Identity.generate()
        let destination = Kept(workFolder: folder)
        _ = try CreateBackup(of: source, device: device, tool: tool, to: destination, now: now)
            .encrypted(items, with: ArchiveKeys(recipients: [identity.recipient], inspectors: []))
        guard let archive = destination.archive else { preconditionFailure("a backup that returns was received") }
        let proven = try ProvenArchive(
            archive.reopened().prove().open(identities: [identity]), local: LocalIdentity(device: device))
        return (proven, archive.fingerprint)
    }

    private final class Kept: ArchiveDestination {
        let workFolder: String
        private(set) var archive: FinishedArchive?

        init(workFolder: String) {
            self.workFolder = workFolder
        }

        func receive(_ archive: FinishedArchive, _ report: CreateReport) { self.archive = archive }
    }
}
