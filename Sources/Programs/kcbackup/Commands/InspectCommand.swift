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
            room for are left out; --json prints everything.

            EXAMPLES:
              kcbackup inspect laptop.kcb
              kcbackup inspect laptop.kcb --passphrase tty
              kcbackup inspect laptop.kcb -i inspect-key.txt --service mail.example.com
              kcbackup inspect laptop.kcb -i inspect-key.txt --for-device KC-… --json
            """)

    @OptionGroup
    var archive: ArchiveOptions

    @OptionGroup
    var filter: InspectFilter

    @Option(
        name: OptionName.forDevice.name,
        help: ArgumentHelp("Judge what would restore on this device. (default: the one you are on)", valueName: "id"))
    var forDevice: String?

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let judged = try forDevice.map { text throws(UsageProblem) in
            guard let id = DeviceID(text) else { throw .deviceID }
            return id
        }
        let file = try archive.open(in: session)
        let outline = try ArchiveOutline(file)
        guard file.header.mode == .unencrypted || archive.hasKey else {
            try session.result(
                ["archive": outline.json(archive.archive), "verified": false],
                // Printed with the facts, wherever they go: they may be forged.
                outline.lines(archive.archive) + [
                    "origin      not verified: this is what the archive says of itself; a key shows the items\n"
                ])
            return .ok
        }
        let proven = try archive.prove(file, in: session)
        let isSameDevice = judged.map { $0 == file.header.device } ?? proven.isFromThisDevice
        let listing = InspectListing(
            outline: outline, path: archive.archive, proven: proven, filter: filter, isSameDevice: isSameDevice,
            session: session)
        try listing.print()
        return .ok
    }
}

/// Selects items of an archive: all conditions must hold.
struct InspectFilter: ParsableArguments {
    @Option(
        name: OptionName.class.name,
        help: ArgumentHelp("The class: genp, inet, cert or keys.", valueName: "class"))
    var itemClass: ItemClass?

    @Option(name: OptionName.service.name, help: "The service, or the server of internet passwords.")
    var service: String?

    @Option(name: OptionName.account.name, help: "The account.")
    var account: String?

    /// True if `item` is selected.
    func matches(_ item: Item) -> Bool {
        if let itemClass, item.itemClass != itemClass { return false }
        if let service, item.attributes.text(.svce) != service, item.attributes.text(.srvr) != service { return false }
        if let account, item.attributes.text(.acct) != account { return false }
        return true
    }
}
