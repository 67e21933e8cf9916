internal import ArgumentParser
internal import BackupArchive
internal import BackupEngine
internal import ByteStreams
internal import DeviceIdentity
internal import KeychainModel

/// `kcbackup inspect`: lists the contents of an archive, never secrets.
struct InspectCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show what an archive holds, and never a secret.",
        discussion: """
            Without a key it shows what anybody can read, and says that it is not verified. With a key it lists the \
            items: nothing is printed before the whole list has proved genuine. Columns that the terminal has no \
            room for are left out; --wide shows them, and --html makes a page of it that a browser opens without a \
            network, to search, sort, filter and print.

            EXAMPLES:
              kcbackup inspect laptop.kcb
              kcbackup inspect laptop.kcb --passphrase tty
              kcbackup inspect laptop.kcb -i inspect-key.txt --server mail.example.com
              kcbackup inspect laptop.kcb -i inspect-key.txt --for-device KC-… --json
              kcbackup inspect laptop.kcb --passphrase tty --html laptop.html
            """)

    @Argument(help: "The archive.", completion: .file(extensions: ["kcb"]))
    var archive: String

    @OptionGroup
    var opening: ArchiveOptions

    @OptionGroup
    var conditions: QueryOptions

    @Option(
        name: OptionName.forDevice.name,
        help: ArgumentHelp("Judge what would restore on this device. (default: the one you are on)", valueName: "id"),
        completion: KnownNames.devices)
    var forDevice: String?

    @Option(
        name: OptionName.html.name,
        help: ArgumentHelp("Make a page of it, in a new file, and print nothing.", valueName: "file"),
        completion: .file(extensions: ["html"]))
    var html: String?

    @OptionGroup
    var table: TableOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if html != nil, style.json { throw UsageProblem.together(.html, .json) }
        let report = try html.map { try ReportFile($0, in: session) }
        let judged = try forDevice.map { text throws(UsageProblem) in
            guard let id = DeviceID(text) else { throw .deviceID }
            return id
        }
        let filter = try conditions.filter()
        let table = try table.table(InspectListing.columns, in: session)
        let file = try opening.open(archive, in: session)
        let outline = try ArchiveOutline(file)
        // A page without items would be a poor one, so it is not made without a key.
        guard file.header.mode == .unencrypted || opening.hasKey || report != nil else {
            if filter != nil { session.warn("without a key no item is shown, and the conditions select nothing") }
            try session.result(
                ["archive": outline.json(archive), "verified": false],
                // Printed with the facts, wherever they go: they may be forged.
                outline.lines(archive) + [
                    "origin      not verified: this is what the archive says of itself; a key shows the items\n"
                ])
            return .ok
        }
        let proven = try opening.prove(file, at: archive, in: session)
        let isSameDevice = judged.map { $0 == file.header.device } ?? proven.isFromThisDevice
        if let report {
            let page = InspectReport(
                outline: outline, path: archive, proven: proven, filter: filter, isSameDevice: isSameDevice,
                judged: judged, session: session)
            try page.write(to: report)
            return .ok
        }
        let listing = InspectListing(
            outline: outline, path: archive, proven: proven, filter: filter,
            isSameDevice: isSameDevice, table: table, session: session)
        try listing.print()
        return .ok
    }
}
