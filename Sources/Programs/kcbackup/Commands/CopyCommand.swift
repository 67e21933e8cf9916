internal import ArgumentParser
internal import KCBackupCatalogue
internal import KCBackupTasks
internal import KCByteStreams
internal import KCKeychainModel
internal import KCRemotes
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup copy`: copies archives to a remote.
struct CopyCommand: Verb {
    static let mainOptions: [OptionName] = [.to]

    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy archives to another machine or a cloud, or back.",
        discussion: """
            rclone does the copying; 'rclone config' defines a REMOTE, such as a disk in the network or a bucket. \
            'sftp:HOST:PATH' is a folder that OpenSSH reaches, without rclone. A folder of this machine, such as that of a \
            USB disk, is named by a path with a slash. Each archive is checked first, as far \
            as that needs no key, and read back from the remote afterwards. An existing file is never replaced, and an \
            identical one is not copied again, so you can repeat an interrupted run.

            From a remote, archives are copied back to a folder here; if its catalogue was lost, 'list --rebuild' \
            enters them in a new one. 'restore', 'inspect', 'verify', 'diff', 'export' and 'list' take REMOTE:PATH as \
            well.

            EXAMPLES:
              kcbackup copy laptop.kcb --to nas:backups
              kcbackup copy ~/backups --to nas:backups
              kcbackup copy ~/backups --to sftp:ada@nas:backups
              kcbackup copy ~/backups --to /media/usb/backups
              kcbackup restore nas:backups/laptop.kcb --dry-run
              kcbackup copy nas:backups --to ~/backups
            """)

    @Argument(
        help: ArgumentHelp("Archives, and folders of archives, here or on a remote.", valueName: "archive"),
        completion: .file(extensions: ["kcb"]))
    var archives: [String]

    @Option(
        name: OptionName.to.name,
        help: ArgumentHelp("The folder to copy them to: on a remote, or a path.", valueName: "remote:path")
    )
    var to: String

    @Flag(
        name: OptionName.metadataReadable.name,
        help: "Copy unencrypted archives too: everyone who can read the remote can read the names in them.")
    var metadataReadable = false

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let places = try archives.map { try session.machine.archivePlace($0) }
        if places.allSatisfy(\.isRemote) { return try copyBack(places, in: session) }
        guard let location = try RemoteLocation(to) ?? session.machine.folderOfCopies(to),
            !places.contains(where: \.isRemote)
        else { throw UsageProblem.malformed(.to, form: RemoteLocation.destinationForm) }
        if location.isHere { try session.machine.requireOutsideOfData(location.path) }
        let copier = try ArchiveCopier(
            to: session.machine.remoteFolder(location, makesFolder: true), copiesReadable: metadataReadable,
            on: session.machine)
        let found = try PlacedArchive.all(at: places, in: session.context)
        var isUnreachable = false
        var (batch, done) = (CopyBatch?.none, 0)
        return try copyEach(found, in: session, endsAll: { isUnreachable }) { archive in
            do {
                if done % Self.batchSize == 0 {
                    batch = try copier.batch(of: found.dropFirst(done).prefix(Self.batchSize))
                }
                done += 1
                guard let copy = try batch?.copy(named: archive.name.exact) ?? copier.copy(archive) else { return nil }
                return Target(
                    text: location.appending(archive.name).text, isNew: copy.outcome == .copied,
                    isReadBack: copy.isReadBack)
            } catch let failure as RemoteFailure {
                isUnreachable = failure.isOfConnection
                throw failure
            }
        }
    }

    // A run that is interrupted has told of those before.
    private static let batchSize = 100

    /// Copies archives of remotes to a folder here.
    private func copyBack(_ places: [ArchivePlace], in session: Session) throws -> ExitStatus {
        if metadataReadable {
            throw UsageProblem("'\(OptionName.metadataReadable.spelling)' is for copies on a remote")
        }
        guard RemoteLocation(to) == nil else {
            throw UsageProblem(
                "'\(OptionName.to.spelling)' takes a folder here, if the archives are on a remote",
                hint: "'rclone copy' copies from one remote to another")
        }
        try session.machine.requireOutsideOfData(to)
        let folder = session.machine.resolve(to)
        try Path.makeFolder(folder)
        guard let real = Path.real(folder) else { throw FileFailure(to, .notFound) }
        let fetcher = ArchiveFetcher(to: real, on: session.machine)
        let found = try PlacedArchive.all(at: places, in: session.context)
        return try copyEach(found, in: session) { archive in
            let target = to.exact.hasSuffix("/") ? to + archive.name : "\(to)/\(archive.name)"
            return Target(text: target, isNew: try fetcher.fetch(archive), isReadBack: true)
        }
    }

    /// A copy, and what is known of it.
    private struct Target {
        let text: String
        let isNew: Bool
        let isReadBack: Bool
    }

    /// Copies each archive, and prints where to.
    ///
    /// - Parameter copy: returns the copy; nil for an archive that another run has removed.
    private func copyEach(
        _ archives: [PlacedArchive], in session: Session, endsAll: () -> Bool = { false },
        _ copy: (PlacedArchive) throws -> Target?
    ) throws -> ExitStatus {
        var copied = 0
        return try session.forEach(archives, named: \.path, endsAll: endsAll) { archive in
            guard let target = try copy(archive) else { return .ok }
            if target.isNew {
                copied += 1
                session.done = "\(counted(copied, "archive")) copied"
            }
            try session.result(
                [
                    "path": .text(archive.path), "copy": .text(target.text), "copied": .flag(target.isNew),
                    "readBack": .flag(target.isReadBack),
                ], ["\(target.isNew ? "copied" : "there already")  \(displayed(target.text))\n"])
            if !target.isReadBack {
                session.warn("\(quoted(target.text)) was not read back, since these credentials may not read")
            }
            // A failure mentions the copies only if the line itself cannot be written.
            session.done = nil
            return .ok
        }
    }
}
