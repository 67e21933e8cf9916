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
        if archives.contains(where: \.isEmpty) { throw UsageProblem.emptyArchive }
        let sources = try archives.map { try session.machine.remote($0) }
        if let remotes = sources as? [RemoteLocation] { return try copyBack(remotes, in: session) }
        guard let location = try RemoteLocation(to) ?? session.machine.folderOfCopies(to),
            !sources.contains(where: { $0 != nil })
        else { throw UsageProblem.malformed(.to, form: RemoteLocation.destinationForm) }
        if location.isHere { try session.machine.requireOutsideOfData(location.path) }
        let copier = try ArchiveCopier(
            to: session.machine.remoteFolder(location, makesFolder: true), copiesReadable: metadataReadable,
            on: session.machine)
        let paths = try archives.flatMap { try self.paths($0, session) }
        var copied = 0
        var isUnreachable = false
        let status = try session.forEach(paths, named: \.path, endsAll: { isUnreachable }) {
            path, problem, isOfFolder in
            if let problem { throw problem }
            let copy: RemoteFolder.Copy
            do {
                copy = try copier.copy(path)
            } catch let failure as FileFailure where isOfFolder && failure.problem == .notFound {
                // A run of 'prune' has removed it since the folder was read.
                return .ok
            } catch let failure as RemoteFailure {
                isUnreachable = failure.isOfConnection
                throw failure
            }
            if copy.outcome == .copied {
                copied += 1
                session.done = "\(counted(copied, "archive")) copied"
            }
            let target = location.appending(Path.split(path).name).text
            try session.result(
                ["path": .text(path), "copy": .text(target), "copied": .flag(copy.outcome == .copied)],
                ["\(copy.outcome == .copied ? "copied" : "there already")  \(displayed(target))\n"])
            // A failure mentions the copies only if the line itself cannot be written.
            session.done = nil
            return .ok
        }
        return status
    }

    /// Copies archives of remotes to a folder here.
    private func copyBack(_ remotes: [RemoteLocation], in session: Session) throws -> ExitStatus {
        if metadataReadable {
            throw UsageProblem("'\(OptionName.metadataReadable.spelling)' is for copies on a remote")
        }
        guard RemoteLocation(to) == nil else {
            throw UsageProblem(
                "'\(OptionName.to.spelling)' takes a folder here, if the archives are on a remote",
                hint: "'rclone copy' copies from one remote to another")
        }
        let folder = session.machine.resolve(to)
        try Path.makeFolder(folder)
        guard let real = Path.real(folder) else { throw FileFailure(to, .notFound) }
        let fetcher = ArchiveFetcher(to: real, on: session.machine)
        var found: [(entry: RemoteEntry, folder: RemoteFolder)] = []
        for remote in remotes {
            let archives = try RemoteArchives(remote, session.machine.mover(of: remote))
            found += archives.all.map { ($0, archives.folder) }
        }
        var copied = 0
        return try session.forEach(found, named: { $0.folder.location.appending($0.entry.name).text }) { archive in
            let isCopied = try fetcher.fetch(archive.entry, from: archive.folder)
            if isCopied {
                copied += 1
                session.done = "\(counted(copied, "archive")) copied"
            }
            let source = archive.folder.location.appending(archive.entry.name).text
            let target = to.exact.hasSuffix("/") ? to + archive.entry.name : "\(to)/\(archive.entry.name)"
            try session.result(
                ["path": .text(source), "copy": .text(target), "copied": .flag(isCopied)],
                ["\(isCopied ? "copied" : "there already")  \(displayed(target))\n"])
            session.done = nil
            return .ok
        }
    }

    /// The archives that an argument names, and why some of them cannot be copied.
    private func paths(_ argument: String, _ session: Session) throws -> [(
        path: String, problem: Refusal?, isOfFolder: Bool
    )] {
        let folder = session.machine.resolve(argument)
        guard Path.isFolder(folder) else { return [(argument, nil, false)] }
        func path(_ name: String) -> String {
            argument.exact.hasSuffix("/") ? argument + name : "\(argument)/\(name)"
        }
        var unreadable: [String] = []
        let names = try Catalogue.archiveNames(in: folder, unreadable: &unreadable).sorted().map(\.string)
        if names.isEmpty, unreadable.isEmpty { throw CatalogueFailure.noArchives(folder: argument) }
        return names.map { (path($0), nil, true) }
            + unreadable.map { (path($0), Refusal.unreadableName(path: path($0)), true) }
    }
}
