internal import ArgumentParser
internal import KCConsole
internal import KCDeviceIdentity
internal import KCLocalKeychains
internal import KCRecoveryKits
internal import KCReportText
internal import KCStoreTasks
internal import KCTerminal

/// `kcbackup device adopt`: the user says what this machine is, where its machine ID does not.
struct DeviceAdoptCommand: Verb {
    static let mainOptions: [OptionName] = [.keepKey, .newKey, .heldBy]

    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Say whether this is still the device of its key, or another one.",
        discussion: """
            After a home folder was copied, a system was reinstalled or a disk was moved, nothing opens until you have \
            said which it was. What only the old key opens is listed, and you are asked; in scripts, one of the \
            options is the answer. Two devices must not share a key. An old key is kept beside the new one and never \
            deleted. A new key is kept where the old one was, in a file or the TPM of this machine, unless '--held-by' \
            says otherwise.

            EXAMPLES:
              kcbackup device adopt
              kcbackup device adopt --keep-key
            """)

    @Flag(
        name: OptionName.keepKey.name,
        help: "It is still that device: a reinstalled system, or its disk in a new machine.")
    var keepKey = false

    @Flag(
        name: OptionName.newKey.name,
        help: "It is another device: a copied home folder, and the old machine goes on.")
    var newKey = false

    @Option(
        name: OptionName.heldBy.name,
        help: ArgumentHelp("Who holds the new key: file or tpm.", valueName: "holder"))
    var heldBy: KeyHolder?

    @OptionGroup
    var style: StyleOptions

    func run(in session: Session) throws -> ExitStatus {
        if keepKey, newKey { throw UsageProblem.together(.keepKey, .newKey) }
        if keepKey, heldBy != nil { throw UsageProblem.together(.keepKey, .heldBy) }
        let device = LocalDevice(session.machine)
        let provider = device.provider
        let keychains = try LocalKeychain.names(in: session.machine.dataFolder)
        guard try provider.holdsKey else {
            // A device that never had a key gets one with its first keychain.
            let isAsked = !keepKey && !newKey && session.world.terminal.isAttended
            if keychains.isEmpty || !newKey && !isAsked { _ = try device.status() }
            for name in keychains { session.warn("keychain \(quoted(name)) will not open with a new key") }
            try KeyHoldings(in: session).warn(session)
            if isAsked { session.message("'kcbackup device import FILE' brings the old key back, from a copy of it\n") }
            try session.confirm(
                "The key of this device is gone. Make a new one?", isGiven: newKey, flag: .newKey)
            return try finish(
                try provider.create(in: (heldBy ?? .file).new(in: session)), isNew: true, device, in: session)
        }
        let status = try provider.status()
        guard try keepsKey(of: status, keychains, in: session) else {
            if newKey {
                for name in keychains { session.warn("keychain \(quoted(name)) will not open with the new key") }
                session.warn(
                    "unencrypted archives and ThisDeviceOnly items made with the old key will not open with the new one"
                )
                try KeyHoldings(in: session).warn(session)
            }
            let renewal = try provider.renew(in: (heldBy ?? status.holding.holder).new(in: session))
            session.note("the key of device \(renewal.retired) is kept as \(quoted(renewal.retiredPath))")
            if try RecoveryKits.exist(besideKeyAt: device.keyPath, of: renewal.retired) {
                session.warn(
                    "no backups are made for the recovery kits of the old device: 'kcbackup recovery make' makes a new kit"
                )
            }
            return try finish(renewal.device, isNew: true, device, in: session)
        }
        if heldBy != nil { throw UsageProblem.together(.keepKey, .heldBy) }
        return try finish(try provider.adopt(), isNew: false, device, in: session)
    }

    /// Asks whether this machine keeps its key, unless an option says so.
    ///
    /// - Throws: `Refusal`, `TerminalFailure`.
    private func keepsKey(of status: DeviceKeyStatus, _ keychains: [String], in session: Session) throws -> Bool {
        if keepKey || newKey { return keepKey }
        let terminal = session.world.terminal
        guard terminal.isAttended else {
            throw Refusal(
                .refused,
                "whether this is still device \(status.device) needs an answer, and there is no terminal to ask on",
                hint: "'\(OptionName.keepKey.spelling)' if it is (a reinstalled system, a disk in a new machine)",
                "'\(OptionName.newKey.spelling)' if it is another one (a copied home folder)")
        }
        let place =
            switch status.machine {
            case .same: "on this machine"
            case .different: "on another machine"
            case .unknown: "on a machine that is not known"
            }
        let held = keychains.map { "keychain \(quoted($0))" } + (try KeyHoldings(in: session).lines)
        let lines =
            ["the key of device \(status.device) was made \(place); nothing else opens:"]
            + held.map { "  - " + $0 } + [
                "1  this is still that device, a reinstalled system or its disk in a new machine: it keeps the key",
                "2  this is another device, a copied home folder: it gets a new key, and the old one is kept in a file",
            ]
        for line in lines { session.message(line + "\n") }
        while true {
            switch try terminal.readAnswer("Which is it? [1/2] ") {
            case "1": return true
            case "2": return false
            case "": throw Refusal.declined
            default: session.message("type 1 or 2, or nothing to stop\n")
            }
        }
    }

    private func finish(
        _ key: DeviceKey, isNew: Bool, _ device: LocalDevice, in session: Session
    ) throws -> ExitStatus {
        session.done = "this device is \(key.id) \(isNew ? "now" : "as before")"
        try printDevice(key, device, in: session)
        return .ok
    }
}
