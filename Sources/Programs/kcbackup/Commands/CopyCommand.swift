internal import ArgumentParser
internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCKeychainModel
internal import KCRemotes
internal import KCReportText

/// `kcbackup copy`: copies archives to a remote.
struct CopyCommand: Verb {
    static let mainOptions: [OptionName] = [.to]

    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy archives to another machine or a cloud.",
        discussion: """
            rclone does the copying; 'rclone config' defines a REMOTE, such as a disk in the network or a bucket. Each \
            archive is checked first, as far as that needs no key, and read back from the remote afterwards. A file that \
            is there is never replaced, and one that is the same is not copied again, so that a run that was broken off \
            can be repeated.

            'restore', 'inspect', 'verify', 'diff', 'export' and 'list' take REMOTE:PATH as well.

            EXAMPLES:
              kcbackup copy laptop.kcb --to nas:backups
              kcbackup copy ~/backups --to nas:backups
              kcbackup restore nas:backups/laptop.kcb --dry-run
            """)

    @Argument(
        help: ArgumentHelp("Archives, and folders of archives.", valueName: "archive"),
        completion: .file(extensions: ["kcb"]))
    var archives: [String]

    @Option(
        name: OptionName.to.name,
        help: ArgumentHelp("The folder to copy them to.", valueName: "remote:path"))
    var to: String

    @Flag(
        name: OptionName.metadataReadable.name,
        help: "Copy unencrypted archives too: everyone who can read the remote can read the names in them.")
    var metadataReadable = false

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if archives.contains(where: \.isEmpty) { throw UsageProblem.emptyArchive }
        guard let location = RemoteLocation(to) else {
            throw UsageProblem.malformed(.to, form: RemoteLocation.form)
        }
        let copier = try ArchiveCopier(
            folder: RemoteFolder(location, session.world.rclone()), copiesReadable: metadataReadable, session: session)
        let paths = try archives.flatMap { try self.paths($0, session) }
        var copied = 0
        let status = try session.forEach(paths, named: \.self) { path in
            let outcome = try copier.copy(path).outcome
            if outcome == .copied {
                copied += 1
                session.done = "\(counted(copied, "archive")) copied"
            }
            let target = location.appending(Path.split(path).name).text
            try session.result(
                ["path": .text(path), "copy": .text(target), "copied": .flag(outcome == .copied)],
                ["\(outcome == .copied ? "copied" : "there already")  \(displayed(target))\n"])
            return .ok
        }
        return status
    }

    /// The archives that an argument names.
    private func paths(_ argument: String, _ session: Session) throws -> [String] {
        let path = session.world.resolve(argument)
        guard Path.isFolder(path) else { return [argument] }
        let names = try Catalogue.archiveNames(in: path).sorted().map(\.string)
        if names.isEmpty { throw CatalogueFailure.noArchives(folder: argument) }
        return names.map { argument.exact.hasSuffix("/") ? argument + $0 : "\(argument)/\($0)" }
    }
}
