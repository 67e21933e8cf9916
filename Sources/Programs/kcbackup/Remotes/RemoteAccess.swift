internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCConsole
internal import KCKeychainModel
internal import KCRemotes
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

extension Machine {
    /// The location that `REMOTE:PATH` names; nil for what can only be a file here.
    ///
    /// - Throws: `UsageProblem` if a file here has this name: neither takes the place of the other in silence.
    func remote(_ given: String) throws -> RemoteLocation? {
        guard let location = RemoteLocation(given) else { return nil }
        if try Path.exists(resolve(given)) {
            throw UsageProblem(
                "\(quoted(given)) is a file or folder here, and may be one of a remote",
                hint: "what is here is \(shellWord("./" + given))", "for the remote, run it in another folder")
        }
        return location
    }

    /// Copies an archive of a remote to an unnamed file.
    ///
    /// - Parameter choose: returns the archive that is meant, if a folder was named.
    /// - Throws: `RemoteFailure`, `FileFailure`, `StreamFailure`, and what `choose` throws.
    func fetch(_ location: RemoteLocation, choose: (ArchivePlace) throws -> String) throws -> OpenFile {
        let archives = try RemoteArchives(location, mover(of: location))
        let entry: RemoteEntry
        if let only = archives.only {
            entry = only
        } else {
            let place = archives.folder.location
            let name = try choose(ArchivePlace(place, files: archives.all.map(\.name)))
            guard let chosen = archives.all.first(where: { $0.name.exact == name.exact }) else {
                throw RemoteFailure.missing(place.appending(name))
            }
            entry = chosen
        }
        return try blamingTemporaryFolder {
            var sink = UnnamedFileSink(try UnnamedFile(inFolder: temporaryFolder))
            try archives.folder.read(entry) { bytes in try sink.write(bytes) }
            return try sink.finish().file
        }
    }
}

extension RemoteLocation {
    /// The form of an option's value.
    static let form = "a folder of a remote, as in 'nas:backups' or 'sftp:nas:backups'"

    /// The form of the value of an option that says where copies go.
    static let destinationForm = form + ", or a folder here, as in '/media/usb' or './usb'"
}
