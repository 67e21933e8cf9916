internal import KCLocalKeychains
internal import ArgumentParser
internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCReportText

/// `kcbackup device`: shows this device, and manages trusted ones.
struct DeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Show this device, and manage the devices whose archives you trust.",
        subcommands: [
            DeviceShowCommand.self, DeviceListCommand.self, DeviceTrustCommand.self, DeviceUntrustCommand.self,
            DeviceAdoptCommand.self, DeviceExportCommand.self, DeviceImportCommand.self,
        ])
}

/// `kcbackup device show`.
struct DeviceShowCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the ID of this device, and the line by which ssh-keygen recognises its signatures.",
        discussion: """
            EXAMPLES:
              kcbackup device show
              kcbackup device show --json | jq -r .device.signer > allowed_signers
            """)

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let device = LocalDevice(session.world)
        let status = try device.status()
        // A key from another machine identifies its device, but cannot be used until the user has said what this is.
        let key = status.machine == .different ? nil : try device.key()
        try printDevice(status.device, key, status.machine, device.provider.location, in: session)
        if status.machine == .different {
            throw DeviceKeyFailure.otherMachine(path: device.provider.location, device: status.device)
        }
        return .ok
    }
}

/// Prints the facts about this device.
func printDevice(
    _ id: DeviceID, _ key: DeviceKey?, _ machine: MachineMatch, _ path: String, in session: Session
) throws {
    // With --json, a run prints one object; if there is an error, that object is the error.
    if key == nil, session.style.isJSON { return }
    let words =
        switch machine {
        case .same: "same"
        case .different: "different"
        case .unknown: "unknown"
        }
    try session.result(
        [
            "device": .members([
                ("id", .text(id.description)), ("machine", .text(words)), ("path", .text(path)),
                ("signer", key.map { .text($0.allowedSignersLine) }),
            ])
        ],
        [
            "device   \(id)\n", "machine  \(machine == .same ? "the one that the key was made on" : words)\n",
            "key      \(displayedPath(path))\n",
        ] + (key.map { ["signer   \($0.allowedSignersLine)\n"] } ?? []))
}
