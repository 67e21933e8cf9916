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
            DeviceAdoptCommand.self, DeviceRenewCommand.self, DeviceExportCommand.self, DeviceImportCommand.self,
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
        // A key from another machine identifies its device, but cannot be used until the user has adopted or renewed
        // it.
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

/// `kcbackup device adopt`.
struct DeviceAdoptCommand: Verb {
    static let mainOptions: [OptionName] = [.yes]

    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Confirm that this is still the same device, though its machine ID has changed.",
        discussion: """
            Use this after reinstalling a system or moving its disk into a new machine. If the home folder was copied \
            and the old machine stays in use, run 'kcbackup device renew' instead: two devices must not share a key.

            EXAMPLES:
              kcbackup device adopt
            """)

    @Flag(name: OptionName.yes.name, help: "Do not ask.")
    var yes = false

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let device = LocalDevice(session.world)
        let id = try device.status().device
        try session.confirm("Is this still device \(id)?", isGiven: yes)
        let key = try device.provider.adopt()
        session.done = "this device is \(key.id) as before"
        try printDevice(key.id, key, .same, device.provider.location, in: session)
        return .ok
    }
}

/// `kcbackup device renew`.
struct DeviceRenewCommand: Verb {
    static let mainOptions: [OptionName] = [.yes]

    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Make this a device of its own, with a new key.",
        discussion: """
            Use this in a home folder that was copied to another machine. Keychains here, unencrypted archives and \
            ThisDeviceOnly items open only with the old key, which is kept beside the new one and never deleted.

            EXAMPLES:
              kcbackup device renew
            """)

    @Flag(name: OptionName.yes.name, help: "Do not ask.")
    var yes = false

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        let device = LocalDevice(session.world)
        let keychains = try LocalKeychain.names(in: session.world.dataFolder)
        for name in keychains { session.warn("keychain \(quoted(name)) will not open with the new key") }
        guard try device.provider.holdsKey else {
            // Without an old key, nothing is retired; a device that never had a key gets one with its first keychain.
            if keychains.isEmpty { throw DeviceKeyFailure.notFound(path: device.provider.location) }
            try session.confirm("Make a new key for this device?", isGiven: yes)
            let key = try device.provider.create()
            session.done = "this device is \(key.id) now"
            try printDevice(key.id, key, .same, device.provider.location, in: session)
            return .ok
        }
        session.warn(
            "unencrypted archives and ThisDeviceOnly items made with the old key will not open with the new one")
        try session.confirm("Give this device a new key and a new ID?", isGiven: yes)
        let renewal = try device.provider.renew()
        session.note("the key of device \(renewal.retired) is kept as \(quoted(renewal.retiredPath))")
        session.done = "this device is \(renewal.device.id) now"
        try printDevice(renewal.device.id, renewal.device, .same, device.provider.location, in: session)
        return .ok
    }
}
