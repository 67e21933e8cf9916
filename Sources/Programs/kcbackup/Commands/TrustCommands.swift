internal import ArgumentParser
internal import KCBackupArchive
internal import KCBackupCatalogue
internal import KCBackupEngine
internal import KCBackupTasks
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup device list`.
struct DeviceListCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the devices whose archives you trust.",
        discussion: """
            EXAMPLES:
              kcbackup device list
            """)

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let device = LocalDevice(session.machine)
        try printDevices(device.trusted(by: device.key()).list(), in: session)
        return .ok
    }
}

/// `kcbackup device trust`.
struct DeviceTrustCommand: Verb {
    static let mainOptions: [OptionName] = [.yes]

    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Trust the archives of a device from now on, or give it another name.",
        discussion: """
            Run 'kcbackup device show' on the other device, and compare its ID yourself. A mistyped ID cannot be \
            detected: it belongs to no device. Naming an archive of the device saves the typing; since anyone can have \
            made it, its ID is shown and you are asked.

            EXAMPLES:
              kcbackup device trust laptop.kcb "old laptop"
              kcbackup device trust KC-ABCD-EFGH-IJKL-MNOP-QRST "old laptop"
            """)

    @Argument(
        help: ArgumentHelp(
            "The device, as its own 'kcbackup device show' prints it, or an archive that it made.", valueName: "device"),
        completion: .file(extensions: ["kcb"]))
    var device: String

    @Argument(help: "A name for it.")
    var name = "unnamed"

    @Flag(name: OptionName.yes.name, help: "Do not ask whether the ID is the right one.")
    var yes = false

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let local = LocalDevice(session.machine)
        let typed = DeviceID(device)
        let id = try typed ?? signer(of: device, local, session)
        let trusted = local.trusted(by: try local.key())
        try trusted.trust(id, name: name)
        session.noteDone("archives of device \(id) are trusted")
        if typed != nil {
            session.note("a mistyped ID cannot be noticed: 'kcbackup device trust ARCHIVE' reads it from an archive")
        }
        if style.json { try printDevices(trusted.list(), in: session) }
        return .ok
    }
}

extension DeviceTrustCommand {
    /// Returns the device that signed an archive, after the user has confirmed it.
    ///
    /// - Throws: `UsageProblem.deviceOrArchive` if the argument is neither an ID nor a file name; `ArchiveFailure`, `Refusal`.
    private func signer(of archive: String, _ local: LocalDevice, _ session: Session) throws -> DeviceID {
        let isName =
            archive == InputFile.standardInputName || archive.exact.contains("/") || archive.exact.hasSuffix(".kcb")
        guard try isName || !archive.isEmpty && Path.exists(session.machine.resolve(archive)) else {
            throw UsageProblem.deviceOrArchive
        }
        session.subject.file = archive
        let found = try ArchiveOpener(in: session.context).find(archive)
        let outside = try found.archive.proveOutside(local: local.identity())
        let id = outside.outline.header.device
        try session.confirm(
            "Device \(id) signed \(quoted(found.path)). Does 'kcbackup device show' print this ID there?",
            isGiven: yes)
        return id
    }
}

/// `kcbackup device untrust`.
struct DeviceUntrustCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "untrust",
        abstract: "Stop trusting the archives of a device.",
        discussion: """
            EXAMPLES:
              kcbackup device untrust KC-ABCD-EFGH-IJKL-MNOP-QRST
            """)

    @Argument(
        help: ArgumentHelp("The device, as 'kcbackup device list' prints it.", valueName: "device-id"),
        completion: KnownNames.trustedDevices)
    var device: String

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        guard let id = DeviceID(device) else { throw UsageProblem.deviceID }
        let local = LocalDevice(session.machine)
        let trusted = local.trusted(by: try local.key())
        guard try trusted.untrust(id) else {
            throw Refusal(
                .notFound, "device \(id) is not trusted", hint: "'kcbackup device list' shows the devices that are")
        }
        session.noteDone("archives of device \(id) are no longer trusted")
        if style.json { try printDevices(trusted.list(), in: session) }
        return .ok
    }
}

private func printDevices(_ devices: [DeviceID: String], in session: Session) throws {
    let sorted = devices.sorted { $0.key.description < $1.key.description }
    var table = Table([Table.Column(title: "DEVICE"), Table.Column(title: "NAME", least: 8)])
    for (id, name) in sorted { table.append([id.description, name]) }
    try session.result(
        ["devices": .list(sorted.map { ["device": .text($0.key.description), "name": .text($0.value)] })],
        table.isEmpty ? [] : table.lines(width: session.tableWidth))
}
