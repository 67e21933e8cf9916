internal import ArgumentParser
internal import KCAsking
internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportPages
internal import KCReportText
internal import KCSecretService
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup inspect`: lists the contents of an archive, never secrets.
struct InspectCommand: Verb {
    static let mainOptions: [OptionName] = [.staysBehind, .forDevice, .html]

    static let otherOptions: [OptionName]? = [
        .from, .service, .identity, .passphrase, .password, .columns, .sort, .wide, .json,
    ]

    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show what archives hold, and never a secret.",
        discussion: """
            With a key it lists the items, or those whose label, service, server, account or kind contains the text \
            that follows the archive; nothing is printed until the whole list has been authenticated. Columns \
            that do not fit the terminal are left out; --wide shows them, and --html writes a page that a browser \
            opens without a network, to search, sort, filter and print.

            Without a key, or with --outside, it shows what anyone can read, once the container, checksums and \
            signature have been verified.

            Files of other programs that 'kcbackup import' reads are shown too, and with 'secret-service:' or \
            'secret-service:LABEL' the desktop keyring as it is now.

            EXAMPLES:
              kcbackup inspect laptop.kcb
              kcbackup inspect laptop.kcb --passphrase tty
              kcbackup inspect laptop.kcb -i inspect-key.txt --server mail.example.com
              kcbackup inspect laptop.kcb wi-fi
              kcbackup inspect laptop.kcb --stays-behind
              kcbackup inspect laptop.kcb -i inspect-key.txt --for-device KC-… --json
              kcbackup inspect laptop.kcb --passphrase tty --html laptop.html
              kcbackup inspect logins.csv
              kcbackup inspect secret-service:
            """)

    @OptionGroup
    var archives: ArchiveArguments

    @OptionGroup
    var conditions: QueryOptions

    @Option(
        name: OptionName.forDevice.name,
        help: ArgumentHelp(
            "Judge what would restore on this device; 'other' is any but the one that made the archive. (default: the one you are on)",
            valueName: "id"),
        completion: KnownNames.devices)
    var forDevice: String?

    @Flag(
        name: OptionName.staysBehind.name,
        help: "List only the items that stay behind on another device, with the reason.")
    var staysBehind = false

    @Option(
        name: OptionName.html.name,
        help: ArgumentHelp("Write an HTML page to a new file, and print nothing.", valueName: "file"),
        completion: .file(extensions: ["html"]))
    var html: String?

    @OptionGroup
    var foreign: ForeignOptions

    @OptionGroup
    var unlocking: UnlockOptions

    @Flag(name: OptionName.skipLocked.name, help: "Leave out what is locked in the desktop keyring.")
    var skipLocked = false

    @Option(
        name: OptionName.passcode.name,
        help: ArgumentHelp("Where the password of the desktop keyring comes from.", valueName: "source"))
    var passcode: SecretSource?

    @OptionGroup
    var table: TableOptions

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let (archives, text) = try self.archives.splittingText(in: session)
        try check(with: archives)
        let report = try html.map { try ReportFile($0, in: session) }
        let judged = try JudgedDevice(forDevice, staysBehind: staysBehind)
        let filter = try conditions.filter(text)
        let choosesItems = filter != nil || staysBehind
        if archives.outside, choosesItems {
            throw UsageProblem(
                "'\(OptionName.outside.spelling)' shows no items, so there are none to choose from",
                hint: "leave out '\(OptionName.outside.spelling)', or the conditions")
        }
        _ = try table.table(
            InspectListing.columns(staysBehind), usualOrder: ItemColumns.usualOrder, in: session)
        var isFirst = true
        return try archives.forEach(in: session) { archive, opener in
            if let open = try openStore(archive, session) {
                let listing = SourceListing(
                    open: open, filter: filter, table: try table.table(ItemColumns.all, in: session), session: session)
                try listing.print(isFirst: isFirst)
                isFirst = false
                return try open.items.unread.count == 0 ? .ok : .incomplete
            }
            let found = try opener.find(archive)
            let file = found.file
            // A report without items would be of little use, so none is written without a key.
            guard !archives.outside && opener.canOpen(file) || report != nil else {
                try printOutside(found.archive, found.path, isFirst, session)
                isFirst = false
                if choosesItems { session.warn("without a key no item is shown, and the conditions select nothing") }
                return choosesItems ? .incomplete : .ok
            }
            var outline = try ArchiveOutline(file)
            let proven = try opener.prove(found)
            if try session.opensHereAlone(proven, file, outline) { outline.reach = .thisDevice }
            let selection = InspectSelection(
                filter: filter, onlyStaying: staysBehind, mode: file.header.mode,
                isSameDevice: judged.isMaker(of: file.header) ?? proven.isFromThisDevice)
            if let report {
                let page = InspectReport(
                    outline: outline, path: found.path, proven: proven, selection: selection, judged: judged,
                    session: session)
                try page.write(to: report)
                return .ok
            }
            let listing = InspectListing(
                outline: outline, path: found.path, proven: proven, selection: selection,
                table: try table.table(
                    InspectListing.columns(staysBehind), usualOrder: ItemColumns.usualOrder, in: session),
                session: session)
            try listing.print(isFirst: isFirst)
            isFirst = false
            return .ok
        }
    }

    /// Refuses contradictory options, before anything is read.
    private func check(with archives: ArchiveArguments) throws {
        if html != nil {
            if style.json { throw UsageProblem.together(.html, .json) }
            if archives.outside { throw UsageProblem.together(.html, .outside) }
            if archives.archives.count > 1 {
                throw UsageProblem("'\(OptionName.html.spelling)' takes a single archive")
            }
        }
        if try !archives.archives.contains(where: { try StoreChoice.prefixed($0) != nil }) {
            let given: [(Bool, OptionName)] = [
                (unlocking.unlock, .unlock), (skipLocked, .skipLocked), (passcode != nil, .passcode),
            ]
            for (isGiven, option) in given where isGiven { throw UsageProblem.needsDesktop(option) }
        }
        try requireOneInput(archives.archives, [passcode])
    }

    /// Opens the desktop keyring, or another program's file; nil for an archive or an unknown file.
    private func openStore(_ name: String, _ session: Session) throws -> OpenStore? {
        if let store = try StoreChoice.prefixed(name) {
            try refuseArchiveOptions()
            var options = StoreOptions(passcode, unlocking)
            options.access.file = foreign.access
            options.access.skipsLocked = skipLocked
            options.use = .listing
            return try store.open(options, in: session)
        }
        guard let reading = try foreignReading(name, session) else { return nil }
        try refuseArchiveOptions()
        ImportText(path: name, reading: reading, use: .source, session: session).warnOfRefused()
        return OpenStore(FileItems(reading.contents, identity: name), .ofFile(reading, path: name))
    }

    /// Reads another program's file; nil for an archive or an unknown file.
    private func foreignReading(_ path: String, _ session: Session) throws -> ForeignReading? {
        try foreign.access.check(with: path)
        session.subject.file = path
        let reader = ForeignReader(path, foreign.access, in: session.context)
        if foreign.access.isGiven { return try reader.read() }
        guard let input = try reader.inputUnlessArchive() else { return nil }
        do {
            // Before a password is asked for: what was given may be meant as one.
            return try reader.read(input) { _ in try refuseArchiveOptions() }
        } catch ForeignFailure.empty, ForeignFailure.unknownFormat {
            return nil
        } catch ForeignFailure.own(let file) where file != .archive {
            throw ArchivePlaceProblem.ownFile(path: path, file)
        }
    }

    /// Refuses options that do not apply to another program's file.
    private func refuseArchiveOptions() throws(UsageProblem) {
        if archives.opening.passphrase != nil {
            throw UsageProblem(
                "'\(OptionName.passphrase.spelling)' is for archives, and this is not one",
                hint: "'\(OptionName.password.spelling) SOURCE' gives the password of a file of another program")
        }
        let given: [(Bool, OptionName)] = [
            (html != nil, .html), (archives.outside, .outside), (staysBehind, .staysBehind),
            (forDevice != nil, .forDevice),
            (!archives.opening.identity.isEmpty, .identity),
        ]
        for (isGiven, option) in given where isGiven {
            throw UsageProblem(
                "'\(option.spelling)' is for archives, and this is not one", hint: "leave out '\(option.spelling)'")
        }
    }

    /// Shows what needs no key, after verifying it.
    private func printOutside(_ named: NamedArchive, _ archive: String, _ isFirst: Bool, _ session: Session) throws {
        let proven = try named.proveOutside(local: LocalDevice(session.machine).identity())
        let outline = proven.outline
        let unseen = outline.header.mode == .unencrypted || archives.outside ? ArchiveOutline.inside : outline.notSeen
        try session.result(
            [
                "archive": outline.json(archive), "verified": false, "outsideVerified": true,
                "origin": proven.origin.json,
            ],
            (isFirst ? [] : ["\n"])
                + session.prose(
                    outline.lines(archive, session.calendar)
                        + ["origin      \(proven.origin.words)\n", "not seen    \(unseen)\n"]))
    }
}

extension JudgedDevice {
    /// Parses `--for-device`; nil means this device or, with `--stays-behind`, another one.
    init(_ given: String?, staysBehind: Bool) throws(UsageProblem) {
        guard let given else {
            self = staysBehind ? .other : .here
            return
        }
        if given == "other" {
            self = .other
        } else if let id = DeviceID(given) {
            self = .device(id)
        } else {
            throw .deviceID
        }
    }
}

extension Session {
    /// True if an archive of this device has one key, and that is the one of this device for files.
    ///
    /// - Throws: `ArchiveFailure`, and errors of reading the device key.
    func opensHereAlone(_ proven: ProvenArchive, _ file: ArchiveFile, _ outline: ArchiveOutline) throws -> Bool {
        guard proven.isFromThisDevice, file.header.mode == .encrypted, !outline.hasPassphrase,
            outline.secretsRecipients.count == 1
        else { return false }
        return try file.prove().hasSecrets(for: [machine.deviceFileIdentity()])
    }
}
