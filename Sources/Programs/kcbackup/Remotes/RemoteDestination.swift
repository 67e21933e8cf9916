internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCRemotes
internal import KCStoreTasks
internal import KCTerminal

/// A folder of a remote as the destination of an archive, which is named as in a backup folder.
///
/// rclone reads files by name, so the archive is made in a folder of its own in the data folder. A kill leaves it there
/// until the next one is made.
final class RemoteDestination: ArchiveDestination {
    /// Where the archive is; its name is final once it was received.
    private(set) var location: RemoteLocation
    /// The outside of the archive that was received.
    private(set) var outline: ArchiveOutline?
    private let folder: RemoteFolder
    private let name: (Int) -> String
    private let staging: StagingFolder

    /// Looks at the folder, so that one that is out of reach is found before anything is asked.
    ///
    /// - Throws: `RemoteFailure`, `FileFailure`, and errors of making the device key.
    init(_ location: RemoteLocation, of subject: any NamedStore, in session: Session) throws {
        folder = try session.machine.remoteFolder(location)
        let (device, now) = (try LocalDevice(session.machine).keyOrFirst().key.id, session.now)
        let series = ArchiveName.series(of: subject.stem)
        name = { ArchiveName(series: series, device: device, time: now, number: $0).fileName }
        self.location = location.appending(name(1))
        _ = try folder.file(named: name(1))
        try Path.makeFolder(session.machine.dataFolder.path)
        staging = try StagingFolder(in: session.machine.dataFolder.path)
    }

    var workFolder: String { staging.path }

    /// Copies the archive to the first free name, and reads the copy back.
    ///
    /// - Throws: `RemoteFailure`, `FileFailure`, `StreamFailure`.
    func receive(_ archive: FinishedArchive, _ report: CreateReport) throws {
        var number = 1
        while true {
            let name = name(number)
            try archive.publish(as: name)
            let file = try OpenFile.reading("\(staging.path)/\(name)")
            do {
                _ = try folder.put(file)
                outline = try ArchiveOutline(ArchiveFile(file))
                location = folder.location.appending(name)
                return
            } catch RemoteFailure.exists {
                // Another run took the name within the same second.
                number += 1
            }
        }
    }
}
